"""Weighted agglomerative clustering and its cuts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _kernels

__all__ = ["LINKAGES", "Tree", "agglomerate", "spanning_tree"]

_ROWS = 256
LINKAGES = ("average", "single", "complete")
_LARGEST_UNIT = 64  # parts of the smallest weight that are tried as the unit of all weights
_CODES = {"average": 0, "single": 1, "complete": 2}


@dataclass(frozen=True)
class Tree:
    """Merges in ascending order of height.

    Merge t joins the cluster that holds row left[t] with the one that holds row right[t].
    """

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    height: NDArray[np.float64]

    @property
    def n_rows(self) -> int:
        return len(self.height) + 1

    def cut(self, n_clusters: int) -> NDArray[np.int64]:
        """Labels after the first n_rows - n_clusters merges: always exactly n_clusters of them.

        Cutting by height instead would return fewer clusters wherever merges tie.
        """
        parent = np.arange(self.n_rows)

        def root(x: int) -> int:
            while parent[x] != x:
                parent[x] = parent[parent[x]]
                x = parent[x]
            return x

        for t in range(self.n_rows - n_clusters):
            parent[root(int(self.right[t]))] = root(int(self.left[t]))
        roots = [root(x) for x in range(self.n_rows)]
        return np.unique(roots, return_inverse=True)[1].reshape(-1)

    def longest_lived(self, n_samples: int) -> int:
        """Number of clusters of the partition that survives the longest range of heights.

        The k-cluster partition lives from h_{n-k} to h_{n-k+1}, k = 2..n-1; on ties the largest k.
        If rows stand for several samples, these merged at height 0, so that k = n_rows competes.
        """
        heights = np.concatenate([[0.0], self.height]) if n_samples > self.n_rows else self.height
        if len(heights) < 2:
            return self.n_rows
        lifetimes = np.diff(heights)  # of n-1, n-2, ..., 2 clusters
        return len(heights) - int(np.argmax(lifetimes))


def agglomerate(
    distances: NDArray[Any],
    weights: NDArray[np.float64] | None = None,
    linkage: str = "average",
    *,
    overwrite: bool = False,
) -> Tree:
    """Hierarchical clustering of weighted rows.

    A row of weight r behaves as r coincident samples: average linkage starts from sizes r. Nearest
    neighbor chains; among equally near clusters the first in row order wins, so rows should come
    in an order that means something (`Ensemble.compress` provides one). For average linkage the
    sum of distances between clusters is kept instead of the mean: integers stay integers, so that
    ties are true ties and not rounding.

    Parameters
    ----------
    distances : array of shape (n, n), symmetric
        Integer types are used as they are if the sums they lead to fit 64 bits.
    weights : array of shape (n,), optional
    linkage : {"average", "single", "complete"}
    overwrite : bool
        Work in `distances` itself.

    Returns
    -------
    Tree
        O(n²) time, and one n x n array unless `overwrite`.
    """
    if linkage not in LINKAGES:
        raise ValueError(f"linkage must be one of {LINKAGES}, got {linkage!r}")
    n = len(distances)
    if n == 1:
        empty = np.empty(0, np.int64)
        return Tree(empty, empty, np.empty(0))
    size = np.ones(n) if weights is None else _in_whole_units(np.asarray(weights, np.float64))
    matrix = (
        _sums(distances, size, overwrite)
        if linkage == "average"
        else (distances if overwrite else distances.copy())
    )
    left, right, height = np.empty(n - 1, np.int64), np.empty(n - 1, np.int64), np.empty(n - 1)
    _kernels.agglomeration.chain(matrix, size, _CODES[linkage], left, right, height)
    return _sorted_tree(left, right, height)


def _in_whole_units(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights as whole numbers if they are multiples of a unit: in tenths, too, ties are ties."""
    ratio = weights / weights.min()
    for parts in range(1, _LARGEST_UNIT + 1):
        whole = np.rint(parts * ratio)
        if np.allclose(whole, parts * ratio, rtol=1e-9, atol=0):
            return whole
    return weights.copy()


def _sums(distances: Any, size: NDArray[np.float64], overwrite: bool) -> NDArray[Any]:
    """Distance times both weights, in the narrowest exact type."""
    whole = distances.dtype.kind in "iu" and bool(np.all(size == np.floor(size)))
    if not whole:
        if overwrite and distances.dtype == np.float64:
            for start in range(0, len(size), _ROWS):
                # by the product of both weights: one after the other would round (i, j) otherwise
                # than (j, i), and a chain relies on their being equal
                rows = slice(start, start + _ROWS)
                distances[rows] *= np.outer(size[rows], size)
            return distances
        return distances * np.outer(size, size)
    # the two halves of any split hold at most (total/2)² pairs
    largest = int(distances.max()) * (int(size.sum()) / 2) ** 2
    dtype = np.uint32 if largest < 2**32 else np.int64
    if overwrite and distances.dtype == dtype and np.all(size == 1):
        return distances
    matrix: NDArray[Any] = distances.astype(dtype)
    integer_size = size.astype(dtype)
    matrix *= integer_size[:, None]
    matrix *= integer_size
    return matrix


def _sorted_tree(
    left: NDArray[np.int64], right: NDArray[np.int64], height: NDArray[np.float64]
) -> Tree:
    # a chain finds children before parents; rounding must not turn that round
    order = np.argsort(height, kind="stable")
    return Tree(left[order], right[order], height[order])


def spanning_tree(labels: NDArray[Any], missing: int) -> Tree:
    """Single linkage of label rows by the number of partitions that part them, without a matrix.

    Parameters
    ----------
    labels : array of shape (n, m), unsigned codes
    missing : int
        Code of "no label", which joins nothing.

    Returns
    -------
    Tree
        Heights are counts of disagreeing partitions. O(n² m) byte comparisons, O(n) memory.
    """
    n = len(labels)
    left, right, height = np.empty(n - 1, np.int64), np.empty(n - 1, np.int64), np.empty(n - 1)
    if n > 1:
        columns = np.ascontiguousarray(labels.T)
        _kernels.spanning_tree.spanning_tree(columns, missing, left, right, height)
    return _sorted_tree(left, right, height)
