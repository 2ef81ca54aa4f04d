"""Weighted common neighbors of pairs of nodes (connected triples)."""

from __future__ import annotations

import numpy as np

from partita._kernels._compiled._jit import jit

_ROWS = 16
_COLUMNS = 128  # a tile of sums, 16 kB, stays in the first-level cache


def weigh_common(graph, weights, start, stop, out):
    """Read the graph tile by tile, so that a part of graph[k] serves many c.

    The innermost loop runs over d: it uses vector instructions, and sums keep their order. Pairs
    (c, k) without an edge are skipped.
    """
    _weigh_common(graph, weights, start, stop, np.empty((_ROWS, _COLUMNS)), out)


@jit(allocates=False)
def _weigh_common(graph, weights, start, stop, tile, out):
    """Fill `out` as `weigh_common` does; `tile` is scratch."""
    n = len(graph)
    for top in range(start, stop, _ROWS):
        bottom = top + _ROWS if top + _ROWS < stop else stop
        for left in range(0, bottom, _COLUMNS):
            width = bottom - left if bottom - left < _COLUMNS else _COLUMNS
            for c in range(bottom - top):
                for d in range(width):
                    tile[c, d] = 0.0
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
                for d in range(left, left + width if left + width < c + 1 else c + 1):
                    out[c, d] = tile[c - top, d - left]
                    out[d, c] = tile[c - top, d - left]
