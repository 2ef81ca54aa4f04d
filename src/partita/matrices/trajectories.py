"""Probability trajectories: similarity of random walks from two nodes."""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita._linalg import eigh
from partita._memory import require_memory
from partita._threads import run_blocks
from partita.ensemble import Ensemble, SoftEnsemble, as_ensemble
from partita.matrices._sparse_walks import SparseWalks
from partita.matrices.agreement import agreement_counts, coobserved_counts, expand_pairs
from partita.matrices.cluster_counts import incidence
from partita.matrices.soft import soft_coassociation

__all__ = [
    "MANY_NEIGHBORS",
    "cluster_trajectories",
    "soft_trajectory_similarity",
    "trajectory_similarity",
    "walk_similarity",
]

MANY_NEIGHBORS = 2000  # rows up to which ties often make dense walks faster than sparse ones
_ISOLATED = 1e-20  # similarity of a micro-cluster without neighbors to all others
_NO_EDGE = 1e-290  # smaller sums of edges have no finite inverse times a weight
_ROUNDING = 1e-13  # smaller similarities are rounding errors: the walks never meet
_SPREAD = 1e8  # of the squares of weights, beyond which eigenvectors lose the smallest ones
_DENSE = 500  # up to this order an eigendecomposition is fast for any graph
_FEW_STEPS = 9  # walks that mix fast need products for about so many steps
_DENSE_BYTES = 32  # per pair of nodes, of the dense walks
_BLOCK = 256  # rows per block


def walk_similarity(
    graph: Any, weights: NDArray[np.float64], n_steps: int, isolated: float
) -> NDArray[np.float64]:
    """Return the cosine of the trajectories of walks of 1 to T steps on a weighted graph.

    Parameters
    ----------
    graph : array or sparse matrix of shape (n, n), symmetric, non-negative
        Edges S. A walk steps from a to b with probability P_ab ∝ S_ab r_b. An array may be
        overwritten.
    weights : array of shape (n,)
        Weights r of the nodes.
    n_steps : int
        Largest number of steps T.
    isolated : float
        Similarity of a node without edges to all nodes, including itself.

    Returns
    -------
    array of shape (n, n)
        Cost O(n³), or O(n e T) for a sparse graph of e edges if that is less. If few eigenvectors
        describe the late steps, the early ones only count, and a cosine changes by at most 1e-10.
    """
    degree = np.asarray(graph @ weights).ravel()
    linked = np.flatnonzero(degree > _NO_EDGE)
    n = graph.shape[0]
    if len(linked) == 0:
        return np.full((n, n), isolated)
    if len(linked) < n:
        result = np.full((n, n), isolated)
        part = graph[linked][:, linked]
        result[np.ix_(linked, linked)] = walk_similarity(part, weights[linked], n_steps, isolated)
        return result
    squares = degree * weights
    is_uneven = squares.max() > _SPREAD * squares.min()
    if is_uneven:
        walks: SparseWalks | None = SparseWalks(sp.csr_matrix(graph), weights, n_steps)
    else:
        walks = _cheap_walks(graph, weights, n_steps) if sp.issparse(graph) else None
    if walks is not None:
        similarity = walks.similarity()
    else:
        dense = graph.toarray() if sp.issparse(graph) else graph
        similarity = _dense_similarity(dense, weights, n_steps)
    similarity[similarity < _ROUNDING] = 0.0
    return similarity


def _cheap_walks(
    graph: sp.csr_matrix, weights: NDArray[np.float64], n_steps: int
) -> SparseWalks | None:
    """Return walks by products with the edges if these cost less than an eigendecomposition."""
    if not _is_cheap(graph, min(n_steps, _FEW_STEPS)):
        return None
    walks = SparseWalks(graph, weights, n_steps)
    return walks if _is_cheap(graph, walks.n_early) else None


def _is_cheap(graph: sp.csr_matrix, n_products: int) -> bool:
    """Return whether so many products with the edges, each way, are fast.

    With many nodes they are done by compiled code.
    """
    n = graph.shape[0]
    most = n * n if n > MANY_NEIGHBORS else n * n / 2
    return bool(n > _DENSE and 2 * n_products * graph.nnz < most)


def _dense_similarity(
    graph: NDArray[np.float64], weights: NDArray[np.float64], n_steps: int
) -> NDArray[np.float64]:
    """Return the cosines of the trajectories on a graph without isolated nodes.

    G = Σ_t Pᵗ (Pᵗ)ᵀ holds the inner products of trajectories. With d = S r, a = sqrt(d r) and the
    symmetric M = D^-½ R^½ S R^½ D^-½ = Q Λ Qᵀ,

        G = diag(1/a) Q [(Qᵀ diag(a²) Q) ∘ g] Qᵀ diag(1/a),  g_ij = Σ_t (λ_i λ_j)ᵗ,

    which needs one eigendecomposition instead of T products. The memory of `graph` is reused.
    """
    n = len(graph)
    require_memory(_DENSE_BYTES * n**2, f"The walks between {n} nodes with many edges")
    degree = graph @ weights
    scale = np.sqrt(weights / degree)
    graph *= scale[:, None]
    graph *= scale
    # the transpose, equal to the graph, has the order of LAPACK: the vectors take its memory
    values, vectors = eigh(graph.T, driver="evd", overwrite=True)
    scaled = np.sqrt(degree * weights)[:, None] * vectors
    inner = scaled.T @ scaled
    for start in range(0, n, _BLOCK):
        rows = slice(start, start + _BLOCK)
        inner[rows] *= _power_sums(np.outer(values[rows], values), n_steps)
    product = np.matmul(vectors, inner, out=scaled)
    # half of the symmetric result, mirrored: exactly symmetric, as agglomeration requires
    for start in range(0, n, _BLOCK):
        stop = min(start + _BLOCK, n)
        np.matmul(product[start:stop], vectors[:stop].T, out=inner[start:stop, :stop])
        inner[:start, start:stop] = inner[start:stop, :start].T
        square = inner[start:stop, start:stop]
        square[:] = (square + square.T) / 2.0
    length = np.sqrt(np.diag(inner))  # the factors 1/a of G cancel in a cosine
    for start in range(0, n, _BLOCK):
        rows = slice(start, start + _BLOCK)
        inner[rows] /= np.outer(length[rows], length)
    return inner


def _power_sums(x: NDArray[np.float64], n_terms: int) -> NDArray[np.float64]:
    """Return x + x² + ... for every entry, by Horner's rule: x(1 + x(1 + ...))."""
    total = x.copy()
    for _ in range(n_terms - 1):
        total += 1.0
        total *= x
    return total


def elite_graph(core: Ensemble, n_neighbors: int) -> sp.csr_matrix:
    """Return the co-association of each row with its elite neighbors, sparse and symmetric.

    A row keeps the `n_neighbors` largest entries, ties included, of the co-association with the
    other rows.
    """
    n = core.n_rows
    dtype = np.uint16 if core.n_partitions <= np.iinfo(np.uint16).max else np.uint32
    counts = agreement_counts(core, dtype)
    n_both = coobserved_counts(core, dtype) if core.n_missing else None

    def coassociation(start: int, stop: int) -> NDArray[np.float64]:
        block = counts[start:stop].astype(np.float64)
        block /= core.n_partitions if n_both is None else np.maximum(n_both[start:stop], 1)
        return block

    return _strongest_edges(coassociation, n, n_neighbors)


def _strongest_edges(
    similarity: Callable[[int, int], NDArray[np.float64]], n: int, n_neighbors: int
) -> sp.csr_matrix:
    """Return the largest entries of every row, from a function that returns a copy of some rows."""
    parts: list[Any] = [None] * -(-n // _BLOCK)

    def select(start: int, stop: int) -> None:
        block = similarity(start, stop)
        block[np.arange(stop - start), np.arange(start, stop)] = 0.0
        weakest = np.partition(block, n - n_neighbors, axis=1)[:, n - n_neighbors]
        block[block < weakest[:, None]] = 0.0
        parts[start // _BLOCK] = sp.csr_matrix(block)

    run_blocks(select, n, _BLOCK)
    graph = sp.vstack(parts, format="csr")
    return sp.csr_matrix(graph.maximum(graph.T))


def trajectory_similarity(
    partitions: Any,
    *,
    n_neighbors: int | None = None,
    n_steps: int | None = None,
    expand: bool = True,
) -> NDArray[np.float64]:
    """Return the probability trajectory similarity (PTS).

    Distinct rows ("micro-clusters") form a graph in which each keeps the edges to its elite
    neighbors, those with the largest co-association. The similarity of two rows is the cosine of
    the random walks that start at them.

    Parameters
    ----------
    partitions : array-like of shape (n_samples, n_partitions), data frame, list or Ensemble
        The partitions.
    n_neighbors : int, optional
        Number of elite neighbors. The default for n' distinct rows is min(floor(sqrt(n') / 2), 20),
        at least 1.
    n_steps : int, optional
        Length of the walks, with the same default.
    expand : bool, default=True
        Whether to return a row per sample instead of a row per row of `Ensemble.compress()`.

    Returns
    -------
    array of shape (n, n)
        Cost O(n'³) for n' distinct rows.

    References
    ----------
    D. Huang, J.-H. Lai, C.-D. Wang. Robust ensemble clustering using probability trajectories. IEEE
    TKDE 28(5), 2016. https://doi.org/10.1109/TKDE.2015.2503753

    Examples
    --------
    >>> import partita
    >>> similarity = partita.trajectory_similarity([[0, 0, 0, 1], [0, 0, 1, 1]])
    >>> similarity.shape
    (4, 4)
    """
    core = as_ensemble(partitions).compress()
    graph, n_steps = _walk_graph(core, n_neighbors, n_steps)
    require_memory(8 * core.n_rows**2, f"The {core.n_rows} x {core.n_rows} similarity matrix")
    similarity = walk_similarity(graph, core.weights, n_steps, _ISOLATED)
    return expand_pairs(similarity, core) if expand else similarity


def soft_trajectory_similarity(
    soft: SoftEnsemble, *, n_neighbors: int | None = None, n_steps: int | None = None
) -> NDArray[np.float64]:
    """Return the trajectory similarity of distinct rows of soft partitions.

    The elite neighbors are those with the largest expected co-association. Parameters as in
    `trajectory_similarity`.
    """
    n = soft.n_rows
    n_neighbors, n_steps = _lengths(n, n_neighbors, n_steps)
    expected = soft_coassociation(soft)
    graph = _strongest_edges(lambda a, b: expected[a:b].copy(), n, n_neighbors)
    return walk_similarity(graph, soft.weights, n_steps, _ISOLATED)


def cluster_trajectories(
    core: Ensemble, *, n_neighbors: int | None = None, n_steps: int | None = None
) -> NDArray[np.float64]:
    """Return the mean trajectory similarity of every row to the rows of every base cluster.

    Parameters
    ----------
    core : Ensemble
        Distinct rows.
    n_neighbors, n_steps : int, optional
        As in `trajectory_similarity`.

    Returns
    -------
    array of shape (n_rows, n_base_clusters)
        Every row counts as one. The similarity matrix is formed only where that costs less.
    """
    graph, n_steps = _walk_graph(core, n_neighbors, n_steps)
    B = incidence(core)
    size = np.asarray(B.sum(axis=0)).ravel()
    linked = np.flatnonzero(np.diff(graph.indptr))
    walks = None
    # Lengths of the walks cost half of all similarities; the means cost two products per cluster.
    if 2 * B.shape[1] <= B.shape[0]:
        walks = _cheap_walks(graph[linked][:, linked], core.weights[linked], n_steps)
    if walks is None:
        similarity = walk_similarity(graph, core.weights, n_steps, _ISOLATED)
        return np.asarray(B.T @ similarity).T / size  # the similarity is symmetric
    n_isolated = size - np.asarray(B[linked].sum(axis=0)).ravel()
    sums = np.tile(_ISOLATED * size, (core.n_rows, 1))
    sums[linked] = walks.similarity_sums(B[linked]) + _ISOLATED * n_isolated
    return sums / size


def _walk_graph(
    core: Ensemble, n_neighbors: int | None, n_steps: int | None
) -> tuple[sp.csr_matrix, int]:
    """Return the graph of elite neighbors and the length of the walks."""
    n_neighbors, n_steps = _lengths(core.n_rows, n_neighbors, n_steps)
    return elite_graph(core, n_neighbors), n_steps


def _lengths(n: int, n_neighbors: int | None, n_steps: int | None) -> tuple[int, int]:
    """Return the number of neighbors and of steps, with their defaults for n rows."""
    default = max(1, min(isqrt(n // 4) if n >= 4 else 1, 20))
    n_neighbors = default if n_neighbors is None else n_neighbors
    n_steps = default if n_steps is None else n_steps
    if not 1 <= n_neighbors <= n or n_steps < 1:
        raise ValueError(
            f"n_neighbors must be in 1..{n} and n_steps positive, got {n_neighbors} and {n_steps}."
        )
    return n_neighbors, n_steps
