"""Transfer cut: normalized cut of a bipartite graph of rows and clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita.solvers.kmeans import weighted_kmeans
from partita.solvers.spectral import as_factor, gram, scaled_factor, top_eigenvectors

__all__ = ["transfer_cut", "transfer_cut_embedding"]

_TINY = 1e-10


def transfer_cut_embedding(
    graph: Any,
    weights: NDArray[np.float64],
    n_components: int,
    links: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Eigenvalues and unit row vectors of the bipartite graph's normalized cut.

    With d_x = B 1 and d_y = Bᵀ r, let D_x^-½ R^½ B D_y^-½ = U Σ Vᵀ; the rows' vectors are
    D_x^-1 B D_y^-½ V, each scaled to unit length. Only the smaller side is decomposed.

    Parameters
    ----------
    graph : array, sparse matrix or `LabelGraph` of shape (n, p), non-negative
    weights : array of shape (n,)
        Weights of the rows.
    n_components : int
    links : array of shape (q, p), non-negative, optional
        Further rows, of weight 1, that take part in the cut and get no vector: ties between the
        columns.

    Returns
    -------
    values : array, the largest eigenvalues σ², descending
    embedding : array of shape (n, n_components)
    """
    B = as_factor(graph, formed=links is not None)
    d_x = np.asarray(B @ np.ones(B.shape[1])).ravel()
    d_x = np.where(d_x > 0, d_x, _TINY)
    d_y = np.asarray(B.T @ weights).ravel()
    if links is not None:
        d_y += links.sum(axis=0)
    filled = d_y > 0
    if not filled.all():
        B, d_y = as_factor(B, formed=True)[:, filled], d_y[filled]
    n, p = B.shape
    right_scale = 1.0 / np.sqrt(d_y)
    scaled = scaled_factor(B, np.sqrt(weights / d_x), right_scale)
    if links is not None:
        tied = _dense(scaled.T @ scaled) + _gram_of_links(links[:, filled], right_scale)
        values, V = top_eigenvectors(tied, n_components)
    elif p <= n:
        values, V = top_eigenvectors(gram(scaled.T), n_components, n=p)
    else:
        values, U = top_eigenvectors(gram(scaled), n_components, n=n)
        V = np.asarray(scaled.T @ U) / np.sqrt(np.maximum(values, _TINY))
    T = np.asarray(B @ (right_scale[:, None] * V)) / d_x[:, None]
    return values, T / (np.linalg.norm(T, axis=1, keepdims=True) + _TINY)


def _gram_of_links(
    links: NDArray[np.float64], right_scale: NDArray[np.float64]
) -> NDArray[np.float64]:
    degree = links.sum(axis=1)
    scaled = scaled_factor(links, 1.0 / np.sqrt(np.where(degree > 0, degree, _TINY)), right_scale)
    return np.asarray(scaled.T @ scaled)


def _dense(matrix: Any) -> NDArray[np.float64]:
    return np.asarray(matrix.toarray() if sp.issparse(matrix) else matrix)


def transfer_cut(
    graph: Any,
    weights: NDArray[np.float64],
    n_clusters: int,
    rng: np.random.Generator,
    *,
    n_init: int = 10,
    links: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.int64], float]:
    """Labels of the rows and the k-means inertia of their embedding."""
    _, embedding = transfer_cut_embedding(graph, weights, n_clusters, links)
    return weighted_kmeans(embedding, weights, n_clusters, rng, n_init=n_init)
