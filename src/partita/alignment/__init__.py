"""Match the clusters of one result to those of another, so that names persist."""

from partita.alignment._matching import Alignment, align_labels
from partita.alignment._tree import ClusterTree, cluster_tree

__all__ = ["Alignment", "ClusterTree", "align_labels", "cluster_tree"]
