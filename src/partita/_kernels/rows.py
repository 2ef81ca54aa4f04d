"""Distinct rows of a label table, and a fingerprint of each that knows no names and no order."""

from __future__ import annotations

import numpy as np

from partita._kernels._jit import jit

_EMPTY = np.int64(-1)


@jit
def _mix(x):
    """Scramble 64 bits (the finaliser of SplitMix64)."""
    x = np.uint64(x) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@jit
def distinct(labels, inverse, first):
    """Number the distinct rows of `labels` by first appearance; return how many there are.

    Open addressing on a 64-bit hash, every hit confirmed by comparing the rows, so that a
    collision costs time and never correctness. O(n m).
    """
    n, m = labels.shape
    size = 16
    while size < 2 * n:
        size *= 2
    mask = np.uint64(size - 1)
    table = np.full(size, _EMPTY)
    found = 0
    for x in range(n):
        h = np.uint64(m)
        for i in range(m):
            h = _mix(h ^ np.uint64(labels[x, i]))
        slot = np.int64(h & mask)
        while True:
            known = table[slot]
            if known == _EMPTY:
                table[slot] = found
                first[found] = x
                inverse[x] = found
                found += 1
                break
            y = first[known]
            same = True
            for i in range(m):
                if labels[x, i] != labels[y, i]:
                    same = False
                    break
            if same:
                inverse[x] = known
                break
            slot = np.int64((np.uint64(slot) + np.uint64(1)) & mask)
    return found


@jit
def refine(labels, missing, offsets, row_colour, cluster_colour, partition_colour):
    """One round of colour refinement on the graph of rows, clusters and partitions, in place.

    A cluster's colour becomes a function of the multiset of its rows' colours, a partition's of
    its clusters' colours, and a row's of its own colour and its clusters' and partitions'. Sums
    of scrambled 64-bit colours are multisets' fingerprints: they commute, so neither the names
    nor the order of rows, clusters or partitions can enter. O(n m).
    """
    n, m = labels.shape
    cluster_colour[:] = np.uint64(0)
    partition_colour[:] = np.uint64(0)
    for x in range(n):
        colour = _mix(row_colour[x])
        for i in range(m):
            if labels[x, i] != missing:
                cluster_colour[offsets[i] + np.int64(labels[x, i])] += colour
    for i in range(m):
        for c in range(offsets[i], offsets[i + 1]):
            cluster_colour[c] = _mix(cluster_colour[c])
            partition_colour[i] += cluster_colour[c]
    for i in range(m):
        partition_colour[i] = _mix(partition_colour[i])
    for x in range(n):
        total = np.uint64(0)
        for i in range(m):
            if labels[x, i] != missing:
                total += _mix(
                    cluster_colour[offsets[i] + np.int64(labels[x, i])] ^ partition_colour[i]
                )
        row_colour[x] = _mix(row_colour[x] ^ total)


@jit
def relabel_by_appearance(labels, missing, offsets, order, renamed, new_code):
    """Write into `renamed` the rows `order` of `labels`, clusters numbered by first appearance.

    `new_code[offsets[i] + old]` receives the new number of every old one.
    """
    m = labels.shape[1]
    next_code = np.zeros(m, np.int64)
    new_code[:] = -1
    for a in range(len(order)):
        x = order[a]
        for i in range(m):
            if labels[x, i] == missing:
                renamed[a, i] = missing
                continue
            c = offsets[i] + np.int64(labels[x, i])
            if new_code[c] < 0:
                new_code[c] = next_code[i]
                next_code[i] += 1
            renamed[a, i] = new_code[c]
