"""What pairs of nodes of a graph have in common."""

from __future__ import annotations

import numpy as np

from partita._kernels._jit import jit

_ROWS = 16
_COLUMNS = 128  # a tile of sums, 16 kB, stays in the first-level cache


@jit
def weigh_common(graph, weights, start, stop, out):
    """out[c, d] = Σ_k weights[k] min(graph[c, k], graph[k, d]) for c in start..stop and d <= c.

    And their mirror images. `graph` is symmetric and non-negative. Tile by tile, so that a stretch
    of graph[k] is read once for many c; the innermost loop runs over d, so that vector instructions
    serve it and sums keep their order. Neighbors that are none are skipped.
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
                stretch = graph[k, left : left + width]
                for c in range(top, bottom):
                    edge = graph[k, c]
                    if edge > 0.0 and weight > 0.0:
                        total = tile[c - top]
                        for d in range(width):
                            total[d] += weight * min(edge, stretch[d])
            for c in range(top, bottom):
                for d in range(left, min(left + width, c + 1)):
                    out[c, d] = tile[c - top, d - left]
                    out[d, c] = tile[c - top, d - left]
