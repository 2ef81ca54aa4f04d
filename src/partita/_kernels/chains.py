"""Hierarchical clustering by nearest-neighbor chains on a full square matrix."""

from __future__ import annotations

import numpy as np

from partita._kernels._dispatch import kernel

AVERAGE, SINGLE, COMPLETE = range(3)
KEPT = 0.75  # share of clusters left at which the matrix is compacted
_UNIONS = (np.add, np.minimum, np.maximum)
_BLOCK = 1 << 16  # entries that are moved at a time


@kernel
def merge_nearest(size, linkage, matrix, left, right, height):
    """Fill `left`, `right`, `height`: merge t joins clusters left[t] < right[t] at height[t].

    A cluster is called by its first row. Merges are in the order of the chains, not by height.
    `matrix` is symmetric and finite; it is used as memory, and what it has afterward means nothing.

    The distance of two clusters is matrix[a, b] / (size[a] size[b]). For average linkage the matrix
    has the *sums* of all pairwise distances (initial distance times both weights): a merge is then
    one addition, exact for integers, and the mean is formed only to compare. `size` has ones for
    the other linkages.

    Of equally near clusters the first in index order is taken, but the previous element of the
    chain if it is one of them. A distance is the same number, to the last bit, from either side. So
    distances fall along a chain, and the chain ends. A mean of rounded sums can be below both of
    its parts: then a cluster can be in the chain twice, and the chain is cut where it appears
    first. A chain longer than the number of rows forgets all but its end, as it may start anywhere.
    Clusters keep their order when the matrix is compacted.
    """
    n, union = len(matrix), _UNIONS[linkage]
    row, size = np.arange(n), size.copy()
    removed = np.zeros(n)  # infinite for clusters that are part of another one
    stack: list[int] = []
    for t in range(n - 1):
        if not stack:
            if n - t < KEPT * len(row):
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
            if len(stack) == n:
                del stack[:-1]
            stack.append(b)
        low, high = min(a, b), max(a, b)
        left[t], right[t], height[t] = row[low], row[high], distance[b]
        matrix[low] = matrix[:, low] = union(matrix[low], matrix[high])
        removed[high] = np.inf
        if linkage == AVERAGE:
            size[low] += size[high]
        del stack[-2:]
        for cluster in (low, high):
            if cluster in stack:
                del stack[stack.index(cluster) :]


def _compact(matrix, rest):
    """Return some rows and columns of a matrix, moved to the start of its memory."""
    flat, n = matrix.reshape(-1), len(rest)
    step = max(1, _BLOCK // n)
    for start in range(0, n, step):  # rows move only to the front, behind those still to be read
        rows = rest[start : start + step]
        flat[start * n : (start + len(rows)) * n] = matrix[np.ix_(rows, rest)].reshape(-1)
    return flat[: n * n].reshape(n, n)
