"""Probability trajectories: similarity of random walks from two nodes."""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._linalg import eigh
from partita.ensemble import as_ensemble
from partita.matrices.agreement import coassociation, expand_pairs

__all__ = ["trajectory_similarity", "walk_similarity"]

_ISOLATED = 1e-20  # similarity of a micro-cluster without neighbors to all others
_ROUNDING = 1e-13  # smaller similarities are rounding errors: the walks never meet


def walk_similarity(
    graph: NDArray[np.float64], weights: NDArray[np.float64], n_steps: int, isolated: float
) -> NDArray[np.float64]:
    """Return the cosine of the trajectories of walks of 1 to T steps on a weighted graph.

    A walk steps from a to b with probability P_ab ∝ S_ab r_b, and G = Σ_t Pᵗ (Pᵗ)ᵀ holds the inner
    products of trajectories. With d = S r, a = sqrt(d r) and the symmetric
    M = D^-½ R^½ S R^½ D^-½ = Q Λ Qᵀ,

        G = diag(1/a) Q [(Qᵀ diag(a²) Q) ∘ g] Qᵀ diag(1/a),  g_ij = Σ_t (λ_i λ_j)ᵗ,

    which needs one eigendecomposition instead of T products.

    Parameters
    ----------
    graph : array of shape (n, n), symmetric, non-negative
        Edges S.
    weights : array of shape (n,)
        Weights r of the nodes.
    n_steps : int
        Largest number of steps T.
    isolated : float
        Similarity of a node without edges to all nodes, including itself.
    """
    degree = graph @ weights
    linked = degree > 0
    result = np.full(graph.shape, isolated)
    if not linked.any():
        return result
    d, r = degree[linked], weights[linked]
    scale = np.sqrt(r / d)
    normalized = graph[np.ix_(linked, linked)]
    normalized *= scale[:, None]
    normalized *= scale
    values, vectors = eigh(normalized, overwrite=True)
    del normalized
    a = np.sqrt(d * r)
    inner = vectors.T @ ((a**2)[:, None] * vectors)
    inner *= _power_sums(np.outer(values, values), n_steps)
    inner = vectors @ inner @ vectors.T
    inner = inner + inner.T  # exactly symmetric, as agglomeration requires
    length = np.sqrt(np.diag(inner))  # the factors 1/a of G cancel in a cosine
    inner /= np.outer(length, length)
    inner[inner < _ROUNDING] = 0.0
    result[np.ix_(linked, linked)] = inner
    return result


def _power_sums(x: NDArray[np.float64], n_terms: int) -> NDArray[np.float64]:
    """Return x + x² + ... for every entry, by Horner's rule: x(1 + x(1 + ...))."""
    total = x.copy()
    for _ in range(n_terms - 1):
        total += 1.0
        total *= x
    return total


def elite_graph(similarity: NDArray[np.float64], n_neighbors: int) -> NDArray[np.float64]:
    """Keep the `n_neighbors` largest entries of each row, ties included; return it symmetric."""
    graph = similarity.copy()
    np.fill_diagonal(graph, 0.0)
    n = len(graph)
    kth = np.partition(graph, n - n_neighbors, axis=1)[:, n - n_neighbors]
    graph[graph < kth[:, None]] = 0.0
    return np.maximum(graph, graph.T)


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
    n = core.n_rows
    default = max(1, min(isqrt(n // 4) if n >= 4 else 1, 20))
    n_neighbors = default if n_neighbors is None else n_neighbors
    n_steps = default if n_steps is None else n_steps
    if not 1 <= n_neighbors <= n or n_steps < 1:
        raise ValueError(
            f"n_neighbors must be in 1..{n} and n_steps positive, got {n_neighbors} and {n_steps}."
        )
    graph = elite_graph(coassociation(core, expand=False), n_neighbors)
    similarity = walk_similarity(graph, core.weights, n_steps, _ISOLATED)
    return expand_pairs(similarity, core) if expand else similarity
