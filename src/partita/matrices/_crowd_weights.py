"""Agreement of each partition with the others, and matrices weighted by it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._memory import require_memory
from partita._threads import run_blocks
from partita.ensemble import as_ensemble
from partita.matrices._propagation import cluster_jaccard
from partita.matrices.agreement import (
    check_missing,
    coobserved_weights,
    expand_pairs,
    weighted_agreement,
)
from partita.matrices.partition_agreement import normalized_information, relative_means

__all__ = [
    "connected_triples",
    "crowd_agreement",
    "crowd_weighted_coassociation",
    "triples_of_jaccard",
]

_BLOCK = 32  # clusters per block
_OPERATIONS = 20  # elementary operations per label and partition


def crowd_agreement(partitions: Any) -> NDArray[np.float64]:
    """Return the normalized crowd agreement index (NCAI) of every partition.

    The index is the mean normalized mutual information of a partition with the others,
    I / max(H, H'), divided by the largest such mean; it is at most 1. Two partitions are compared
    on the samples that both label. A partition with a single cluster agrees with no other. All
    indices are 1 if no two partitions agree.

    Parameters
    ----------
    partitions : array-like of shape (n_samples, n_partitions), data frame, list or Ensemble
        The partitions.

    Returns
    -------
    array of shape (n_partitions,)
        Cost O(n' m²) for n' distinct rows.
    """
    ensemble = as_ensemble(partitions)
    m = ensemble.n_partitions
    columns = np.ascontiguousarray(ensemble.codes.T)
    agreement = np.zeros((m, m))
    count = _kernels.contingency.pair_table.at(_OPERATIONS * columns.size * m)

    def block(start: int, stop: int) -> None:
        for i in range(start, stop):
            for j in range(i):
                table = np.zeros((ensemble.n_clusters[i], ensemble.n_clusters[j]))
                count(columns[i], columns[j], ensemble.missing_code, ensemble.weights, table)
                agreement[i, j] = normalized_information(table)

    run_blocks(block, m, 1)
    return relative_means(agreement)


def crowd_weighted_coassociation(
    partitions: Any, *, beta: float = 2.0, missing: str = "pairwise", expand: bool = True
) -> NDArray[np.float64]:
    """Return the co-association with partitions weighted by their agreement with the others.

    WCA_pq = Σ_i w_i [partition i joins p and q] / Σ_i w_i with w = NCAI^beta.

    Parameters
    ----------
    partitions : array-like of shape (n_samples, n_partitions), data frame, list or Ensemble
        The partitions.
    beta : float, default=2.0
        Influence of the agreement on the weights; 0 gives plain co-association.
    missing : {"pairwise", "disagree"}, default="pairwise"
        Treatment of missing labels: divide by the weight of the partitions that label both samples
        (0 if there are none), or by the weight of all partitions.
    expand : bool, default=True
        Whether to return a row per sample instead of a row per row of `Ensemble.compress()`.

    Returns
    -------
    array of shape (n, n)
        Cost O(n' m²) for the weights and O(n'² m) for the matrix.

    References
    ----------
    D. Huang, J.-H. Lai, C.-D. Wang. Combining multiple clusterings via crowd agreement estimation
    and multi-granularity link analysis. Neurocomputing 170, 2015.
    https://doi.org/10.1016/j.neucom.2014.05.094

    Examples
    --------
    >>> import partita
    >>> partita.matrices.crowd_weighted_coassociation([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1]])[0]
    array([1., 1., 0., 0.])
    """
    check_missing(missing)
    core = as_ensemble(partitions).compress()
    weights = crowd_agreement(core) ** beta
    matrix = weighted_agreement(core, np.repeat(weights, core.n_clusters))
    if missing == "disagree" or not core.n_missing:
        matrix /= weights.sum()
    else:
        total = coobserved_weights(core, weights)
        np.divide(matrix, total, out=matrix, where=total > 0)
    return expand_pairs(matrix, core) if expand else matrix


def connected_triples(
    partitions: Any, partition_weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return source-aware connected triples (SACT), a similarity of base clusters.

    Entry (c, d) is Σ_k w_{p(k)} min(J_kc, J_kd) over the clusters k of all partitions p(k), with
    the Jaccard coefficients J, divided by the largest entry. The diagonal is 1.

    Parameters
    ----------
    partitions : array-like of shape (n_samples, n_partitions), data frame, list or Ensemble
        The partitions.
    partition_weights : array of shape (n_partitions,)
        Weights w of the partitions.

    Returns
    -------
    array of shape (n_base_clusters, n_base_clusters)
        Cost O(L³).
    """
    ensemble = as_ensemble(partitions)
    weights = np.repeat(partition_weights, ensemble.n_clusters)
    return triples_of_jaccard(cluster_jaccard(ensemble), weights)


def triples_of_jaccard(
    jaccard: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return `connected_triples` of clusters with these Jaccard coefficients and weights."""
    length = len(jaccard)
    require_memory(16 * length**2, f"The {length} x {length} table of connected triples")
    triples = np.empty_like(jaccard)
    kernel = _kernels.connected_triples.weigh_common.at(length**3)
    run_blocks(lambda start, stop: kernel(jaccard, weights, start, stop, triples), length, _BLOCK)
    triples /= triples.max()
    np.fill_diagonal(triples, 1.0)
    return triples
