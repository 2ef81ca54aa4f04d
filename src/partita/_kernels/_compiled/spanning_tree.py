"""Minimum spanning tree of the disagreement graph; its rows are computed when needed."""

from __future__ import annotations

import numpy as np

from partita._kernels._compiled._jit import jit


@jit
def prim(columns, missing_code, left, right, height):
    """Compare 32 rows per instruction; accumulators have 8 bits, and 32 after 255 partitions."""
    m, n = columns.shape
    agreement = np.zeros(n, np.int64)  # with the nearest vertex of the tree
    parent = np.zeros(n, np.int64)
    outside = np.arange(n)
    count = np.zeros(n, np.uint32)
    acc = np.zeros(n, np.uint8)
    agreement[:] = -1
    newest = 0
    outside[0] = n - 1
    n_outside = n - 1
    for t in range(n - 1):
        count[:] = 0
        for first in range(0, m, 255):
            acc[:] = 0
            for i in range(first, min(first + 255, m)):
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
