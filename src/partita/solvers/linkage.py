"""Agglomerative clustering of weighted rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita import _kernels
from partita.solvers.components import connected_components

__all__ = ["LINKAGES", "Tree", "agglomerate", "spanning_tree"]

LINKAGES = ("average", "single", "complete")  # in the order of the kernel's numbers
_ROWS = 256  # per block
_WORK = 60  # operations per pair of rows: three visits, each a division, sums and comparisons
_MAX_PARTS = 64  # fractions 1/2 .. 1/64 of the smallest weight are tried as the unit of weights


@dataclass(frozen=True)
class Tree:
    """A hierarchy of clusters: merges in ascending order of height.

    Attributes
    ----------
    left, right : arrays of shape (n_rows - 1,)
        Merge t joins the cluster that contains row left[t] with the one that contains row right[t].
    height : array of shape (n_rows - 1,)
        Distance of the two clusters.
    """

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    height: NDArray[np.float64]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.height) + 1

    def cut(self, n_clusters: int) -> NDArray[np.int64]:
        """Return the labels after the first n_rows - n_clusters merges: exactly n_clusters.

        A cut at a height would return fewer clusters where merges tie.
        """
        n, first = self.n_rows, slice(0, self.n_rows - n_clusters)
        edges = (np.ones(n - n_clusters, bool), (self.left[first], self.right[first]))
        return connected_components(sp.csr_matrix(edges, shape=(n, n)))[1]

    def leaves(self) -> NDArray[np.int64]:
        """Return the rows in an order in which every cluster of the tree is one piece."""
        pieces = [[row] for row in range(self.n_rows)]
        for left, right in zip(self.left.tolist(), self.right.tolist(), strict=True):
            smaller, larger = sorted((pieces[left], pieces[right]), key=len)
            larger += smaller
            for row in smaller:
                pieces[row] = larger
        return np.asarray(pieces[0])

    def longest_lived(self, n_samples: int) -> int:
        """Return the number of clusters of the partition with the longest lifetime.

        The partition of k clusters lives from height h_{n-k} to h_{n-k+1}, k = 2..n-1. Ties go to
        the largest k. If rows stand for several samples (`n_samples` > n_rows), these merged at
        height 0, so that k = n_rows is possible too.
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
    """Cluster weighted rows hierarchically by nearest neighbor chains.

    A row of weight r counts as r equal samples: average linkage starts from sizes r. Among equally
    near clusters the first in row order wins, so the rows should be in a canonical order, such as
    that of `Ensemble.compress`. Average linkage keeps the sum of the distances between clusters
    instead of the mean: integers stay integers, so that ties are exact.

    Parameters
    ----------
    distances : array of shape (n, n), symmetric
        Distances. Integers are summed as integers if the sums fit in 64 bits.
    weights : array of shape (n,), optional
        Weights of the rows. By default all are 1.
    linkage : {"average", "single", "complete"}, default="average"
        Distance between two clusters: mean, smallest or largest distance of their samples.
    overwrite : bool, default=False
        Whether the memory of `distances` may be used.

    Returns
    -------
    Tree
        O(n²) time, and one n x n array unless `overwrite`.

    Raises
    ------
    ValueError
        If a distance is not finite, or if a sum of distances times both weights would not be
        finite: the largest weight must be below 1e150 times the smallest.
    """
    if linkage not in LINKAGES:
        raise ValueError(f"linkage must be one of {LINKAGES}, got {linkage!r}")
    n = len(distances)
    if n == 1:
        empty = np.empty(0, np.int64)
        return Tree(empty, empty, np.empty(0))
    largest = max(abs(float(distances.min())), abs(float(distances.max())))
    if not np.isfinite(largest):
        raise ValueError("distances must be finite, got NaN or infinity.")
    size = np.ones(n)
    if linkage == "average":
        if weights is not None:
            size = _in_integer_units(np.asarray(weights, np.float64))
        matrix = _sums(distances, size, largest, overwrite)
    else:
        matrix = distances if overwrite else distances.copy()
    merge_nearest = _kernels.chains.merge_nearest.at(_WORK * matrix.size)
    left, right, height = np.empty(n - 1, np.int64), np.empty(n - 1, np.int64), np.empty(n - 1)
    merge_nearest(size, LINKAGES.index(linkage), matrix, left, right, height)
    return _sorted_tree(left, right, height)


def _in_integer_units(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights as integers if all are multiples of one unit, so that ties are exact.

    Otherwise return them times a power of two, which rounds nothing, with the smallest in 1..2: a
    product of two weights is then never 0.
    """
    with np.errstate(over="ignore"):
        ratio = weights / weights.min()
        for parts in range(1, _MAX_PARTS + 1):
            whole = np.rint(parts * ratio)
            if np.allclose(whole, parts * ratio, rtol=1e-9, atol=0):
                return whole
        return np.ldexp(weights, 1 - np.frexp(weights.min())[1])


def _sums(
    distances: Any, size: NDArray[np.float64], largest: float, overwrite: bool
) -> NDArray[Any]:
    """Return the distances times both weights, in the narrowest exact type."""
    with np.errstate(over="ignore"):
        # two clusters have at most (total/2)² pairs of samples between them
        largest_sum = np.square(size.sum() / 2) * largest
    if not np.isfinite(largest_sum):
        raise ValueError(
            "Average linkage sums distances times the weights of both rows. Here these sums are "
            f"not finite: the largest weight is {size.max() / size.min():.3g} times the smallest, "
            f"the largest distance is {largest:.3g}. Pass weights that differ by less than 1e150."
        )
    is_integer = distances.dtype.kind in "iu" and bool(np.all(size == np.floor(size)))
    if not is_integer or largest_sum >= 2**63:
        if overwrite and distances.dtype == np.float64:
            for start in range(0, len(size), _ROWS):
                # Multiply by the product of both weights: one factor after the other could round
                # (i, j) and (j, i) differently, and the chains need them equal.
                rows = slice(start, start + _ROWS)
                distances[rows] *= np.outer(size[rows], size)
            return distances
        return distances * np.outer(size, size)
    dtype = np.uint32 if largest_sum < 2**32 else np.int64
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
    # Chains find children before parents; a stable sort keeps that order for equal heights.
    order = np.argsort(height, kind="stable")
    return Tree(left[order], right[order], height[order])


def spanning_tree(codes: NDArray[Any], missing_code: int) -> Tree:
    """Cluster label rows by single linkage without a distance matrix.

    Parameters
    ----------
    codes : array of shape (n, m), unsigned
        Codes of the labels.
    missing_code : int
        The code of a missing label, which agrees with no label.

    Returns
    -------
    Tree
        Heights are numbers of partitions that disagree. O(n² m) byte comparisons, O(n) memory.
    """
    n = len(codes)
    left, right, height = np.empty(n - 1, np.int64), np.empty(n - 1, np.int64), np.empty(n - 1)
    if n > 1:
        columns = np.ascontiguousarray(codes.T)
        prim = _kernels.spanning_tree.prim.at(n * codes.size)
        prim(columns, codes.dtype.type(missing_code), left, right, height)
    return _sorted_tree(left, right, height)
