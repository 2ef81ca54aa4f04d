"""Multi-view clustering: several tables of features of the same samples in, one clustering out."""

from partita.multiview._clustering import MultiViewClustering
from partita.multiview._partitions import generate_partitions
from partita.multiview._scan import scan_k_views
from partita.multiview._views import Views, read_views
from partita.multiview.colnmf import ColNMF
from partita.multiview.conkm import ConKM
from partita.multiview.connmf import ConNMF
from partita.multiview.crsc import CRSC
from partita.multiview.multinmf import MultiNMF
from partita.multiview.pvc import PVC
from partita.multiview.rmsc import RMSC

__all__ = [
    "CRSC",
    "PVC",
    "RMSC",
    "ColNMF",
    "ConKM",
    "ConNMF",
    "MultiNMF",
    "MultiViewClustering",
    "Views",
    "generate_partitions",
    "read_views",
    "scan_k_views",
]
