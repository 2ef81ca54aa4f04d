"""Consensus methods, one file each."""

from partita.consensus._base import BaseConsensus, LearnsMatrix, MethodInfo, Size, Solution
from partita.consensus.eac import EAC
from partita.consensus.lwea import LWEA
from partita.consensus.lwgp import LWGP
from partita.consensus.sec import SEC

__all__ = [
    "EAC",
    "LWEA",
    "LWGP",
    "SEC",
    "BaseConsensus",
    "LearnsMatrix",
    "MethodInfo",
    "Size",
    "Solution",
]
