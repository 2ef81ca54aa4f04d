"""Probability trajectories: similarity of the random walks that start at two nodes."""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._linalg import eigh
from partita.ensemble import as_ensemble
from partita.matrices.agreement import coassociation, expand_pairs

__all__ = ["trajectory_similarity", "walk_similarity"]

_ISOLATED = 1e-20
_ROUNDING = 1e-13  # walks that never meet have similarity 0, and not what rounding leaves of it


def walk_similarity(
    graph: NDArray[np.float64], weights: NDArray[np.float64], n_steps: int, isolated: float
) -> NDArray[np.float64]:
    """Cosine similarity of the trajectories of walks of 1..T steps on a weighted graph.

    The walk goes from a to b with probability P_ab ∝ S_ab r_b, and G = Σ_t Pᵗ (Pᵗ)ᵀ holds the inner
    products of trajectories. With d = S r, a = sqrt(d r) and the symmetric
    M = D^-½ R^½ S R^½ D^-½ = Q Λ Qᵀ,

        G = diag(1/a) Q [(Qᵀ diag(a²) Q) ∘ g] Qᵀ diag(1/a),  g_ij = Σ_t (λ_i λ_j)ᵗ,

    one eigendecomposition instead of T products.

    Parameters
    ----------
    graph : array of shape (n, n), symmetric, non-negative
    weights : array of shape (n,)
    n_steps : int
    isolated : float
        The similarity of nodes without edges to everything, themselves included.
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
    inner = inner + inner.T  # to the last bit: agglomeration relies on symmetry
    length = np.sqrt(np.diag(inner))  # the factors 1/a of G drop out of a cosine
    inner /= np.outer(length, length)
    inner[inner < _ROUNDING] = 0.0
    result[np.ix_(linked, linked)] = inner
    return result


def _power_sums(x: NDArray[np.float64], n_terms: int) -> NDArray[np.float64]:
    """x + x² + ... entry by entry, by Horner's rule: x(1 + x(1 + ...))."""
    total = x.copy()
    for _ in range(n_terms - 1):
        total += 1.0
        total *= x
    return total


def elite_graph(similarity: NDArray[np.float64], n_neighbors: int) -> NDArray[np.float64]:
    """Keep each row's `n_neighbors` largest entries, ties included, and make it symmetric."""
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
    """Probability trajectory similarity (PTS).

    Distinct rows ("micro-clusters") form a graph in which each keeps its elite neighbors by
    co-association; two rows are similar if random walks from them visit the same places.

    Parameters
    ----------
    partitions : array-like of shape (n_samples, n_partitions), data frame, list or Ensemble
    n_neighbors, n_steps : int, optional
        Elite neighbors and walk length; min(floor(sqrt(n') / 2), 20), at least 1, by default.
    expand : bool
        A row per sample, or per row of `Ensemble.compress()`.

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
    neighbors = default if n_neighbors is None else n_neighbors
    steps = default if n_steps is None else n_steps
    if not 1 <= neighbors <= n or steps < 1:
        raise ValueError(
            f"n_neighbors must be in 1..{n} and n_steps positive, got {neighbors} and {steps}."
        )
    graph = elite_graph(coassociation(core, expand=False), neighbors)
    similarity = walk_similarity(graph, core.weights, steps, _ISOLATED)
    return expand_pairs(similarity, core) if expand else similarity
