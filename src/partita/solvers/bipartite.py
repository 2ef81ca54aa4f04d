"""Embed both sides of a bipartite graph in one spectral space."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.solvers.components import bipartite_components, component_vectors
from partita.solvers.spectral import (
    as_factor,
    column_gram,
    gram,
    normalize_rows,
    scaled_factor,
    top_eigenvectors,
)

__all__ = ["bipartite_embedding"]

_TINY = 1e-12  # squared singular values below this share of the largest are rounding errors


def bipartite_embedding(
    graph: Any, weights: NDArray[np.float64], n_components: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return unit vectors of the rows and of the columns of a bipartite graph.

    With the degrees d_x = B 1 and d_y = Bᵀ r, let R^½ D_x^-½ B D_y^-½ = U Σ Vᵀ. The vectors are
    the rows of the leading columns of U and V, scaled to unit length. A row of weight r has the
    vector that each of r equal rows would have: scaling removes the factor sqrt(r).

    Parameters
    ----------
    graph : array, sparse matrix or `LabelGraph` of shape (n, p), non-negative
        B, weights of the edges between rows and columns.
    weights : array of shape (n,)
        Weights r of the rows.
    n_components : int
        Number of singular vectors. A graph of lower rank gives fewer.

    Returns
    -------
    rows : array of shape (n, n_components)
    columns : array of shape (p, n_components)
    """
    B = as_factor(graph)
    d_x = np.asarray(B @ np.ones(B.shape[1])).ravel()
    d_y = np.asarray(B.T @ weights).ravel()
    left_scale = np.sqrt(weights / np.where(d_x > 0, d_x, 1.0))
    right_scale = 1.0 / np.sqrt(np.where(d_y > 0, d_y, 1.0))
    scaled = scaled_factor(B, left_scale, right_scale)
    n, p = scaled.shape

    def rows(most: int) -> NDArray[np.float64]:
        return component_vectors(bipartite_components(B)[0], weights * d_x, most)

    def columns(most: int) -> NDArray[np.float64]:
        return component_vectors(bipartite_components(B)[1], d_y, most)

    if p <= n:
        values, right = top_eigenvectors(column_gram(scaled), n_components, n=p, first=columns)
    else:
        values, left = top_eigenvectors(gram(scaled), n_components, n=n, first=rows)
    kept = values > _TINY * values[0]
    singular = np.sqrt(values[kept])
    if p <= n:
        right = right[:, kept]
        left = np.asarray(scaled @ right) / singular
    else:
        left = left[:, kept]
        right = np.asarray(scaled.T @ left) / singular
    return normalize_rows(left), normalize_rows(right)
