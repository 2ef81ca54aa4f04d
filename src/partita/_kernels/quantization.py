"""Quantization of the tables that `label_search` reads: entries become integer steps."""

from __future__ import annotations

import numpy as np

from partita._kernels._dispatch import kernel

LANES = 16  # 16-bit numbers in a vector register


def padded_width(n):
    """Return the width to which a table with n columns must be padded."""
    return -(-n // LANES) * LANES


@kernel
def table_extremes(lookup, previous, offsets, first, last, extremes):
    """Fill `extremes` of partitions first..last with the extreme entries and changes of a table.

    extremes : lowest, highest, largest_change, smallest_change, each of shape (m, K); changes are
    lookup - previous.
    """
    lowest, highest, largest_change, smallest_change = extremes
    clusters, begins = slice(offsets[first], offsets[last]), offsets[first:last] - offsets[first]
    values = lookup[clusters]
    changes = values - previous[clusters]
    np.minimum.reduceat(values, begins, axis=0, out=lowest[first:last])
    np.maximum.reduceat(values, begins, axis=0, out=highest[first:last])
    np.maximum.reduceat(changes, begins, axis=0, out=largest_change[first:last])
    np.minimum.reduceat(changes, begins, axis=0, out=smallest_change[first:last])


@kernel
def quantize(table, middle, per_step, first, last, out):
    """Fill rows first..last of `out` with integer steps from the middle of each column.

    `out` may have more columns than `table`; they stay as they are.
    """
    out[first:last, : table.shape[1]] = np.rint((table[first:last] - middle) * per_step)
