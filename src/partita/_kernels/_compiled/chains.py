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
    _merge(linkage, np.zeros((2, n)), numbers, flat, size.copy(), times, left, right, height)


@jit
def _merge(linkage, distances, numbers, flat, size, times, left, right, height):
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
                width = _compact(newest, width, flat, size, removed, row, chain, times)
                newest = -1
            chain[0] = _first_left(removed)
            tip = 1
        while True:
            a = chain[tip - 1]
            _complete(newest, a, width, written, before, complete, flat)
            complete[a] = t - 1
            removed[a] = np.inf
            b = _nearest(flat[a * width : (a + 1) * width], size, removed, size[a], distance)
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
        low, high = min(a, b), max(a, b)
        left[t], right[t], height[t] = row[low], row[high], distance[b]
        _complete(newest, b, width, written, before, complete, flat)
        _unite(
            linkage,
            flat[high * width : (high + 1) * width],
            flat[low * width : (low + 1) * width],
        )
        removed[high] = np.inf
        if linkage == AVERAGE:
            size[low] += size[high]
        for cluster in (low, high):
            if written[cluster] >= 0:
                newest = _take_out(cluster, newest, before, after)
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


@jit(inner=True)
def _nearest(row, size, removed, own_size, distance):
    """Fill `distance`, and return the number of the first smallest one; -1 if none is finite."""
    n = len(row)
    best, nearest = np.inf, np.int64(-1)
    for start in range(0, n, _BLOCK):
        # unsigned, as numba counts signed indices from the end if they could be negative
        first, last = np.uint64(start), np.uint64(min(start + _BLOCK, n))
        n_nearer = 0
        for b in range(first, last):
            # `/` would test for zero, one number at a time
            distance[b] = np.true_divide(row[b], own_size * size[b]) + removed[b]
        for b in range(first, last):
            n_nearer += distance[b] < best
        if n_nearer:
            for b in range(first, last):
                if distance[b] < best:
                    best, nearest = distance[b], np.int64(b)
    return nearest


@jit(inner=True)
def _complete(newest, a, width, written, before, complete, flat):
    """Update row a of `flat` in place by the columns of the clusters that were written since."""
    start = a * width
    b = newest
    while b >= 0 and written[b] > complete[a]:
        flat[start + b] = flat[b * width + a]
        b = before[b]


@jit(inner=True)
def _unite(linkage, other, own):
    """Update the row `own` in place: it becomes the row of the union with the cluster `other`."""
    n = np.uint64(len(own))
    if linkage == AVERAGE:
        for b in range(n):
            own[b] += other[b]
    elif linkage == SINGLE:
        for b in range(n):
            own[b] = min(own[b], other[b])
    else:
        for b in range(n):
            own[b] = max(own[b], other[b])


@jit(inner=True)
def _take_out(cluster, newest, before, after):
    """Update the list `before`, `after` in place; return its newest cluster."""
    if after[cluster] >= 0:
        before[after[cluster]] = before[cluster]
    else:
        newest = before[cluster]
    if before[cluster] >= 0:
        after[before[cluster]] = after[cluster]
    return newest


@jit(inner=True)
def _first_left(removed):
    """Return the number of the first cluster that is left."""
    first = 0
    while removed[first] != 0.0:
        first += 1
    return first


@jit(inner=True)
def _compact(newest, width, flat, size, removed, row, chain, times):
    """Update `flat`, `size`, `removed`, `row`, `times` in place; return the number of clusters.

    `chain` is scratch.
    """
    written, complete, before = times[0], times[1], times[2]
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
    removed[:n] = 0.0
    times[:, :n] = -1
    return n
