"""How far to trust a consensus: its samples, its clusters, the partitions, and the whole."""

from partita.diagnostics._analysis import confidence_and_margin, diagnose, membership
from partita.diagnostics._diagnosis import Diagnosis
from partita.diagnostics._keywords import cluster_keywords

__all__ = ["Diagnosis", "cluster_keywords", "confidence_and_margin", "diagnose", "membership"]
