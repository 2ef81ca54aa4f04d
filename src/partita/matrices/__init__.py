"""Matrices of an ensemble: relations of pairs of samples, or of pairs of base clusters.

Every function takes partitions in any form: a table of labels, a data frame, a list of label
vectors, an `Ensemble` or a `LabelStore`. Matrices over samples are computed on distinct rows. With
`expand=True` the result has a row per sample, otherwise a row per row of `Ensemble.compress()`.
"""

from partita.matrices._cluster_links import cluster_links
from partita.matrices._crowd_weights import (
    connected_triples,
    crowd_agreement,
    crowd_weighted_coassociation,
)
from partita.matrices._incomplete import incomplete_coassociation
from partita.matrices._links import link_similarity, refined_association
from partita.matrices._locally_weighted import cluster_certainty, locally_weighted_coassociation
from partita.matrices._propagation import (
    cluster_jaccard,
    cluster_similarity,
    enhanced_coassociation,
)
from partita.matrices.agreement import agreement_counts, coassociation
from partita.matrices.chance import corrected_certainty
from partita.matrices.cluster_counts import (
    cluster_overlaps,
    cluster_sizes,
    contingency,
    incidence,
)
from partita.matrices.trajectories import trajectory_similarity

__all__ = [
    "agreement_counts",
    "cluster_certainty",
    "cluster_jaccard",
    "cluster_links",
    "cluster_overlaps",
    "cluster_similarity",
    "cluster_sizes",
    "coassociation",
    "connected_triples",
    "contingency",
    "corrected_certainty",
    "crowd_agreement",
    "crowd_weighted_coassociation",
    "enhanced_coassociation",
    "incidence",
    "incomplete_coassociation",
    "link_similarity",
    "locally_weighted_coassociation",
    "refined_association",
    "trajectory_similarity",
]
