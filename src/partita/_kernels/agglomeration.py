"""Hierarchical clustering by nearest-neighbor chains on a full square matrix."""

from __future__ import annotations

import numpy as np

from partita._kernels._compiled._jit import jit

AVERAGE, SINGLE, COMPLETE = 0, 1, 2


@jit
def _nearest(matrix, size, alive, n_alive, a, linkage):
    """Return the nearest other cluster of a, and its distance; the first in index order wins."""
    best = -1
    best_distance = np.inf
    row = matrix[a]
    for p in range(n_alive):
        b = alive[p]
        if b == a:
            continue
        distance = row[b] / (size[a] * size[b]) if linkage == AVERAGE else np.float64(row[b])
        if distance < best_distance:
            best_distance = distance
            best = b
    return best, best_distance


@jit
def _merge(alive, n_alive, a, b, linkage, matrix):
    """Update row and column a of `matrix` in place: a becomes the union of a and b."""
    row_a, row_b = matrix[a], matrix[b]
    for p in range(n_alive):
        c = alive[p]
        if c in (a, b):
            continue
        if linkage == AVERAGE:
            value = row_a[c] + row_b[c]
        elif linkage == SINGLE:
            value = min(row_a[c], row_b[c])
        else:
            value = max(row_a[c], row_b[c])
        row_a[c] = value
        matrix[c, a] = value


@jit
def chain(linkage, matrix, size, left, right, height):
    """Fill `left`, `right`, `height`: merge t joins rows left[t] < right[t] at height[t].

    `matrix` and `size` are overwritten. For average linkage `matrix[a, b]` is the *sum* of all
    pairwise distances between a and b (initial distance times both weights): a merge is then one
    addition, exact for integers, and the mean is formed only to compare. Merges come in the order
    of the chain, not by height. If the nearest neighbor ties with the previous element of the
    chain, the previous element is taken, and a distance is the same number, to the last bit, from
    either side. So distances fall along a chain, and the chain ends.
    """
    n = matrix.shape[0]
    alive = np.arange(n)
    n_alive = n
    tip = 0
    stack = np.empty(n, np.int64)
    for t in range(n - 1):
        if tip == 0:
            stack[0] = alive[0]
            tip = 1
        while True:
            a = stack[tip - 1]
            b, distance = _nearest(matrix, size, alive, n_alive, a, linkage)
            if tip > 1:
                previous = stack[tip - 2]
                to_previous = (
                    matrix[a, previous] / (size[a] * size[previous])
                    if linkage == AVERAGE
                    else np.float64(matrix[a, previous])
                )
                if to_previous <= distance:
                    b = previous
                    distance = to_previous
                    break
            stack[tip] = b
            tip += 1
        tip -= 2
        low, high = min(a, b), max(a, b)
        left[t], right[t] = low, high
        height[t] = distance
        _merge(alive, n_alive, low, high, linkage, matrix)
        size[low] += size[high]
        position = np.searchsorted(alive[:n_alive], high)
        for p in range(position, n_alive - 1):
            alive[p] = alive[p + 1]
        n_alive -= 1
