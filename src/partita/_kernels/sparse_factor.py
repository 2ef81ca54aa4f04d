"""Solution of a sparse factorized system with many right-hand sides."""

from __future__ import annotations

import numpy as np

from partita._kernels._compiled._jit import jit

_WIDTH = 64  # columns solved together: eight cache lines per row


@jit
def solve_columns(indptr, indices, lower, pivot, upper, start, stop, matrix):
    """Update columns start..stop of `matrix` in place with X in (I + L) D (I + R) X = matrix.

    L is strictly lower triangular, and R has the pattern of its transpose. Row i of L has the
    columns indices[indptr[i]:indptr[i + 1]] and the values `lower`; column i of R has the values
    `upper` at the same positions. D has the diagonal `pivot`. Columns are copied to a panel, so
    that the rows of an entry are close together in memory.
    """
    n = len(pivot)
    panel = np.zeros((n, _WIDTH))
    for first in range(start, stop, _WIDTH):
        width = min(_WIDTH, stop - first)
        for i in range(n):
            row = panel[i]
            for j in range(width):
                row[j] = matrix[i, first + j]
            for p in range(indptr[i], indptr[i + 1]):
                factor = lower[p]
                other = panel[indices[p]]
                for j in range(_WIDTH):
                    row[j] -= factor * other[j]
        for i in range(n):
            row = panel[i]
            for j in range(_WIDTH):
                row[j] /= pivot[i]
        for i in range(n - 1, -1, -1):
            row = panel[i]
            for p in range(indptr[i], indptr[i + 1]):
                factor = upper[p]
                other = panel[indices[p]]
                for j in range(_WIDTH):
                    other[j] -= factor * row[j]
            for j in range(width):
                matrix[i, first + j] = row[j]
