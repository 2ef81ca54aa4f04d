"""Sums of table rows, for compiled kernels."""

from __future__ import annotations

import numpy as np

from partita._kernels._compiled._jit import jit

__all__ = ["add_costs"]


@jit(inner=True)
def add_costs(table, rows, first, last, origin, step, factor, sums, costs):
    """Add factor (n origin + step q) to `costs`, q being the sum of n = last - first table rows.

    table : int8 or int16 of shape (., width)
    rows : int32, numbers of table rows, of which those at first..last are added
    origin, step, costs : float32 of shape (width,); the width is a `padded_width`
    sums : scratch, int16 of shape (width,)

    Sums q have 16 bits and must not overflow.
    """
    width, whole = np.uint64(len(costs)), last - (last - first) % 8
    for k in range(width):
        sums[k] = 0
    for a in range(first, whole, 8):  # eight at a time: the sums are stored less often
        t0, t1 = table[np.uint32(rows[a])], table[np.uint32(rows[a + 1])]
        t2, t3 = table[np.uint32(rows[a + 2])], table[np.uint32(rows[a + 3])]
        t4, t5 = table[np.uint32(rows[a + 4])], table[np.uint32(rows[a + 5])]
        t6, t7 = table[np.uint32(rows[a + 6])], table[np.uint32(rows[a + 7])]
        for k in range(width):
            total = np.int16(t0[k]) + np.int16(t1[k]) + np.int16(t2[k]) + np.int16(t3[k])
            total += np.int16(t4[k]) + np.int16(t5[k]) + np.int16(t6[k]) + np.int16(t7[k])
            sums[k] += np.int16(total)
    for a in range(whole, last):
        entries = table[np.uint32(rows[a])]
        for k in range(width):
            sums[k] += np.int16(entries[k])
    n = np.float32(last - first)
    for k in range(width):
        costs[k] += factor * (n * origin[k] + step[k] * np.float32(sums[k]))
