"""Quantization of the tables that `label_search` reads: entries become integer steps."""

from __future__ import annotations

import numpy as np

from partita._kernels._compiled._jit import jit
from partita._kernels._compiled._vectors import padded_width

__all__ = ["MAX_ENTRY", "padded_width", "quantization_steps", "quantize", "table_extremes"]

MAX_ENTRY = {np.dtype(np.int8): 127, np.dtype(np.int16): 511}  # largest entry by type
_HALF_ULP = 2.0**-24  # relative error of rounding to single precision


@jit
def table_extremes(lookup, previous, offsets, first, last, extremes):
    """Fill `extremes` of partitions first..last with the extreme entries and changes of a table.

    extremes : lowest, highest, largest_change, smallest_change, each of shape (m, K); changes are
    lookup - previous.
    """
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


@jit
def quantization_steps(lowest, highest, unit, max_entry, n_roundings, middle, per_step, columns):
    """Fill `middle` and `per_step`, which `quantize` takes, and `columns`, see `assign`.

    lowest, highest : extremes of the columns of a table
    max_entry : entries are in -max_entry..max_entry
    n_roundings : upper bound of the number of roundings to single precision in a cost
    columns : step, origin and reach of every column, in units of `unit`
    """
    for k in range(len(lowest)):
        low, high = unit * lowest[k], unit * highest[k]
        # center and step are rounded to single precision first, so that both are exact below
        center = np.float64(np.float32((low + high) / 2))
        span = max(high - center, center - low)
        step = np.float64(np.float32(span * ((1.0 + 2.0**-20) / max_entry)))
        reach = 0.5 * step + _HALF_ULP * n_roundings * max(abs(low), abs(high))
        columns[0, k] = step
        columns[1, k] = center - reach
        columns[2, k] = reach
        middle[k] = center / unit
        per_step[k] = unit / step if step > 0.0 else 0.0


@jit
def quantize(table, middle, per_step, first, last, out):
    """Fill rows first..last of `out` with integer steps from the middle of each column."""
    for c in range(first, last):
        row, steps = table[c], out[c]
        for k in range(table.shape[1]):
            # by way of int32, to which vector instructions convert doubles directly
            steps[k] = np.int32(np.rint((row[k] - middle[k]) * per_step[k]))
