"""Hierarchical clustering by nearest-neighbor chains on a full square matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["LINKAGES", "Merges", "merge_chains"]

Merges = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]

_UNION: dict[str, np.ufunc] = {"average": np.add, "single": np.minimum, "complete": np.maximum}
LINKAGES = tuple(_UNION)
_KEPT = 0.75  # share of clusters left at which the matrix is compacted
_BLOCK = 1 << 16  # entries that are moved at a time


def merge_chains(matrix: NDArray[Any], size: NDArray[np.float64], linkage: str) -> Merges:
    """Merge clusters with their nearest neighbors until one is left.

    The distance of two clusters is matrix[a, b] / (size[a] size[b]). For average linkage the matrix
    has the *sums* of all pairwise distances (initial distance times both weights): a merge is then
    one addition, exact for integers, and the mean is formed only to compare.

    Of equally near clusters the first in index order is taken, but the previous element of the
    chain if it is one of them. A distance is the same number, to the last bit, from either side. So
    distances fall along a chain, and the chain ends. A mean of rounded sums can be below both of
    its parts: then a cluster can be in the chain twice, and the chain is cut where it appears
    first. Clusters keep their order when the matrix is compacted.

    Parameters
    ----------
    matrix : array of shape (n, n), symmetric, finite
        Overwritten.
    size : array of shape (n,)
        Sizes for average linkage, ones for the others.
    linkage : {"average", "single", "complete"}
        Distance between two clusters: mean, smallest or largest distance of their samples.

    Returns
    -------
    left, right : arrays of shape (n - 1,)
        Merge t joins the clusters that are called by their first rows, left[t] < right[t]. Merges
        are in the order of the chains, not by height.
    height : array of shape (n - 1,)
        Distance of the two clusters.
    """
    n, union = len(matrix), _UNION[linkage]
    left, right, height = np.empty(n - 1, np.int64), np.empty(n - 1, np.int64), np.empty(n - 1)
    row, size = np.arange(n), size.copy()
    removed = np.zeros(n)  # infinite for clusters that are part of another one
    stack: list[int] = []
    for t in range(n - 1):
        if not stack:
            if n - t < _KEPT * len(row):
                rest = np.flatnonzero(removed == 0)
                matrix, row, size = _compact(matrix, rest), row[rest], size[rest]
                removed = np.zeros(len(rest))
            stack.append(int(removed.argmin()))
        while True:
            a = stack[-1]
            distance = matrix[a] / (size[a] * size)
            distance += removed
            distance[a] = np.inf
            b = int(distance.argmin())
            if len(stack) > 1 and not distance[b] < distance[stack[-2]]:
                b = stack[-2]
                break
            stack.append(b)
        low, high = min(a, b), max(a, b)
        left[t], right[t], height[t] = row[low], row[high], distance[b]
        matrix[low] = matrix[:, low] = union(matrix[low], matrix[high])
        removed[high] = np.inf
        if linkage == "average":
            size[low] += size[high]
        del stack[-2:]
        for cluster in (low, high):
            if cluster in stack:
                del stack[stack.index(cluster) :]
    return left, right, height


def _compact(matrix: NDArray[Any], rest: NDArray[np.int64]) -> NDArray[Any]:
    """Return some rows and columns of a matrix, moved to the start of its memory."""
    flat, n = matrix.reshape(-1), len(rest)
    step = max(1, _BLOCK // n)
    for start in range(0, n, step):  # rows move only to the front, behind those still to be read
        rows = rest[start : start + step]
        flat[start * n : (start + len(rows)) * n] = matrix[np.ix_(rows, rest)].reshape(-1)
    return flat[: n * n].reshape(n, n)
