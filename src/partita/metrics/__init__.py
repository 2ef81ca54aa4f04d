"""Agreement of a clustering with the truth or with an ensemble, and inside an ensemble.

Every measure is a function of a contingency table: n_kl samples in cluster k of one partition and
in cluster l of the other. The table is held by its non-zero cells, so that thousands of clusters
cost no more than the samples in them.
"""

from partita.metrics._element_centric import (
    element_centric_consistency,
    element_centric_similarity,
)
from partita.metrics._losses import (
    binder_loss,
    expected_loss,
    omari_loss,
    variation_of_information,
)
from partita.metrics._partitions import anmi, diversity, pairwise_agreement
from partita.metrics._truth import (
    accuracy,
    adjusted_rand,
    evaluate,
    nmi,
    pairwise_f_score,
    purity,
)

__all__ = [
    "accuracy",
    "adjusted_rand",
    "anmi",
    "binder_loss",
    "diversity",
    "element_centric_consistency",
    "element_centric_similarity",
    "evaluate",
    "expected_loss",
    "nmi",
    "omari_loss",
    "pairwise_agreement",
    "pairwise_f_score",
    "purity",
    "variation_of_information",
]
