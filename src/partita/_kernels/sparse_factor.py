"""Solution of a sparse factorized system with many right-hand sides."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from partita._kernels._dispatch import kernel


@kernel
def solve_columns(lower, pivot, upper, levels, start, stop, matrix):
    """Update columns start..stop of `matrix` in place with X in (I + L) D (I + R) X = matrix.

    L and R are strictly lower and upper triangular. The records `lower` and `upper` have the begin
    of every row, the columns and the values of their entries. D has the diagonal `pivot`. Rows
    levels[k]..levels[k + 1] do not depend on each other. Sums run over the entries of a row in
    their order, in double precision.
    """
    panel = np.ascontiguousarray(matrix[:, start:stop], np.float64)
    rows = [slice(first, last) for first, last in pairwise(levels.tolist())]
    for level in rows:
        panel[level] -= _rows(lower, level, len(pivot)) @ panel
    panel *= 1.0 / pivot[:, None]
    for level in reversed(rows):
        panel[level] -= _rows(upper, level, len(pivot)) @ panel
    matrix[:, start:stop] = panel


def _rows(factor, level, n):
    """Return some rows of a factor."""
    begin, columns, values = factor
    first, last = begin[level.start], begin[level.stop]
    entries = values[first:last], columns[first:last], begin[level.start : level.stop + 1] - first
    return sp.csr_matrix(entries, shape=(level.stop - level.start, n))
