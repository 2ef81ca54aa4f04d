"""Coding of a table of integers in a small range."""

from __future__ import annotations

from partita._kernels._compiled._jit import jit


@jit(allocates=False)
def extent(values, start, stop, low, high):
    m = values.shape[1]
    for i in range(m):
        low[i] = values[start, i]
        high[i] = values[start, i]
    for x in range(start, stop):
        for i in range(m):
            low[i] = min(low[i], values[x, i])
            high[i] = max(high[i], values[x, i])


@jit(allocates=False)
def shift(values, low, high, start, stop, shifted, is_present):
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


@jit(allocates=False)
def recode(shifted, codes, start, stop, out):
    for x in range(start, stop):
        for i in range(shifted.shape[1]):
            out[x, i] = codes[i, shifted[x, i]]
