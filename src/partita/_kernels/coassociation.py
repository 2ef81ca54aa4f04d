"""Pairs of rows: in how many partitions do they share a cluster?"""

from __future__ import annotations

import numpy as np

from partita._kernels._jit import jit

_COLUMNS = 256  # one tile of 100 partitions' labels, 25 kB of bytes, stays in the first-level cache
_ROWS = 64


@jit
def count_rows(columns, missing, start, stop, out):
    """Agreements of rows start..stop with all later rows, and their mirror images.

    `columns` is (m, n): a partition's labels lie side by side, so that one comparison instruction
    serves 32 rows. Accumulators are as narrow as the number of partitions allows.
    """
    m, n = columns.shape
    narrow = np.zeros((_ROWS, _COLUMNS), np.uint8)
    wide = np.zeros((_ROWS, _COLUMNS), np.uint32)
    for top in range(start, stop, _ROWS):
        bottom = min(top + _ROWS, stop)
        for left in range((top // _COLUMNS) * _COLUMNS, n, _COLUMNS):
            width = min(_COLUMNS, n - left)
            wide[:] = 0
            for first in range(0, m, 255):
                last = min(first + 255, m)
                for a in range(top, bottom):
                    acc = narrow[a - top]
                    acc[:] = 0
                    for i in range(first, last):
                        label = columns[i, a]
                        if label != missing:
                            tile = columns[i, left : left + width]
                            for b in range(width):
                                acc[b] += np.uint8(tile[b] == label)
                    for b in range(width):
                        wide[a - top, b] += acc[b]
            for a in range(top, bottom):
                for b in range(max(left, a), left + width):
                    out[a, b] = wide[a - top, b - left]
            for b in range(left, left + width):
                for a in range(top, min(bottom, b + 1)):
                    out[b, a] = wide[a - top, b - left]


@jit
def weigh_rows(columns, missing, offsets, value, start, stop, out):
    """Like `count_rows`, but an agreement in cluster c adds value[c]; partitions in their order."""
    m, n = columns.shape
    tile = np.zeros((_ROWS, _COLUMNS), np.float64)
    for top in range(start, stop, _ROWS):
        bottom = min(top + _ROWS, stop)
        for left in range((top // _COLUMNS) * _COLUMNS, n, _COLUMNS):
            width = min(_COLUMNS, n - left)
            for a in range(top, bottom):
                acc = tile[a - top]
                acc[:] = 0.0
                for i in range(m):
                    label = columns[i, a]
                    if label != missing:
                        gain = value[offsets[i] + np.int64(label)]
                        row = columns[i, left : left + width]
                        for b in range(width):
                            acc[b] += gain if row[b] == label else 0.0
            for a in range(top, bottom):
                for b in range(max(left, a), left + width):
                    out[a, b] = tile[a - top, b - left]
            for b in range(left, left + width):
                for a in range(top, min(bottom, b + 1)):
                    out[b, a] = tile[a - top, b - left]
