"""Weighted common neighbors of pairs of nodes (connected triples)."""

from __future__ import annotations

import numpy as np

from partita._kernels._compiled._jit import jit

_ROWS = 16
_COLUMNS = 128  # a tile of sums, 16 kB, stays in the first-level cache


@jit
def weigh_common(graph, weights, start, stop, out):
    """Read the graph tile by tile, so that a part of graph[k] serves many c.

    The innermost loop runs over d: it uses vector instructions, and sums keep their order. Pairs
    (c, k) without an edge are skipped.
    """
    n = len(graph)
    tile = np.zeros((_ROWS, _COLUMNS), np.float64)
    for top in range(start, stop, _ROWS):
        bottom = min(top + _ROWS, stop)
        for left in range(0, bottom, _COLUMNS):
            width = min(_COLUMNS, bottom - left)
            tile[:] = 0.0
            for k in range(n):
                weight = weights[k]
                segment = graph[k, left : left + width]
                for c in range(top, bottom):
                    edge = graph[k, c]
                    if edge > 0.0 and weight > 0.0:
                        total = tile[c - top]
                        for d in range(width):
                            total[d] += weight * min(edge, segment[d])
            for c in range(top, bottom):
                for d in range(left, min(left + width, c + 1)):
                    out[c, d] = tile[c - top, d - left]
                    out[d, c] = tile[c - top, d - left]
