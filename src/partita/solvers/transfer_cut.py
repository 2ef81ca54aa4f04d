"""Transfer cut: normalised cut of a bipartite graph of rows and clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita.solvers.kmeans import weighted_kmeans
from partita.solvers.spectral import _gram, top_eigenvectors

__all__ = ["transfer_cut", "transfer_cut_embedding"]

_TINY = 1e-10


def transfer_cut_embedding(
    graph: Any,
    weights: NDArray[np.float64],
    n_components: int,
    links: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Eigenvalues and unit row vectors of the bipartite graph's normalised cut.

    With d_x = B 1 and d_y = Bᵀ r, let D_x^-½ R^½ B D_y^-½ = U Σ Vᵀ; the rows' vectors are
    D_x^-1 B D_y^-½ V, each scaled to unit length. Only the smaller side is decomposed.

    Parameters
    ----------
    graph : array or sparse matrix of shape (n, p), non-negative
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
    B = sp.csr_matrix(graph) if sp.issparse(graph) else np.asarray(graph, np.float64)
    d_x = np.asarray(B.sum(axis=1)).ravel()
    d_x = np.where(d_x > 0, d_x, _TINY)
    d_y = np.asarray(B.T @ weights).ravel()
    if links is not None:
        d_y += links.sum(axis=0)
    filled = d_y > 0
    if not filled.all():
        B, d_y = B[:, filled], d_y[filled]
    n, p = B.shape
    right_scale = 1.0 / np.sqrt(d_y)
    scaled = _scale(B, np.sqrt(weights / d_x), right_scale)
    if links is not None:
        gram = _dense(scaled.T @ scaled) + _gram_of_links(links[:, filled], right_scale)
        values, V = top_eigenvectors(gram, n_components)
    elif p <= n:
        values, V = top_eigenvectors(_gram(scaled.T), n_components, n=p)
    else:
        values, U = top_eigenvectors(_gram(scaled), n_components, n=n)
        V = np.asarray(scaled.T @ U) / np.sqrt(np.maximum(values, _TINY))
    T = np.asarray(B @ (right_scale[:, None] * V)) / d_x[:, None]
    return values, T / (np.linalg.norm(T, axis=1, keepdims=True) + _TINY)


def _gram_of_links(
    links: NDArray[np.float64], right_scale: NDArray[np.float64]
) -> NDArray[np.float64]:
    degree = links.sum(axis=1)
    scaled = _scale(links, 1.0 / np.sqrt(np.where(degree > 0, degree, _TINY)), right_scale)
    return np.asarray(scaled.T @ scaled)


def _dense(matrix: Any) -> NDArray[np.float64]:
    return np.asarray(matrix.toarray() if sp.issparse(matrix) else matrix)


def _scale(matrix: Any, left: NDArray[np.float64], right: NDArray[np.float64]) -> Any:
    if sp.issparse(matrix):
        scaled = matrix.tocsr(copy=True)
        scaled.data *= np.repeat(left, np.diff(scaled.indptr)) * right[scaled.indices]
        return scaled
    return left[:, None] * matrix * right


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
