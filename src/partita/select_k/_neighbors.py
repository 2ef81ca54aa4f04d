"""Distinct points of features and their nearest neighbors, dense or sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

__all__ = ["distinct_points", "evenly_chosen", "nearest"]

_BLOCK = 256  # sparse points whose distances to all others are held at once


def distinct_points(X: Any) -> tuple[Any, NDArray[np.int64]]:
    """Return the distinct rows of X, each once, and the place of each in X.

    Parameters
    ----------
    X : array or canonical CSR matrix of shape (n_samples, n_features)
        Features.
    """
    if not sp.issparse(X):
        return np.unique(X, axis=0, return_index=True)
    first: dict[bytes, int] = {}
    for i, (start, stop) in enumerate(zip(X.indptr[:-1], X.indptr[1:], strict=True)):
        key = X.indices[start:stop].tobytes() + X.data[start:stop].tobytes()
        first.setdefault(key, i)
    places = np.fromiter(first.values(), np.int64)
    return X[places], places


def evenly_chosen(n_points: int, most: int) -> NDArray[np.int64]:
    """Return the places of at most `most` points, evenly spaced."""
    return np.unique(np.linspace(0, n_points - 1, most).astype(np.int64))


def nearest(
    points: Any, rows: NDArray[np.int64], n_neighbors: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return distances and places of the nearest points of some of them, nearest first.

    A point is among its own neighbors. No array has an entry for every pair of points.

    Parameters
    ----------
    points : array or CSR matrix of shape (n_points, n_features)
        Points.
    rows : array of shape (n_rows,)
        Places of the points whose neighbors are returned.
    n_neighbors : int
        Number of neighbors, at most `n_points`.
    """
    if not sp.issparse(points):
        model = NearestNeighbors(n_neighbors=n_neighbors).fit(points)
        distances, neighbors = model.kneighbors(points[rows])
        return distances, neighbors
    squares = np.asarray(points.multiply(points).sum(axis=1), np.float64).ravel()
    transposed = points.T.tocsr()
    distances = np.empty((len(rows), n_neighbors))
    neighbors = np.empty((len(rows), n_neighbors), np.int64)
    for start in range(0, len(rows), _BLOCK):
        part = slice(start, start + _BLOCK)
        products = (points[rows[part]] @ transposed).toarray()
        squared = np.maximum(squares[rows[part], None] - 2 * products + squares, 0.0)
        squared[np.arange(len(squared)), rows[part]] = 0.0
        places = np.argpartition(squared, n_neighbors - 1, axis=1)[:, :n_neighbors]
        values = np.take_along_axis(squared, places, axis=1)
        order = np.argsort(values, axis=1, kind="stable")
        neighbors[part] = np.take_along_axis(places, order, axis=1)
        distances[part] = np.sqrt(np.take_along_axis(values, order, axis=1))
    return distances, neighbors
