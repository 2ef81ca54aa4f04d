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
def place(values, low, high, start, stop, places, present):
    """places[x, i] = v - low[i] for every number v of column i in rows start..stop, which is there.

    False, and nothing else is sure, if a number is not within low[i]..high[i].
    """
    for x in range(start, stop):
        for i in range(values.shape[1]):
            if values[x, i] < low[i] or values[x, i] > high[i]:  # the difference might overflow
                return False
            above = values[x, i] - low[i]
            places[x, i] = above
            if not present[i, above]:  # other threads read this, and would have to fetch it again
                present[i, above] = True
    return True


@jit
def recode(places, codes, start, stop, out):
    """out[x, i] = codes[i, places[x, i]] for rows start..stop."""
    for x in range(start, stop):
        for i in range(places.shape[1]):
            out[x, i] = codes[i, places[x, i]]
