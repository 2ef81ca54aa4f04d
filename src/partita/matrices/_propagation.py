"""Similarity of base clusters, propagated by random walks, and the co-association it gives."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita._memory import require_memory
from partita._threads import run_blocks
from partita.ensemble import as_ensemble
from partita.matrices._mixing_walks import cosines_within_blocks
from partita.matrices.agreement import check_missing, divide_by_coobserved, expand_pairs
from partita.matrices.cluster_counts import cluster_overlaps, incidence
from partita.matrices.trajectories import walk_similarity

__all__ = [
    "add_similarities",
    "cluster_jaccard",
    "cluster_similarity",
    "enhanced_coassociation",
    "jaccard_of_overlaps",
    "propagate",
    "propagate_within_partitions",
    "within_partitions",
]

_BLOCK = 64  # rows per block; the similarities of their clusters stay in the cache


def cluster_jaccard(partitions: Any) -> NDArray[np.float64]:
    """Return the Jaccard coefficients |c ∩ c'| / |c ∪ c'| of base clusters.

    The diagonal is 1. Two clusters of one partition have coefficient 0. A sample with a missing
    label is in no cluster of that partition.

    Parameters
    ----------
    partitions : array-like of shape (n_samples, n_partitions), data frame, list or Ensemble
        The partitions.

    Returns
    -------
    array of shape (n_base_clusters, n_base_clusters)
    """
    return jaccard_of_overlaps(cluster_overlaps(partitions))


def jaccard_of_overlaps(shared: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide overlaps of clusters by their unions, in place; the diagonal has the sizes."""
    size = shared.diagonal().copy()

    def divide(start: int, stop: int) -> None:
        union = size[start:stop, None] + size
        union -= shared[start:stop]
        shared[start:stop] /= union

    run_blocks(divide, len(size), _BLOCK)  # the unions of all pairs would be a second table
    return shared


def cluster_similarity(partitions: Any, n_steps: int = 20) -> NDArray[np.float64]:
    """Return the cosine of the random walks that start at two base clusters, shape (L, L).

    A walk steps from a cluster to another in proportion to their Jaccard coefficient. A cluster
    that overlaps no other has similarity 0 to all clusters, including itself. Cost O(L³).

    Parameters
    ----------
    partitions : array-like of shape (n_samples, n_partitions), data frame, list or Ensemble
        The partitions.
    n_steps : int, default=20
        Walks of 1 to `n_steps` steps are compared.
    """
    return propagate(cluster_jaccard(partitions), n_steps)


def propagate(jaccard: NDArray[np.float64], n_steps: int) -> NDArray[np.float64]:
    """Return the cosine of walks between clusters with these Jaccard coefficients (overwritten)."""
    np.fill_diagonal(jaccard, 0.0)
    return walk_similarity(jaccard, np.ones(len(jaccard)), n_steps, 0.0)


def propagate_within_partitions(
    jaccard: NDArray[np.float64], n_steps: int, offsets: NDArray[np.int64]
) -> sp.csr_matrix:
    """Return `propagate` for clusters of one partition only, with 1 on the diagonal."""
    np.fill_diagonal(jaccard, 0.0)
    blocks = cosines_within_blocks(jaccard, n_steps, offsets)
    if blocks is None:
        similarity = walk_similarity(jaccard, np.ones(len(jaccard)), n_steps, 0.0)
        blocks = [similarity[start:stop, start:stop] for start, stop in pairwise(offsets)]
    for block in blocks:
        np.fill_diagonal(block, 1.0)
    return _on_the_diagonal(blocks)


def enhanced_coassociation(
    partitions: Any, *, n_steps: int = 20, missing: str = "pairwise", expand: bool = True
) -> NDArray[np.float64]:
    """Return a co-association in which samples can be similar without sharing a cluster.

    ECA_pq is the mean, over partitions, of the similarity between the clusters of p and q: 1 if
    they share a cluster, otherwise the `cluster_similarity` of the two clusters.

    Parameters
    ----------
    partitions : array-like of shape (n_samples, n_partitions), data frame, list or Ensemble
        The partitions.
    n_steps : int, default=20
        Length of the walks.
    missing : {"pairwise", "disagree"}, default="pairwise"
        Treatment of missing labels, as in `coassociation`.
    expand : bool, default=True
        Whether to return a row per sample instead of a row per row of `Ensemble.compress()`.

    Returns
    -------
    array of shape (n, n)
        Cost O(n' m² + L³) for the clusters' similarities and O(n'² m) for the matrix.

    References
    ----------
    D. Huang, C.-D. Wang, H. Peng, J. Lai, C.-K. Kwoh. Enhanced ensemble clustering via fast
    propagation of cluster-wise similarities. IEEE Transactions on Systems, Man, and Cybernetics:
    Systems 51(1), 2021. https://doi.org/10.1109/TSMC.2018.2876202

    Examples
    --------
    >>> import partita
    >>> partita.enhanced_coassociation([[0, 0, 1], [0, 1, 1]], n_steps=1).round(3)
    array([[1.   , 0.777, 0.555],
           [0.777, 1.   , 0.777],
           [0.555, 0.777, 1.   ]])
    """
    check_missing(missing)
    core = as_ensemble(partitions).compress()
    n = core.n_rows
    similarity = propagate_within_partitions(cluster_jaccard(core), n_steps, core.offsets)
    require_memory(8 * n * n, f"The {n} x {n} enhanced co-association matrix")
    matrix = add_similarities(incidence(core), similarity)
    divide_by_coobserved(matrix, core, missing)
    return expand_pairs(matrix, core) if expand else matrix


def within_partitions(similarity: NDArray[np.float64], offsets: NDArray[np.int64]) -> sp.csr_matrix:
    """Return a similarity of base clusters without the pairs of clusters of two partitions."""
    blocks = [similarity[start:stop, start:stop] for start, stop in pairwise(offsets)]
    return _on_the_diagonal(blocks)


def add_similarities(B: sp.csr_matrix, Z: Any) -> NDArray[np.float64]:
    """Return B Z Bᵀ, exactly symmetric: the sum of the similarities Z of the clusters of two rows.

    A row without a label adds nothing. Z is symmetric, so that one triangle is computed.
    """
    n = B.shape[0]
    matrix = np.empty((n, n))

    def fill(start: int, stop: int) -> None:
        columns = B[start:stop] @ Z
        columns = columns.toarray() if sp.issparse(columns) else columns
        part = B[start:] @ np.ascontiguousarray(columns.T)
        corner = part[: stop - start]
        corner[:] = np.tril(corner) + np.tril(corner, -1).T
        matrix[start:, start:stop] = part
        matrix[start:stop, stop:] = part[stop - start :].T

    run_blocks(fill, n, _BLOCK)
    return matrix


def _on_the_diagonal(blocks: Sequence[NDArray[np.float64]]) -> sp.csr_matrix:
    # of dense blocks only, SciPy would make a sparse array
    return sp.block_diag([sp.coo_matrix(block) for block in blocks], "csr")
