"""Consensus methods, one file each."""

from partita.consensus._base import BaseConsensus, LearnsMatrix, MethodInfo, Size, Solution
from partita.consensus.ccc import CCC
from partita.consensus.drec import DREC
from partita.consensus.eac import EAC
from partita.consensus.eccms import ECCMS
from partita.consensus.ecpcs import ECPCS
from partita.consensus.gpmgla import GPMGLA
from partita.consensus.hbgf import HBGF
from partita.consensus.kc import KC
from partita.consensus.kcc import KCC
from partita.consensus.lwea import LWEA
from partita.consensus.lwgp import LWGP
from partita.consensus.nmfc import NMFC
from partita.consensus.nrsec import NRSEC
from partita.consensus.pta import PTA
from partita.consensus.ptgp import PTGP
from partita.consensus.rce import RCE
from partita.consensus.rsec import RSEC
from partita.consensus.sec import SEC
from partita.consensus.spce import SPCE
from partita.consensus.weac import WEAC

__all__ = [
    "CCC",
    "DREC",
    "EAC",
    "ECCMS",
    "ECPCS",
    "GPMGLA",
    "HBGF",
    "KC",
    "KCC",
    "LWEA",
    "LWGP",
    "NMFC",
    "NRSEC",
    "PTA",
    "PTGP",
    "RCE",
    "RSEC",
    "SEC",
    "SPCE",
    "WEAC",
    "BaseConsensus",
    "LearnsMatrix",
    "MethodInfo",
    "Size",
    "Solution",
]
