"""Co-association: number, or total weight, of the base clusters that two rows share."""

from __future__ import annotations

import numpy as np

from partita._kernels._compiled._jit import jit

_COLUMNS = 256  # a tile of the codes of 100 partitions, 25 kB, stays in the first-level cache
_ROWS = 64


@jit
def count_rows(columns, missing_code, start, stop, out):
    """Fill `out` with the agreements of rows start..stop with all later rows, and symmetrically.

    `columns` is (m, n): the codes of a partition are contiguous, so that one instruction compares
    32 rows. Accumulators have 8 bits and are added to 32-bit ones after 255 partitions.
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
                        code = columns[i, a]
                        if code != missing_code:
                            tile = columns[i, left : left + width]
                            for b in range(width):
                                acc[b] += np.uint8(tile[b] == code)
                    for b in range(width):
                        wide[a - top, b] += acc[b]
            for a in range(top, bottom):
                for b in range(max(left, a), left + width):
                    out[a, b] = wide[a - top, b - left]
            for b in range(left, left + width):
                for a in range(top, min(bottom, b + 1)):
                    out[b, a] = wide[a - top, b - left]


@jit
def weigh_rows(columns, missing_code, offsets, value, start, stop, out):
    """Fill `out` as `count_rows` does, but an agreement in base cluster c counts value[c].

    Sums run over the partitions in their order.
    """
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
                    code = columns[i, a]
                    if code != missing_code:
                        gain = value[offsets[i] + np.int64(code)]
                        row = columns[i, left : left + width]
                        for b in range(width):
                            acc[b] += gain if row[b] == code else 0.0
            for a in range(top, bottom):
                for b in range(max(left, a), left + width):
                    out[a, b] = tile[a - top, b - left]
            for b in range(left, left + width):
                for a in range(top, min(bottom, b + 1)):
                    out[b, a] = tile[a - top, b - left]
