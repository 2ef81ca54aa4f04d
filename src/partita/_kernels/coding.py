"""Coding of a table of integers in a small range."""

from __future__ import annotations

from partita._kernels._jit import jit


@jit
def extent(values, start, stop, low, high):
    """Fill `low` and `high` with the extremes of every column in rows start..stop."""
    m = values.shape[1]
    for i in range(m):
        low[i] = values[start, i]
        high[i] = values[start, i]
    for x in range(start, stop):
        for i in range(m):
            low[i] = min(low[i], values[x, i])
            high[i] = max(high[i], values[x, i])


@jit
def shift(values, low, high, start, stop, shifted, is_present):
    """Fill rows start..stop of `shifted` with values - low, and set `is_present` for each of them.

    Return False if a value of column i is outside low[i]..high[i]; the arrays are then incomplete.
    """
    for x in range(start, stop):
        for i in range(values.shape[1]):
            if values[x, i] < low[i] or values[x, i] > high[i]:  # the difference could overflow
                return False
            difference = values[x, i] - low[i]
            shifted[x, i] = difference
            # a write would invalidate the cache line of other threads
            if not is_present[i, difference]:
                is_present[i, difference] = True
    return True


@jit
def recode(shifted, codes, start, stop, out):
    """Fill rows start..stop of `out`: out[x, i] = codes[i, shifted[x, i]]."""
    for x in range(start, stop):
        for i in range(shifted.shape[1]):
            out[x, i] = codes[i, shifted[x, i]]
