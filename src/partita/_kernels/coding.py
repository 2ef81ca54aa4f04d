"""Codes for a table of whole numbers that lie close together."""

from __future__ import annotations

from partita._kernels._jit import jit


@jit
def extent(values, start, stop, low, high):
    """Smallest and largest number of every column in rows start..stop."""
    m = values.shape[1]
    for i in range(m):
        low[i] = values[start, i]
        high[i] = values[start, i]
    for x in range(start, stop):
        for i in range(m):
            low[i] = min(low[i], values[x, i])
            high[i] = max(high[i], values[x, i])


@jit
def mark(values, low, start, stop, present):
    """present[i, v - low[i]] becomes True for every number v of column i in rows start..stop.

    False, and nothing is said, if there is a number that has no place.
    """
    span = present.shape[1]
    for x in range(start, stop):
        for i in range(values.shape[1]):
            v = values[x, i]
            if v < low[i] or v - low[i] >= span:
                return False
            present[i, v - low[i]] = True
    return True


@jit
def recode(values, low, codes, start, stop, out):
    """out[x, i] = codes[i, v - low[i]] for the numbers v of rows start..stop."""
    for x in range(start, stop):
        for i in range(values.shape[1]):
            out[x, i] = codes[i, values[x, i] - low[i]]
