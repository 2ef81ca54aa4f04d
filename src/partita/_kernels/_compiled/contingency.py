"""Sums over base clusters and over pairs of base clusters."""

from __future__ import annotations

import numpy as np

from partita._kernels._compiled._jit import jit
from partita._kernels._compiled._lists import PADDING, list_clusters


@jit(inline=True, allocates=False)
def _is_complete(row, missing_code):
    """Return whether no label is missing; `missing_code` is the largest number of its type.

    Rows without missing labels need no list of clusters, which takes longer than the sum itself.
    """
    largest = row[0]
    for i in range(np.uint64(len(row))):
        largest = row[i] if row[i] > largest else largest
    return largest < missing_code


def cluster_sums(codes, missing_code, offsets, values, first, last, out):
    if first < last:  # a row of no partitions has no first code
        lists = _room_for_lists(codes)
        _cluster_sums(codes, missing_code, offsets, values, first, last, lists, out)


def _room_for_lists(codes):
    """Return an array for the clusters and the partitions of a row."""
    return np.empty((2, codes.shape[1] + PADDING), np.uint32)


@jit(allocates=False)
def _cluster_sums(codes, missing_code, offsets, values, first, last, lists, out):
    """Add to `out` as `cluster_sums` does; `lists` is scratch."""
    clusters, partitions = lists[0], lists[1]
    for x in range(len(codes)):
        row, value = codes[x], values[x]
        if _is_complete(row[first:last], missing_code):
            for i in range(np.uint64(first), np.uint64(last)):
                out[np.uint32(offsets[i]) + row[i]] += value
        else:
            n = list_clusters(codes, x, missing_code, offsets, first, last, clusters, partitions)
            for a in range(n):
                out[clusters[a]] += value


@jit(allocates=False)
def n_labeled(codes, missing_code, start, stop, out):
    for x in range(start, stop):
        total = 0
        for i in range(codes.shape[1]):
            total += codes[x, i] != missing_code
        out[x] = total


def row_sums(codes, missing_code, offsets, values, start, stop, out):
    lists = _room_for_lists(codes)
    _row_sums(codes, missing_code, offsets, values, start, stop, lists, out)


@jit(allocates=False)
def _row_sums(codes, missing_code, offsets, values, start, stop, lists, out):
    """Fill `out` as `row_sums` does: add up four rows at a time, until a label is missing.

    An addition waits for the one before it in the same row, but not for those in other rows.
    `lists` is scratch.
    """
    m, clusters, partitions = codes.shape[1], lists[0], lists[1]
    first = start
    while first + 4 <= stop:
        is_complete = True
        for x in range(first, first + 4):
            is_complete &= _is_complete(codes[x], missing_code)
        if not is_complete:
            break
        a, b, c, d = first, first + 1, first + 2, first + 3
        of_a, of_b, of_c, of_d = 0.0, 0.0, 0.0, 0.0
        for i in range(np.uint64(m)):
            begin = np.uint32(offsets[i])
            of_a += values[begin + codes[a, i]]
            of_b += values[begin + codes[b, i]]
            of_c += values[begin + codes[c, i]]
            of_d += values[begin + codes[d, i]]
        out[first], out[first + 1], out[first + 2], out[first + 3] = of_a, of_b, of_c, of_d
        first += 4
    for x in range(first, stop):
        row, total = codes[x], 0.0
        if _is_complete(row, missing_code):
            for i in range(np.uint64(m)):
                total += values[np.uint32(offsets[i]) + row[i]]
        else:
            n = list_clusters(codes, x, missing_code, offsets, np.int64(0), m, clusters, partitions)
            for k in range(n):
                total += values[clusters[k]]
        out[x] = total


@jit(allocates=False)
def row_forms(codes, missing_code, offsets, table, start, stop, out):
    m = codes.shape[1]
    for x in range(start, stop):
        own, between = 0.0, 0.0
        for i in range(m):
            if codes[x, i] == missing_code:
                continue
            row = table[offsets[i] + np.int64(codes[x, i])]
            own += row[offsets[i] + np.int64(codes[x, i])]
            for j in range(i):
                if codes[x, j] != missing_code:
                    between += row[offsets[j] + np.int64(codes[x, j])]
        out[x] = own + 2.0 * between


@jit(allocates=False)
def against(codes, missing_code, offsets, weights, groups, out):
    m = np.uint64(codes.shape[1])
    for x in range(len(codes)):
        if groups[x] < 0:
            continue
        row, group, weight = codes[x], np.uint64(groups[x]), weights[x]
        for i in range(m):
            if row[i] != missing_code:
                out[np.uint64(offsets[i]) + row[i], group] += weight


@jit(allocates=False)
def pair_table(first, second, missing_code, weights, table):
    for x in range(len(first)):
        if first[x] != missing_code and second[x] != missing_code:
            table[first[x], second[x]] += weights[x]


def pair_sums(columns, missing_code, offsets, weights, x_log_x, i, totals, logs):
    """Use one small table at a time. The weights must be integers: `x_log_x` is not empty."""
    n_clusters = np.diff(offsets[: i + 2])
    table = np.empty(int(n_clusters[-1]) * int(n_clusters.max()))
    bounds = offsets.astype(np.uint64)
    code = columns.dtype.type(missing_code)
    _pair_sums(columns, code, bounds, weights, x_log_x, np.uint64(i), table, totals, logs)


@jit(allocates=False)
def _pair_sums(columns, missing_code, offsets, weights, x_log_x, i, table, totals, logs):
    """Fill `totals` and `logs` as `pair_sums` does; `table` is scratch for two partitions."""
    own, begin, height = columns[i], offsets[i], offsets[i + np.uint64(1)] - offsets[i]
    totals_of_own, logs_of_own = totals[i], logs[i]
    for j in range(i):
        other, first, last = columns[j], offsets[j], offsets[j + np.uint64(1)]
        width = last - first
        for cell in range(height * width):
            table[cell] = 0.0
        for x in range(len(own)):
            if own[x] != missing_code and other[x] != missing_code:
                table[own[x] * width + other[x]] += weights[x]
        for d in range(first, last):
            totals_of_own[d] = 0.0
            logs_of_own[d] = 0.0
        a = np.uint64(0)
        for c in range(begin, begin + height):
            total, sum_of_logs = 0.0, 0.0
            for d in range(first, last):
                t = table[a]
                log = x_log_x[np.uint32(np.int32(t))]  # of 0 too: a branch would be mispredicted
                total += t
                sum_of_logs += log
                totals_of_own[d] += t
                logs_of_own[d] += log
                a += np.uint64(1)
            totals[j, c] = total
            logs[j, c] = sum_of_logs


def overlaps(codes, missing_code, offsets, values, share, n_shares, out):
    lists = _room_for_lists(codes)
    _overlaps(codes, missing_code, offsets, values, share, n_shares, lists, out)


@jit(allocates=False)
def _overlaps(codes, missing_code, offsets, values, share, n_shares, lists, out):
    """Add to `out` as `overlaps` does; `lists` is scratch."""
    m, clusters, partitions = codes.shape[1], lists[0], lists[1]
    for x in range(len(codes)):
        n = list_clusters(codes, x, missing_code, offsets, np.int64(0), m, clusters, partitions)
        value = values[x]
        for a in range(n):
            if partitions[a] % n_shares == share:
                row = out[clusters[a]]
                for b in range(a + 1):
                    row[clusters[b]] += value
