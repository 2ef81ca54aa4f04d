"""Multi-view clustering: several tables of features of the same samples in, one clustering out."""

from partita.multiview._views import Views, read_views

__all__ = ["Views", "read_views"]
