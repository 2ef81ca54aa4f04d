"""Quantization of the tables that `label_search` reads: entries become integer steps."""

from __future__ import annotations

import math

import numpy as np

from partita._kernels._dispatch import kernel

LANES = 16  # 16-bit numbers in a vector register
_CACHE_LINE = 64  # bytes
_MANY_COLUMNS = 5 * LANES


def padded_width(n):
    """Return the width to which a table with n columns must be padded.

    Compilers add twice as many numbers at once where registers are longer. A wide table whose width
    is an odd multiple of `LANES` then takes longer than one that is padded further.
    """
    step = LANES if n <= _MANY_COLUMNS else 2 * LANES
    return -(-n // step) * step


def whole_cache_lines(shape, dtype):
    """Return an array of zeros that begins at a cache line and shares no line with other arrays.

    Vectors that cross a cache line take twice as long to read, and threads that write to the same
    line wait for each other.
    """
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    memory = np.zeros(n_bytes + 2 * _CACHE_LINE, np.uint8)
    begin = -memory.__array_interface__["data"][0] % _CACHE_LINE
    return memory[begin : begin + n_bytes].view(dtype).reshape(shape)


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
