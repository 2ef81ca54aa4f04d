"""Distinct rows of a table of codes, and hashes of rows that do not depend on names or order.

`missing_code` has the type of the codes, and indices are unsigned: comparisons and sums then need
no conversion, and numba does not test for negative indices. This halves the time.
"""

from __future__ import annotations

import numpy as np

from partita._kernels._compiled._jit import jit

_EMPTY = np.int64(-1)
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


@jit(inner=True, allocates=False)
def _mix(x):
    """Return a hash of 64 bits (the finalizer of SplitMix64)."""
    x = np.uint64(x) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def distinct(codes, inverse, first):
    """Look up the hash of every row in a table with open addressing: one pass, O(n m)."""
    size = 16
    while size < 2 * len(codes):
        size *= 2
    return _distinct(codes, np.full(size, _EMPTY), inverse, first)


@jit(allocates=False)
def _distinct(codes, table, inverse, first):
    """Fill `inverse` and `first` as `distinct` does; `table` is scratch, full of _EMPTY."""
    n, m = codes.shape
    mask = np.uint64(len(table) - 1)
    n_distinct = 0
    whole = m - m % 4
    for x in range(n):
        # four independent hashes: a step does not wait for the one before
        h0, h1, h2, h3 = np.uint64(m), np.uint64(1), np.uint64(2), np.uint64(3)
        for i in range(0, whole, 4):
            h0 = h0 * _FACTOR + np.uint64(codes[x, i])
            h1 = h1 * _FACTOR + np.uint64(codes[x, i + 1])
            h2 = h2 * _FACTOR + np.uint64(codes[x, i + 2])
            h3 = h3 * _FACTOR + np.uint64(codes[x, i + 3])
        for i in range(whole, m):
            h0 = h0 * _FACTOR + np.uint64(codes[x, i])
        h = _mix(_mix(_mix(_mix(h0) ^ h1) ^ h2) ^ h3)
        slot = np.int64(h & mask)
        while True:
            number = table[slot]
            if number == _EMPTY:
                table[slot] = n_distinct
                first[n_distinct] = x
                inverse[x] = n_distinct
                n_distinct += 1
                break
            y = first[number]
            same = True
            for i in range(m):
                if codes[x, i] != codes[y, i]:
                    same = False
                    break
            if same:
                inverse[x] = number
                break
            slot = np.int64((np.uint64(slot) + np.uint64(1)) & mask)
    return n_distinct


@jit(allocates=False)
def gather_colors(codes, missing_code, offsets, row_color, first, last, cluster_color):
    for c in range(offsets[first], offsets[last]):
        cluster_color[c] = np.uint64(0)
    for x in range(len(codes)):
        row, color = codes[x], _mix(row_color[x])
        for i in range(np.uint64(first), np.uint64(last)):
            code = row[i]
            if code != missing_code:
                cluster_color[offsets[i] + code] += color
    for i in range(first, last):
        partition = np.uint64(0)
        for c in range(offsets[i], offsets[i + 1]):
            cluster_color[c] = _mix(cluster_color[c])
            partition += cluster_color[c]
        partition = _mix(partition)
        for c in range(
            offsets[i], offsets[i + 1]
        ):  # a cluster's color includes that of its partition
            cluster_color[c] = _mix(cluster_color[c] ^ partition)


@jit(allocates=False)
def spread_colors(codes, missing_code, offsets, cluster_color, start, stop, row_color):
    for x in range(start, stop):
        total = np.uint64(0)
        for i in range(codes.shape[1]):
            if codes[x, i] != missing_code:
                total += cluster_color[offsets[i] + codes[x, i]]
        row_color[x] = _mix(row_color[x] ^ total)


def number_by_appearance(codes, missing_code, offsets, order, first, last, new_code):
    new_code[offsets[first] : offsets[last]] = -1
    next_code = np.zeros(last - first, np.int64)
    _number(codes, missing_code, offsets, order, first, last, next_code, new_code)


@jit(allocates=False)
def _number(codes, missing_code, offsets, order, first, last, next_code, new_code):
    """Fill `new_code` as `number_by_appearance` does; `next_code` is scratch."""
    unseen = offsets[last] - offsets[first]
    for position in range(len(order)):
        if unseen == 0:
            break
        x = order[position]
        for i in range(first, last):
            if codes[x, i] != missing_code:
                c = offsets[i] + codes[x, i]
                if new_code[c] < 0:
                    new_code[c] = next_code[i - first]
                    next_code[i - first] += 1
                    unseen -= 1


def rename(codes, missing_code, offsets, new_code, order, partitions, start, stop, out):
    _rename(codes, missing_code, offsets[partitions], new_code, order, partitions, start, stop, out)


@jit(allocates=False)
def _rename(codes, missing_code, offset, new_code, order, partitions, start, stop, out):
    """Fill `out` as `rename` does."""
    n_columns = np.uint64(len(partitions))
    for a in range(start, stop):
        row, renamed = codes[order[a]], out[a]
        for j in range(n_columns):
            code = row[partitions[j]]
            is_missing = code == missing_code
            renamed[j] = missing_code if is_missing else new_code[offset[j] + code]
