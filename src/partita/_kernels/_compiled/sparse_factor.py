"""Solution of a sparse factorized system with many right-hand sides."""

from __future__ import annotations

import numpy as np

from partita._kernels._compiled._jit import jit

_WIDTH = 64  # columns solved together: eight cache lines per row


@jit(inner=True, allocates=False)
def _subtract(begin, columns, values, i, total, panel):
    """Update row i of `panel` in place: subtract row i of factor @ panel; overwrite `total`."""
    if begin[i] == begin[i + 1]:
        return
    for j in range(_WIDTH):
        total[j] = 0.0
    for p in range(begin[i], begin[i + 1]):
        value = values[p]
        other = panel[columns[p]]
        for j in range(_WIDTH):
            total[j] += value * other[j]
    for j in range(_WIDTH):
        panel[i, j] -= total[j]


def solve_columns(lower, pivot, upper, levels, start, stop, matrix):
    """Copy columns to a panel, so that the rows of an entry are close together in memory."""
    lower_begin, lower_columns, lower_values = lower
    begin, columns, values = upper
    panel, total = np.zeros((len(pivot), _WIDTH)), np.empty(_WIDTH)
    _solve_columns(
        lower_begin, lower_columns, lower_values, pivot, begin, columns, values, levels[0],
        levels[-1], start, stop, panel, total, matrix,
    )  # fmt: skip


@jit(allocates=False)
def _solve_columns(
    lower_begin, lower_columns, lower_values, pivot, begin, columns, values, top, bottom, start,
    stop, panel, total, matrix,
):  # fmt: skip
    """Update `matrix` as `solve_columns` does; `panel`, of zeros, and `total` are scratch."""
    n = len(pivot)
    for first in range(start, stop, _WIDTH):
        width = stop - first if stop - first < _WIDTH else _WIDTH
        for i in range(top, bottom):
            entries, row = matrix[i, first : first + width], panel[i]
            for j in range(width):
                row[j] = entries[j]
            _subtract(lower_begin, lower_columns, lower_values, i, total, panel)
        for i in range(n - 1, -1, -1):
            row, scale = panel[i], 1.0 / pivot[i]
            for j in range(_WIDTH):
                row[j] *= scale
            _subtract(begin, columns, values, i, total, panel)
            for j in range(width):
                matrix[i, first + j] = row[j]
