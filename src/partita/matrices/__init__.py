"""Matrices of an ensemble: what pairs of samples, or of clusters, have in common.

Every function takes labels in any form (or an `Ensemble`) and works on distinct rows. With
`expand=True` the result has a row per sample, otherwise one per row of `Ensemble.compress()`.
"""

from partita.matrices.agreement import agreement_counts, coassociation
from partita.matrices.cluster_counts import (
    cluster_overlaps,
    cluster_sizes,
    contingency,
    incidence,
)
from partita.matrices.crowd_weights import (
    connected_triples,
    crowd_agreement,
    crowd_weighted_coassociation,
)
from partita.matrices.incomplete import incomplete_coassociation
from partita.matrices.locally_weighted import cluster_certainty, locally_weighted_coassociation
from partita.matrices.propagation import (
    cluster_jaccard,
    cluster_similarity,
    enhanced_coassociation,
)
from partita.matrices.trajectories import trajectory_similarity

__all__ = [
    "agreement_counts",
    "cluster_certainty",
    "cluster_jaccard",
    "cluster_overlaps",
    "cluster_similarity",
    "cluster_sizes",
    "coassociation",
    "connected_triples",
    "contingency",
    "crowd_agreement",
    "crowd_weighted_coassociation",
    "enhanced_coassociation",
    "incidence",
    "incomplete_coassociation",
    "locally_weighted_coassociation",
    "trajectory_similarity",
]
