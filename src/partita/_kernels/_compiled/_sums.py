"""Sums of table rows, for compiled kernels."""

from __future__ import annotations

import numpy as np

from partita._kernels._compiled._jit import jit

__all__ = ["add_costs"]


@jit(inner=True)
def add_costs(table, rows, first, last, origin, step, factor, sums, costs):
    """Add factor (n origin + step q) to `costs`, q being the sum of n = last - first table rows.

    table : int8 or int16 of shape (., width)
    rows : uint32, numbers of table rows, of which those at first..last are added
    origin, step, costs : float32 of shape (width,); the width is a `padded_width`
    sums : scratch, int16 of shape (width,)

    Sums q have 16 bits and must not overflow.
    """
    width, whole = np.uint64(len(costs)), last - (last - first) % 8
    for k in range(width):
        sums[k] = 0
    for a in range(first, whole, 8):  # eight at a time: the sums are stored less often
        a0, a1, a2, a3 = rows[a], rows[a + 1], rows[a + 2], rows[a + 3]
        a4, a5, a6, a7 = rows[a + 4], rows[a + 5], rows[a + 6], rows[a + 7]
        for k in range(width):
            total = table[a0, k] + table[a1, k] + table[a2, k] + table[a3, k]
            sums[k] += total + table[a4, k] + table[a5, k] + table[a6, k] + table[a7, k]
    for a in range(whole, last):
        row = rows[a]
        for k in range(width):
            sums[k] += table[row, k]
    n = np.float32(last - first)
    for k in range(width):
        costs[k] += factor * (n * origin[k] + step[k] * np.float32(sums[k]))
