"""Consensus methods, one file each."""

from partita.consensus._learned_matrix import LearnedMatrixConsensus
from partita.consensus.base import BaseConsensus, MethodInfo, RowsSolution, Size, Solution
from partita.consensus.bce import BCE
from partita.consensus.ccc import CCC
from partita.consensus.ccgp import CCGP
from partita.consensus.cspa import CSPA
from partita.consensus.drec import DREC
from partita.consensus.eac import EAC
from partita.consensus.eccms import ECCMS
from partita.consensus.ecmc import ECMC
from partita.consensus.ecpcs import ECPCS
from partita.consensus.gcc import GCC
from partita.consensus.gpmgla import GPMGLA
from partita.consensus.gwca import GWCA
from partita.consensus.hbgf import HBGF
from partita.consensus.hgpa import HGPA
from partita.consensus.kc import KC
from partita.consensus.kcc import KCC
from partita.consensus.lce import LCE
from partita.consensus.lwea import LWEA
from partita.consensus.lwgp import LWGP
from partita.consensus.mcla import MCLA
from partita.consensus.mec import MEC
from partita.consensus.medianpartition import MedianPartition
from partita.consensus.nmfc import NMFC
from partita.consensus.nrsec import NRSEC
from partita.consensus.pta import PTA
from partita.consensus.ptgp import PTGP
from partita.consensus.rce import RCE
from partita.consensus.rmsc import RMSC
from partita.consensus.rsec import RSEC
from partita.consensus.sec import SEC
from partita.consensus.spce import SPCE
from partita.consensus.trce import TRCE
from partita.consensus.voting import Voting
from partita.consensus.weac import WEAC

__all__ = [
    "BCE",
    "CCC",
    "CCGP",
    "CSPA",
    "DREC",
    "EAC",
    "ECCMS",
    "ECMC",
    "ECPCS",
    "GCC",
    "GPMGLA",
    "GWCA",
    "HBGF",
    "HGPA",
    "KC",
    "KCC",
    "LCE",
    "LWEA",
    "LWGP",
    "MCLA",
    "MEC",
    "NMFC",
    "NRSEC",
    "PTA",
    "PTGP",
    "RCE",
    "RMSC",
    "RSEC",
    "SEC",
    "SPCE",
    "TRCE",
    "WEAC",
    "BaseConsensus",
    "LearnedMatrixConsensus",
    "MedianPartition",
    "MethodInfo",
    "RowsSolution",
    "Size",
    "Solution",
    "Voting",
]
