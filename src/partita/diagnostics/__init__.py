"""How far to trust a consensus: its samples, its clusters, the partitions, and the whole."""

from partita.diagnostics._analysis import confidence_and_margin, diagnose, membership
from partita.diagnostics._diagnosis import Diagnosis

__all__ = ["Diagnosis", "confidence_and_margin", "diagnose", "membership"]
