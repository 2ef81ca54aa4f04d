"""Similarity of clusters, propagated by random walks, and what it says of pairs of samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._memory import require_memory
from partita._threads import run_blocks
from partita.ensemble import Ensemble, as_ensemble
from partita.matrices.agreement import divide_by_coobserved, expand_pairs
from partita.matrices.cluster_counts import cluster_overlaps
from partita.matrices.trajectories import walk_similarity

__all__ = ["cluster_jaccard", "cluster_similarity", "enhanced_coassociation"]

_BLOCK = 256  # rows per unit of work


def cluster_jaccard(ensemble: Ensemble) -> NDArray[np.float64]:
    """|c ∩ c'| / |c ∪ c'| for any two clusters, 1 on the diagonal, shape (L, L).

    Clusters of one partition have nothing in common. With missing labels a cluster holds the
    samples that its partition labels so.
    """
    shared = cluster_overlaps(ensemble)
    size = shared.diagonal().copy()
    union = size[:, None] + size
    union -= shared
    shared /= union
    return shared


def cluster_similarity(ensemble: Ensemble, n_steps: int = 20) -> NDArray[np.float64]:
    """Cosine between the random walks that start at two clusters, shape (L, L).

    The walker steps from a cluster to another in proportion to their Jaccard coefficient; walks of
    1..`n_steps` steps count. Clusters that no other cluster overlaps are similar to nothing, not
    even to themselves. O(L³).
    """
    graph = cluster_jaccard(ensemble)
    np.fill_diagonal(graph, 0.0)
    return walk_similarity(graph, np.ones(len(graph)), n_steps, 0.0)


def enhanced_coassociation(
    partitions: Any, *, n_steps: int = 20, missing: str = "pairwise", expand: bool = True
) -> NDArray[np.float64]:
    """Co-association in which two samples may be near without ever sharing a cluster.

    ECA_pq is the mean over partitions of the similarity between the clusters of p and q: 1 if they
    share a cluster, otherwise what random walks between overlapping clusters of all partitions say
    of the two.

    Parameters
    ----------
    partitions : array-like of shape (n_samples, n_partitions), data frame, list or Ensemble
    n_steps : int
        Length of the walks.
    missing : {"pairwise", "disagree"}
        As in `coassociation`.
    expand : bool
        A row per sample, or per row of `Ensemble.compress()`.

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
    core = as_ensemble(partitions).compress()
    n = core.n_rows
    similarity = cluster_similarity(core, n_steps)
    np.fill_diagonal(similarity, 1.0)
    require_memory(8 * n * n, f"The {n} x {n} enhanced co-association matrix")
    matrix = np.zeros((n, n))
    for i in range(core.n_partitions):
        _add_similarity_of_clusters(core, i, similarity, matrix)
    divide_by_coobserved(matrix, core, missing)
    return expand_pairs(matrix, core) if expand else matrix


def _add_similarity_of_clusters(
    core: Ensemble, i: int, similarity: NDArray[np.float64], matrix: NDArray[np.float64]
) -> None:
    """Add, for all pairs of rows, the similarity of their clusters in partition i."""
    inside = slice(core.offsets[i], core.offsets[i + 1])
    # one more cluster, similar to nothing, for rows without a label
    table = np.pad(similarity[inside, inside], (0, 1))
    code = np.where(core.observed[:, i], core.codes[:, i], len(table) - 1)

    def block(start: int, stop: int) -> None:
        matrix[start:stop] += table[code[start:stop]][:, code]

    run_blocks(block, core.n_rows, _BLOCK)
