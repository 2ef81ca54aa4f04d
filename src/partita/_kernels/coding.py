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
    block = values[start:stop]
    if ((block < low) | (block > high)).any():  # the difference could overflow
        return False
    difference = block - low
    shifted[start:stop] = difference
    is_present[np.arange(values.shape[1]), difference.astype(np.int64, copy=False)] = True
    return True


@kernel
def recode(shifted, codes, start, stop, out):
    """Fill rows start..stop of `out`: out[x, i] = codes[i, shifted[x, i]]."""
    out[start:stop] = codes[np.arange(shifted.shape[1]), shifted[start:stop]]
