"""Co-association: number, or total weight, of the base clusters that two rows share.

The codes of a partition are contiguous in `columns`, so that one instruction compares 32 rows. The
matrix is computed tile by tile, and every tile is written to both triangles.
"""

from __future__ import annotations

import numpy as np

from partita._kernels._compiled._jit import jit

_COLUMNS = 256  # a tile of the codes of 100 partitions, 25 kB, stays in the first-level cache
_ROWS = 64


@jit(inner=True, allocates=False)
def _count_tile(columns, missing_code, top, bottom, left, right, narrow, wide):
    """Fill `wide` with agreements of rows top..bottom and left..right; `narrow` is for its use.

    Accumulators have 8 bits and are added to 32-bit ones after 255 partitions.
    """
    m = columns.shape[0]
    width = right - left
    for a in range(top, bottom):
        for b in range(width):
            wide[a - top, b] = 0
        for first in range(0, m, 255):
            for b in range(width):
                narrow[b] = 0
            for i in range(first, min(first + 255, m)):
                code = columns[i, a]
                if code != missing_code:
                    row = columns[i, left:right]
                    for b in range(width):
                        narrow[b] += np.uint8(row[b] == code)
            for b in range(width):
                wide[a - top, b] += narrow[b]


def _counters():
    """Return scratch for `_count_tile`: counters of 8 bits of a row, and of 32 bits of a tile."""
    return np.empty(_COLUMNS, np.uint8), np.empty((_ROWS, _COLUMNS), np.uint32)


def count_rows(columns, missing_code, table, start, stop, out):
    narrow, wide = _counters()
    _count_rows(columns, missing_code, table, start, stop, narrow, wide, out)


@jit(allocates=False)
def _count_rows(columns, missing_code, table, start, stop, narrow, wide, out):
    """Fill `out` as `count_rows` does; `narrow` and `wide` are scratch."""
    n = columns.shape[1]
    for top in range(start, stop, _ROWS):
        bottom = min(top + _ROWS, stop)
        for left in range((top // _COLUMNS) * _COLUMNS, n, _COLUMNS):
            right = min(left + _COLUMNS, n)
            _count_tile(columns, missing_code, top, bottom, left, right, narrow, wide)
            for a in range(top, bottom):
                for b in range(max(left, a), right):
                    out[a, b] = table[wide[a - top, b - left]]
            for b in range(left, right):
                for a in range(top, min(bottom, b)):
                    out[b, a] = table[wide[a - top, b - left]]


def divide_rows(columns, missing_code, start, stop, out):
    narrow, wide = _counters()
    _divide_rows(columns, missing_code, start, stop, narrow, wide, out)


@jit(allocates=False)
def _divide_rows(columns, missing_code, start, stop, narrow, wide, out):
    """Fill `out` as `divide_rows` does; `narrow` and `wide` are scratch."""
    n = columns.shape[1]
    for top in range(start, stop, _ROWS):
        bottom = min(top + _ROWS, stop)
        for left in range((top // _COLUMNS) * _COLUMNS, n, _COLUMNS):
            right = min(left + _COLUMNS, n)
            _count_tile(columns, missing_code, top, bottom, left, right, narrow, wide)
            for a in range(top, bottom):
                for b in range(max(left, a), right):
                    out[a, b] /= max(wide[a - top, b - left], np.uint32(1))
            for b in range(left, right):
                for a in range(top, min(bottom, b)):
                    out[b, a] /= max(wide[a - top, b - left], np.uint32(1))


def weigh_rows(columns, missing_code, offsets, value, divisor, start, stop, out):
    tile = np.empty((_ROWS, _COLUMNS))
    _weigh_rows(columns, missing_code, offsets, value, divisor, start, stop, tile, out)


@jit(allocates=False)
def _weigh_rows(columns, missing_code, offsets, value, divisor, start, stop, tile, out):
    """Fill `out` as `weigh_rows` does; `tile` is scratch."""
    m, n = columns.shape
    for top in range(start, stop, _ROWS):
        bottom = min(top + _ROWS, stop)
        for left in range((top // _COLUMNS) * _COLUMNS, n, _COLUMNS):
            width = min(_COLUMNS, n - left)
            for a in range(top, bottom):
                total = tile[a - top]
                for b in range(width):
                    total[b] = 0.0
                for i in range(m):
                    code = columns[i, a]
                    if code != missing_code:
                        gain = value[offsets[i] + np.int64(code)]
                        row = columns[i, left : left + width]
                        for b in range(width):
                            total[b] += gain if row[b] == code else 0.0
                for b in range(width):
                    total[b] /= divisor
            for a in range(top, bottom):
                for b in range(max(left, a), left + width):
                    out[a, b] = tile[a - top, b - left]
            for b in range(left, left + width):
                for a in range(top, min(bottom, b)):
                    out[b, a] = tile[a - top, b - left]
