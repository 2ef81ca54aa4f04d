"""Distinct rows of a label table, and a fingerprint of each that knows no names and no order.

Where a kernel takes a code for missing labels it has their type, and places are unsigned: to
compare and to add as they are takes half the time, and so does not to ask whether a place is
negative and counted from the end.
"""

from __future__ import annotations

import numpy as np

from partita._kernels._jit import jit

_EMPTY = np.int64(-1)
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


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
    whole = m - m % 4
    for x in range(n):
        # four sums side by side: a step need not wait for the one before
        h0, h1, h2, h3 = np.uint64(m), np.uint64(1), np.uint64(2), np.uint64(3)
        for i in range(0, whole, 4):
            h0 = h0 * _FACTOR + np.uint64(labels[x, i])
            h1 = h1 * _FACTOR + np.uint64(labels[x, i + 1])
            h2 = h2 * _FACTOR + np.uint64(labels[x, i + 2])
            h3 = h3 * _FACTOR + np.uint64(labels[x, i + 3])
        for i in range(whole, m):
            h0 = h0 * _FACTOR + np.uint64(labels[x, i])
        h = _mix(_mix(_mix(_mix(h0) ^ h1) ^ h2) ^ h3)
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
def gather_colors(labels, missing, offsets, row_color, first, last, cluster_color):
    """Colors of the clusters of partitions first..last, from the multisets of their rows' colors.

    The first half of a round of color refinement on the graph of rows, clusters and partitions.
    Sums of scrambled 64-bit colors are multisets' fingerprints: they commute, so neither the names
    nor the order of rows, clusters or partitions can enter.
    """
    for c in range(offsets[first], offsets[last]):
        cluster_color[c] = np.uint64(0)
    for x in range(len(labels)):
        row, color = labels[x], _mix(row_color[x])
        for i in range(np.uint64(first), np.uint64(last)):
            label = row[i]
            if label != missing:
                cluster_color[offsets[i] + label] += color
    for i in range(first, last):
        partition = np.uint64(0)
        for c in range(offsets[i], offsets[i + 1]):
            cluster_color[c] = _mix(cluster_color[c])
            partition += cluster_color[c]
        partition = _mix(partition)
        for c in range(offsets[i], offsets[i + 1]):  # a cluster's color knows its partition's
            cluster_color[c] = _mix(cluster_color[c] ^ partition)


@jit
def spread_colors(labels, missing, offsets, cluster_color, start, stop, row_color):
    """Colors of rows start..stop, from their own and those of their clusters: the second half."""
    for x in range(start, stop):
        total = np.uint64(0)
        for i in range(labels.shape[1]):
            if labels[x, i] != missing:
                total += cluster_color[offsets[i] + labels[x, i]]
        row_color[x] = _mix(row_color[x] ^ total)


@jit
def number_by_appearance(labels, missing, offsets, order, first, last, new_code):
    """new_code[offsets[i] + old] = number of a cluster by first appearance in the rows `order`.

    Of partitions first..last; -1 for a cluster that does not appear.
    """
    new_code[offsets[first] : offsets[last]] = -1
    next_code, unseen = np.zeros(last - first, np.int64), offsets[last] - offsets[first]
    for x in order:
        if unseen == 0:
            break
        for i in range(first, last):
            if labels[x, i] != missing:
                c = offsets[i] + labels[x, i]
                if new_code[c] < 0:
                    new_code[c] = next_code[i - first]
                    next_code[i - first] += 1
                    unseen -= 1


@jit
def rename(labels, missing, offsets, new_code, order, columns, start, stop, out):
    """Rows start..stop of `out`: rows `order` and columns `columns` of the labels, by new codes."""
    n_columns, offset = np.uint64(len(columns)), offsets[columns]
    for a in range(start, stop):
        row, renamed = labels[order[a]], out[a]
        for j in range(n_columns):
            label = row[columns[j]]
            renamed[j] = missing if label == missing else new_code[offset[j] + label]
