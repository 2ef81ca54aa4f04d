"""Multi-view clustering: several tables of features of the same samples in, one clustering out."""

from partita.multiview._clustering import MultiViewClustering
from partita.multiview._views import Views, read_views

__all__ = ["MultiViewClustering", "Views", "read_views"]
