"""Sums over base clusters and over pairs of base clusters."""

from __future__ import annotations

import numpy as np

from partita._kernels._compiled._jit import jit
from partita._kernels._compiled._lists import PADDING, list_clusters


@jit(inline=True)
def _is_complete(row, missing_code):
    """Return whether no label is missing; `missing_code` is the largest number of its type.

    Rows without missing labels need no list of clusters, which takes longer than the sum itself.
    """
    largest = row[0]
    for code in row:
        largest = code if code > largest else largest
    return largest < missing_code


def cluster_sums(codes, missing_code, offsets, values, first, last, out):
    if first < last:  # a row of no partitions has no first code
        lists = _room_for_lists(codes)
        _cluster_sums(codes, missing_code, offsets, values, first, last, lists, out)


def _room_for_lists(codes):
    """Return an array for the clusters and the partitions of a row."""
    return np.empty((2, codes.shape[1] + PADDING), np.uint32)


@jit
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


@jit
def n_labeled(codes, missing_code, start, stop, out):
    for x in range(start, stop):
        total = 0
        for i in range(codes.shape[1]):
            total += codes[x, i] != missing_code
        out[x] = total


def row_sums(codes, missing_code, offsets, values, start, stop, out):
    lists = _room_for_lists(codes)
    _row_sums(codes, missing_code, offsets, values, start, stop, lists, out)


@jit
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
        a, b, c, d = codes[first], codes[first + 1], codes[first + 2], codes[first + 3]
        of_a, of_b, of_c, of_d = 0.0, 0.0, 0.0, 0.0
        for i in range(np.uint64(m)):
            begin = np.uint32(offsets[i])
            of_a += values[begin + a[i]]
            of_b += values[begin + b[i]]
            of_c += values[begin + c[i]]
            of_d += values[begin + d[i]]
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


@jit
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


@jit
def against(codes, missing_code, offsets, weights, groups, out):
    m = np.uint64(codes.shape[1])
    for x in range(len(codes)):
        if groups[x] < 0:
            continue
        row, group, weight = codes[x], np.uint64(groups[x]), weights[x]
        for i in range(m):
            if row[i] != missing_code:
                out[np.uint64(offsets[i]) + row[i], group] += weight


@jit
def pair_table(first, second, missing_code, weights, table):
    for x in range(len(first)):
        if first[x] != missing_code and second[x] != missing_code:
            table[first[x], second[x]] += weights[x]


@jit
def _add_up(table, x_log_x, of_rows, of_columns):
    """Fill `of_rows` and `of_columns` with the sums of t and of t log t, t being the entries."""
    row_totals, row_logs = of_rows
    totals, logs = of_columns
    p = np.uint64(table.shape[1])
    totals[:] = 0.0
    logs[:] = 0.0
    for c in range(len(table)):
        row, row_total, row_log = table[c], 0.0, 0.0
        for d in range(p):
            t = row[d]
            log = x_log_x[np.uint32(np.int32(t))]  # of 0 too: a branch would be mispredicted
            row_total += t
            row_log += log
            totals[d] += t
            logs[d] += log
        row_totals[c] = row_total
        row_logs[c] = row_log


@jit
def pair_sums(columns, missing_code, offsets, weights, x_log_x, i, totals, logs):
    """Use one small table at a time. The weights must be integers: `x_log_x` is not empty."""
    begin, end = offsets[i], offsets[i + 1]
    for j in range(i):
        first, last = offsets[j], offsets[j + 1]
        table = np.zeros((end - begin, last - first))
        pair_table(columns[i], columns[j], missing_code, weights, table)
        of_rows = totals[j, begin:end], logs[j, begin:end]
        of_columns = totals[i, first:last], logs[i, first:last]
        _add_up(table, x_log_x, of_rows, of_columns)


@jit
def overlaps(codes, missing_code, offsets, values, share, n_shares, out):
    m = codes.shape[1]
    clusters, partitions = np.empty(m + PADDING, np.uint32), np.empty(m + PADDING, np.uint32)
    for x in range(len(codes)):
        n = list_clusters(codes, x, missing_code, offsets, np.int64(0), m, clusters, partitions)
        value = values[x]
        for a in range(n):
            if partitions[a] % n_shares == share:
                row = out[clusters[a]]
                for b in range(a + 1):
                    row[clusters[b]] += value
