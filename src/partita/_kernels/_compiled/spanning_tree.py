"""Minimum spanning tree of the disagreement graph; its rows are computed when needed."""

from __future__ import annotations

import numpy as np

from partita._kernels._compiled._jit import jit


def prim(columns, missing_code, left, right, height):
    """Compare 32 rows per instruction; accumulators have 8 bits, and 32 after 255 partitions."""
    n = columns.shape[1]
    agreement, parent, outside = np.full(n, -1), np.zeros(n, np.int64), np.arange(n)
    acc, count = np.empty(n, np.uint8), np.empty(n, np.uint32)
    _prim(columns, missing_code, agreement, parent, outside, acc, count, left, right, height)


@jit(allocates=False)
def _prim(columns, missing_code, agreement, parent, outside, acc, count, left, right, height):
    """Fill `left`, `right`, `height` as `prim` does; `acc` and `count` are scratch.

    agreement : of every vertex with the nearest vertex of the tree, which is its `parent`
    outside : vertices, of which the first ones are not yet in the tree
    """
    m, n = columns.shape
    newest = 0
    outside[0] = n - 1
    n_outside = n - 1
    for t in range(n - 1):
        for b in range(n):
            count[b] = 0
        for first in range(0, m, 255):
            for b in range(n):
                acc[b] = 0
            for i in range(first, first + 255 if first + 255 < m else m):
                code = columns[i, newest]
                if code != missing_code:
                    row = columns[i]
                    for b in range(n):
                        acc[b] += np.uint8(row[b] == code)
            for b in range(n):
                count[b] += acc[b]
        best = -1
        best_agreement = np.int64(-1)
        best_position = 0
        for p in range(n_outside):
            b = outside[p]
            if np.int64(count[b]) > agreement[b]:
                agreement[b] = count[b]
                parent[b] = newest
            if agreement[b] > best_agreement or (agreement[b] == best_agreement and b < best):
                best_agreement = agreement[b]
                best = b
                best_position = p
        left[t], right[t] = parent[best], best
        height[t] = m - best_agreement
        n_outside -= 1
        outside[best_position] = outside[n_outside]
        newest = best
