"""Solution of a sparse factorized system with many right-hand sides."""

from __future__ import annotations

import numpy as np

from partita._kernels._compiled._jit import jit

_WIDTH = 64  # columns solved together: eight cache lines per row


@jit(inner=True)
def _subtract(factor, i, total, panel):
    """Update row i of `panel` in place: subtract row i of factor @ panel; overwrite `total`."""
    begin, columns, values = factor
    if begin[i] == begin[i + 1]:
        return
    total[:] = 0.0
    for p in range(begin[i], begin[i + 1]):
        value = values[p]
        other = panel[columns[p]]
        for j in range(_WIDTH):
            total[j] += value * other[j]
    for j in range(_WIDTH):
        panel[i, j] -= total[j]


@jit
def solve_columns(lower, pivot, upper, levels, start, stop, matrix):
    """Copy columns to a panel, so that the rows of an entry are close together in memory."""
    n = len(pivot)
    panel = np.zeros((n, _WIDTH))
    total = np.zeros(_WIDTH)
    for first in range(start, stop, _WIDTH):
        width = min(_WIDTH, stop - first)
        for i in range(levels[0], levels[-1]):
            entries, row = matrix[i, first : first + width], panel[i]
            for j in range(width):
                row[j] = entries[j]
            _subtract(lower, i, total, panel)
        for i in range(n - 1, -1, -1):
            entries, row, scale = matrix[i, first : first + width], panel[i], 1.0 / pivot[i]
            for j in range(_WIDTH):
                row[j] *= scale
            _subtract(upper, i, total, panel)
            for j in range(width):
                entries[j] = row[j]
