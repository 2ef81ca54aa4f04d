"""Quantization of the tables that `label_search` reads: entries become integer steps."""

from __future__ import annotations

import numpy as np

from partita._kernels._compiled._jit import jit


@jit(allocates=False)
def table_extremes(lookup, previous, offsets, first, last, extremes):
    lowest, highest, largest_change, smallest_change = extremes
    n_groups = np.uint64(lookup.shape[1])  # unsigned: numba does not test for negative indices
    for i in range(first, last):
        begin, end = np.uint64(offsets[i]), np.uint64(offsets[i + 1])
        for k in range(n_groups):
            low, high, top, bottom = np.inf, -np.inf, -np.inf, np.inf
            for c in range(begin, end):
                value = lookup[c, k]
                change = value - previous[c, k]
                low = value if value < low else low
                high = value if value > high else high
                top = change if change > top else top
                bottom = change if change < bottom else bottom
            lowest[i, k], highest[i, k] = low, high
            largest_change[i, k], smallest_change[i, k] = top, bottom


@jit(allocates=False)
def quantize(table, middle, per_step, first, last, out):
    for c in range(first, last):
        row, steps = table[c], out[c]
        for k in range(table.shape[1]):
            # by way of int32, to which vector instructions convert doubles directly
            steps[k] = np.int32(np.rint((row[k] - middle[k]) * per_step[k]))
