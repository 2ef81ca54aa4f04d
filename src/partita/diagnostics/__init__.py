"""How far to trust a consensus: its samples, its clusters, the partitions, and the whole."""

from partita.diagnostics._analysis import confidence_and_margin, diagnose, membership
from partita.diagnostics._diagnosis import Diagnosis
from partita.diagnostics._keywords import cluster_keywords
from partita.diagnostics._profiles import ClusterProfiles, cluster_profiles
from partita.diagnostics._repeatability import repeatability

__all__ = [
    "ClusterProfiles",
    "Diagnosis",
    "cluster_keywords",
    "cluster_profiles",
    "confidence_and_margin",
    "diagnose",
    "membership",
    "repeatability",
]
