"""Hierarchical clustering by nearest-neighbor chains on a full square matrix."""

from __future__ import annotations

import numpy as np

from partita._kernels._compiled._jit import jit
from partita._kernels.chains import AVERAGE, KEPT, SINGLE

_BLOCK = 256  # distances that are compared with the smallest one at a time


def merge_nearest(size, linkage, matrix, left, right, height):
    """Write a merged cluster as a row only, not as a column, which is far apart in memory.

    A row is completed when it is read next, by the entries of the clusters that changed since.
    Often these are few: of many merges into a cluster only the last counts.
    """
    n = len(matrix)
    flat = np.ascontiguousarray(matrix).reshape(-1)
    numbers, times = np.array([np.arange(n)] * 2), np.full((4, n), -1)
    _merge(linkage, np.zeros((2, n)), numbers, times, flat, size.copy(), left, right, height)


@jit(allocates=False)
def _merge(linkage, distances, numbers, times, flat, size, left, right, height):
    """Fill `left`, `right`, `height` as `merge_nearest` does.

    `flat`, `size` and these are overwritten:

    distances : 0 or infinity for clusters that are left or not, and scratch
    numbers : first rows of clusters, and chain
    times : merge that wrote each row, merge up to which it is complete, and the list of the rows
        that were written, as the numbers of the row before and of the next one
    """
    removed, distance = distances[0], distances[1]
    row, chain = numbers[0], numbers[1]
    written, complete, before, after = times[0], times[1], times[2], times[3]
    n = width = len(row)
    newest, tip = -1, 0
    for t in range(n - 1):
        if tip == 0:
            if n - t < KEPT * width:
                width = _compact(
                    newest, width, flat, size, removed, row, chain, written, complete, before, after
                )
                newest = -1
            chain[0] = _first_left(removed)
            tip = 1
        while True:
            a = chain[tip - 1]
            _complete(newest, a, width, written, before, complete, flat)
            complete[a] = t - 1
            removed[a] = np.inf
            b = _nearest(a, width, flat, size, removed, distance)
            if b < 0:  # no distance is below infinity; the matrix should be finite
                b = chain[tip - 2] if tip > 1 else _first_left(removed)
            removed[a] = 0.0
            if tip > 1 and not distance[b] < distance[chain[tip - 2]]:
                b = chain[tip - 2]
                break
            if tip == n:
                chain[0] = a
                tip = 1
            chain[tip] = b
            tip += 1
        low, high = (a, b) if a < b else (b, a)
        left[t], right[t], height[t] = row[low], row[high], distance[b]
        _complete(newest, b, width, written, before, complete, flat)
        _unite(linkage, high, low, width, flat)
        removed[high] = np.inf
        if linkage == AVERAGE:
            size[low] += size[high]
        if written[low] >= 0:
            newest = _take_out(low, newest, before, after)
        if written[high] >= 0:
            newest = _take_out(high, newest, before, after)
        written[low], complete[low], written[high] = t, t, -1
        before[low], after[low] = newest, -1
        if newest >= 0:
            after[newest] = low
        newest = low
        tip -= 2
        for place in range(tip):
            if chain[place] == low or chain[place] == high:
                tip = place
                break


@jit(inner=True, allocates=False)
def _nearest(a, width, flat, size, removed, distance):
    """Fill `distance` with those of cluster a; return the first nearest, -1 if none is finite."""
    # unsigned, as numba counts signed indices from the end if they could be negative
    row, own_size = np.uint64(a * width), size[a]
    best, nearest = np.inf, np.int64(-1)
    for start in range(0, width, _BLOCK):
        end = start + _BLOCK
        first, last = np.uint64(start), np.uint64(end if end < width else width)
        n_nearer = 0
        for b in range(first, last):
            # `/` would test for zero, one number at a time
            distance[b] = np.true_divide(flat[row + b], own_size * size[b]) + removed[b]
        for b in range(first, last):
            n_nearer += distance[b] < best
        if n_nearer:
            for b in range(first, last):
                if distance[b] < best:
                    best, nearest = distance[b], np.int64(b)
    return nearest


@jit(inner=True, allocates=False)
def _complete(newest, a, width, written, before, complete, flat):
    """Update row a of `flat` in place by the columns of the clusters that were written since."""
    start = a * width
    b = newest
    while b >= 0 and written[b] > complete[a]:
        flat[start + b] = flat[b * width + a]
        b = before[b]


@jit(inner=True, allocates=False)
def _unite(linkage, high, low, width, flat):
    """Update row `low` of `flat` in place: it becomes that of the union with cluster `high`."""
    other, own = np.uint64(high * width), np.uint64(low * width)
    for b in range(np.uint64(width)):
        x, y = flat[other + b], flat[own + b]
        if linkage == AVERAGE:
            flat[own + b] = y + x
        elif linkage == SINGLE:
            flat[own + b] = x if x < y else y
        else:
            flat[own + b] = x if x > y else y


@jit(inner=True, allocates=False)
def _take_out(cluster, newest, before, after):
    """Update the list `before`, `after` in place; return its newest cluster."""
    if after[cluster] >= 0:
        before[after[cluster]] = before[cluster]
    else:
        newest = before[cluster]
    if before[cluster] >= 0:
        after[before[cluster]] = after[cluster]
    return newest


@jit(inner=True, allocates=False)
def _first_left(removed):
    """Return the number of the first cluster that is left."""
    first = 0
    while removed[first] != 0.0:
        first += 1
    return first


@jit(inner=True, allocates=False)
def _compact(newest, width, flat, size, removed, row, chain, written, complete, before, after):
    """Keep the rows of clusters that are left; return their number.

    Update `flat`, `size`, `removed`, `row`, `written`, `complete`, `before` and `after` in place;
    `chain` is scratch.
    """
    n = 0
    for a in range(width):
        if removed[a] == 0.0:
            _complete(newest, a, width, written, before, complete, flat)
            chain[n], row[n], size[n] = a, row[a], size[a]
            n += 1
    for i in range(n):  # rows move only to the front, behind those still to be read
        target, source = i * n, chain[i] * width
        for j in range(n):
            flat[target + j] = flat[source + chain[j]]
    for a in range(n):
        removed[a] = 0.0
        written[a] = complete[a] = before[a] = after[a] = -1
    return n
