"""Systems with a sparse factor and many right-hand sides."""

from __future__ import annotations

import numpy as np

from partita._kernels._jit import jit

_WIDTH = 64  # columns solved together: eight cache lines a row


@jit
def solve_columns(indptr, indices, lower, pivot, upper, matrix, start, stop):
    """Columns start..stop of X in (I + L) D (I + R) X = matrix, in place.

    L is strictly lower triangular; R has its transpose's pattern. Row i of L lies in
    indices[indptr[i]:indptr[i + 1]] with values `lower`; the values of R's column i are `upper`,
    at the same positions. Columns are copied to a panel, so that the rows an entry touches lie
    close together.
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
