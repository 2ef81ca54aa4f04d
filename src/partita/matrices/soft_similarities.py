"""Similarities of soft partitions that use the similarity of base clusters or of partitions."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita._memory import require_memory
from partita.ensemble import SoftEnsemble
from partita.matrices._cluster_links import links_of_jaccard
from partita.matrices._crowd_weights import triples_of_jaccard
from partita.matrices._propagation import (
    jaccard_of_overlaps,
    propagate,
    propagate_within_partitions,
    within_partitions,
)
from partita.matrices.partition_agreement import crowd_agreement_of_overlaps
from partita.matrices.soft import certainty_overlaps, soft_overlaps

__all__ = [
    "soft_cluster_similarity",
    "soft_connected_triples",
    "soft_crowd_agreement",
    "soft_crowd_weighted_coassociation",
    "soft_enhanced_coassociation",
    "soft_jaccard",
    "soft_link_similarity",
    "soft_refined_association",
]

Matrix = NDArray[np.float64]


def soft_jaccard(soft: SoftEnsemble) -> Matrix:
    """Return the Jaccard coefficients of soft base clusters.

    J_cd = N_cd / (|c| + |d| - N_cd), N_cd = Σ_x r(x) p_c(x) p_d(x), |c| = Σ_x r(x) p_c(x).

    Two clusters of one partition have coefficient 0, as with labels.
    """
    return jaccard_of_overlaps(certainty_overlaps(soft))


def soft_cluster_similarity(soft: SoftEnsemble, n_steps: int) -> Matrix:
    """Return `cluster_similarity` of soft base clusters."""
    return propagate(soft_jaccard(soft), n_steps)


def soft_enhanced_coassociation(soft: SoftEnsemble, n_steps: int = 20) -> Matrix:
    """Return the mean over partitions of Σ_cd p_c q_d z_cd for every pair of rows.

    z is `soft_cluster_similarity`, and 1 for a cluster and itself.
    """
    similarity = propagate_within_partitions(soft_jaccard(soft), n_steps, soft.offsets)
    return _mean_similarity(soft, similarity)


def soft_link_similarity(soft: SoftEnsemble, similarity: str, decay: float) -> Matrix:
    """Return the "cts" or "asrs" similarity of rows, as `link_similarity` for labels."""
    links = links_of_jaccard(soft_jaccard(soft), soft.offsets, similarity, decay)
    if similarity == "cts":
        return _mean_similarity(soft, within_partitions(links, soft.offsets))
    shares = soft.memberships / soft.observed.sum(axis=1)[:, None]
    return _symmetric(shares @ links @ shares.T)


def soft_refined_association(soft: SoftEnsemble, similarity: str, decay: float) -> Matrix:
    """Return the refined association of rows and clusters, as `refined_association` for labels."""
    links = links_of_jaccard(soft_jaccard(soft), soft.offsets, similarity, decay)
    refined = np.asarray(soft.memberships @ within_partitions(links, soft.offsets))
    for i, (start, stop) in enumerate(zip(soft.offsets, soft.offsets[1:], strict=False)):
        observed = soft.observed[:, i]
        if not observed.all():
            block, r = refined[:, start:stop], soft.weights[observed]
            block[~observed] = r @ block[observed] / max(r.sum(), np.finfo(float).tiny)
    return refined


def soft_crowd_agreement(soft: SoftEnsemble) -> NDArray[np.float64]:
    """Return `crowd_agreement`, with the joint probabilities of labels drawn by memberships."""
    return crowd_agreement_of_overlaps(soft_overlaps(soft), soft.offsets)


def soft_crowd_weighted_coassociation(soft: SoftEnsemble, beta: float) -> Matrix:
    """Return the expected co-association with partitions weighted by their agreement."""
    weights = soft_crowd_agreement(soft) ** beta
    table = soft.memberships * np.sqrt(np.repeat(weights, np.diff(soft.offsets)))
    matrix = table @ table.T
    observed = soft.observed * np.sqrt(weights)
    total = observed @ observed.T
    return np.asarray(np.divide(matrix, total, out=matrix, where=total > 0))


def soft_connected_triples(soft: SoftEnsemble, partition_weights: NDArray[np.float64]) -> Matrix:
    """Return `connected_triples` of soft base clusters."""
    return triples_of_jaccard(
        soft_jaccard(soft), np.repeat(partition_weights, np.diff(soft.offsets))
    )


def _mean_similarity(soft: SoftEnsemble, Z: sp.csr_matrix) -> Matrix:
    """Return P Z Pᵀ divided by the number of partitions that have both rows; 0 if none has."""
    n = soft.n_rows
    require_memory(24 * n * n, f"The {n} x {n} similarity matrix")
    matrix = _symmetric((soft.memberships @ Z) @ soft.memberships.T)
    observed = soft.observed.astype(np.float64)
    both = observed @ observed.T
    return np.asarray(np.divide(matrix, both, out=matrix, where=both > 0))


def _symmetric(matrix: Matrix) -> Matrix:
    """Return the mean of a matrix and its transpose: products have rounding errors."""
    return (matrix + matrix.T) / 2
