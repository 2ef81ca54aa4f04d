"""Transfer cut: the normalized cut of a bipartite graph of rows and base clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from partita.solvers.components import (
    bipartite_components,
    component_vectors,
    connected_components,
)
from partita.solvers.kmeans import weighted_kmeans
from partita.solvers.spectral import (
    as_factor,
    column_gram,
    gram,
    scaled_factor,
    top_eigenvectors,
)

__all__ = ["transfer_cut", "transfer_cut_embedding"]

_TINY = 1e-10


def transfer_cut_embedding(
    graph: Any,
    weights: NDArray[np.float64],
    n_components: int,
    links: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return eigenvalues and unit row vectors of the normalized cut of a bipartite graph.

    With d_x = B 1 and d_y = Bᵀ r, let D_x^-½ R^½ B D_y^-½ = U Σ Vᵀ. The vectors of the rows are
    D_x^-1 B D_y^-½ V, each scaled to unit length. Only the smaller side is decomposed.

    Parameters
    ----------
    graph : array, sparse matrix or `LabelGraph` of shape (n, p), non-negative
        B, weights of the edges between rows and columns.
    weights : array of shape (n,)
        Weights r of the rows.
    n_components : int
        Number of eigenvectors.
    links : array of shape (q, p), non-negative, optional
        Links between columns: further rows, of weight 1, that are part of the graph but get no
        vector. By default there are none.

    Returns
    -------
    values : array of shape (n_components,)
        The largest eigenvalues σ², descending. A graph without edges has one, 0.
    embedding : array of shape (n, n_components)
        Unit vectors of the rows.
    """
    B = as_factor(graph, formed=links is not None)
    degree = np.asarray(B @ np.ones(B.shape[1])).ravel()
    d_x = np.where(degree > 0, degree, _TINY)
    d_y = np.asarray(B.T @ weights).ravel()
    if links is not None:
        d_y += links.sum(axis=0)
    is_used = d_y > 0
    if not is_used.any():  # no edges: nothing tells the rows apart
        return np.zeros(1), np.zeros((B.shape[0], 1))
    edges = graph if isinstance(graph, LinearOperator) else B  # labels are joined faster
    if not is_used.all():
        B, d_y = as_factor(B, formed=True)[:, is_used], d_y[is_used]
        edges = B
    n, p = B.shape
    right_scale = 1.0 / np.sqrt(d_y)
    scaled = scaled_factor(B, np.sqrt(weights / d_x), right_scale)

    def rows(most: int) -> NDArray[np.float64]:
        return component_vectors(bipartite_components(edges)[0], weights * degree, most)

    def columns(most: int) -> NDArray[np.float64]:
        return component_vectors(bipartite_components(edges)[1], d_y, most)

    if links is not None:
        product = _dense(scaled.T @ scaled) + _gram_of_links(links[:, is_used], right_scale)

        def linked(most: int) -> NDArray[np.float64]:
            return component_vectors(connected_components(product, symmetric=True)[1], d_y, most)

        values, V = top_eigenvectors(product, n_components, first=linked)
    elif p <= n:
        values, V = top_eigenvectors(column_gram(scaled), n_components, n=p, first=columns)
    else:
        values, U = top_eigenvectors(gram(scaled), n_components, n=n, first=rows)
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
    """Return labels of the rows and the k-means inertia of their embedding.

    Parameters
    ----------
    graph, weights, links
        As in `transfer_cut_embedding`.
    n_clusters : int
        Number of clusters.
    rng : Generator
        Source of random numbers.
    n_init : int, default=10
        Restarts of k-means.
    """
    _, embedding = transfer_cut_embedding(graph, weights, n_clusters, links)
    return weighted_kmeans(embedding, weights, n_clusters, rng, n_init=n_init)
