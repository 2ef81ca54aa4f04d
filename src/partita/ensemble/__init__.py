"""Many partitions of the same samples, and their exact reduction to distinct rows."""

from partita.ensemble._ensemble import Ensemble, as_ensemble
from partita.ensemble._soft import SoftEnsemble, as_soft
from partita.ensemble.layout import LabelLayout

__all__ = ["Ensemble", "LabelLayout", "SoftEnsemble", "as_ensemble", "as_soft"]
