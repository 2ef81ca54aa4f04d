"""Coding of a table of integers in a small range."""

from __future__ import annotations

import numpy as np

from partita._kernels._dispatch import kernel


@kernel
def extent(values, start, stop, low, high):
    """Fill `low` and `high` with the extremes of every column in rows start..stop."""
    values[start:stop].min(axis=0, out=low)
    values[start:stop].max(axis=0, out=high)


@kernel
def shift(values, low, high, start, stop, shifted, is_present):
    """Fill rows start..stop of `shifted` with values - low, and set `is_present` for each of them.

    Return False if a value of column i is outside low[i]..high[i]; the arrays are then incomplete.
    """
    # of unsigned numbers: a value below `low`, or a difference that overflows, is too large
    difference = values[start:stop].view(np.uint64) - low.view(np.uint64)
    if (difference > (high - low).view(np.uint64)).any():
        return False
    shifted[start:stop] = difference
    is_present.reshape(-1)[_cells(shifted[start:stop], is_present.shape[1])] = True
    return True


def _cells(columns, width):
    """Return the position of every entry in a table that has a row of `width` for each column."""
    return columns + np.arange(columns.shape[1]) * width


@kernel
def recode(shifted, codes, start, stop, out):
    """Fill rows start..stop of `out`: out[x, i] = codes[i, shifted[x, i]]."""
    out[start:stop] = codes.reshape(-1)[_cells(shifted[start:stop], codes.shape[1])]
