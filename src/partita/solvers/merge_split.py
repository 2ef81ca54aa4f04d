"""Merge or split groups of rows until there are `n_clusters`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.solvers.linkage import agglomerate

__all__ = ["merge_groups", "split_groups"]


def merge_groups(
    groups: NDArray[np.int64],
    similarity: NDArray[np.float64],
    weights: NDArray[np.float64],
    n_clusters: int,
) -> NDArray[np.int64]:
    """Merge groups by average linkage.

    Parameters
    ----------
    groups : array of shape (n,)
        Group of each row, 0..G-1.
    similarity : array of shape (G, G)
        Mean similarity of the rows of two groups.
    weights : array of shape (n,)
        Weights of the rows.
    n_clusters : int
        Number of clusters, at most G.
    """
    sizes = np.bincount(groups, weights).astype(np.float64)
    return agglomerate(similarity.max() - similarity, sizes).cut(n_clusters)[groups]


def split_groups(
    groups: NDArray[np.int64],
    embedding: NDArray[np.float64],
    weights: NDArray[np.float64],
    n_clusters: int,
) -> NDArray[np.int64]:
    """Split groups by average linkage of their rows; no cluster has rows of two groups.

    Parameters
    ----------
    groups : array of shape (n,)
        Group of each row.
    embedding : array of shape (n, p)
        Rows are compared by their squared distance.
    weights : array of shape (n,)
        Weights of the rows.
    n_clusters : int
        Number of clusters, at least the number of groups, at most n.
    """
    squares = np.sum(embedding**2, axis=1)
    distances = embedding @ embedding.T
    distances *= -2.0
    distances += squares
    distances += squares[:, None]
    np.maximum(distances, 0.0, out=distances)
    distances[groups[:, None] != groups] = 1.0 + 2.0 * distances.max()
    return agglomerate(distances, weights, overwrite=True).cut(n_clusters)
