"""Sums over base clusters and over pairs of base clusters."""

from __future__ import annotations

import numpy as np

from partita._kernels._compiled._jit import jit
from partita._kernels._compiled._vectors import PADDING, list_clusters


@jit(inline=True)
def _is_complete(row, missing_code):
    """Return whether no label is missing; `missing_code` is the largest number of its type.

    Rows without missing labels need no list of clusters, which takes longer than the sum itself.
    """
    largest = row[0]
    for code in row:
        largest = code if code > largest else largest
    return largest < missing_code


@jit
def cluster_sums(codes, missing_code, offsets, values, first, last, out):
    """Add to `out[c]` the sum of values over the rows of base cluster c of partitions first..last.

    Partitions write to different entries and can run in parallel.
    """
    m = codes.shape[1]
    clusters, partitions = np.empty(m + PADDING, np.int32), np.empty(m + PADDING, np.int32)
    cluster = clusters.view(np.uint32)  # unsigned: numba does not test for negative indices
    for x in range(len(codes)):
        row, value = codes[x], values[x]
        if _is_complete(row[first:last], missing_code):
            for i in range(np.uint64(first), np.uint64(last)):
                out[np.uint32(offsets[i]) + row[i]] += value
        else:
            n = list_clusters(codes, x, missing_code, offsets, first, last, clusters, partitions)
            for a in range(n):
                out[cluster[a]] += value


@jit
def n_labeled(codes, missing_code, start, stop, out):
    """Fill rows start..stop of `out` with their numbers of labels."""
    for x in range(start, stop):
        total = 0
        for i in range(codes.shape[1]):
            total += codes[x, i] != missing_code
        out[x] = total


@jit
def row_sums(codes, missing_code, offsets, values, start, stop, out):
    """Fill rows start..stop of `out` with the sums of values over their base clusters."""
    m = codes.shape[1]
    clusters, partitions = np.empty(m + PADDING, np.int32), np.empty(m + PADDING, np.int32)
    cluster = clusters.view(np.uint32)  # unsigned: numba does not test for negative indices
    for x in range(start, stop):
        row, total = codes[x], 0.0
        if _is_complete(row, missing_code):
            for i in range(np.uint64(m)):
                total += values[np.uint32(offsets[i]) + row[i]]
        else:
            n = list_clusters(codes, x, missing_code, offsets, 0, m, clusters, partitions)
            for a in range(n):
                total += values[cluster[a]]
        out[x] = total


@jit
def row_forms(codes, missing_code, offsets, table, start, stop, out):
    """Fill rows start..stop of `out` with the quadratic forms b(x) table b(x)ᵀ.

    b(x) is the row of the incidence matrix: the sum runs over all pairs of base clusters of row x.
    `table` is symmetric.
    """
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
    """Add to `out[c, k]` the weight of the rows in base cluster c and group k.

    A negative group is no group.
    """
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
    """Add to `table[k, l]` the weight of the rows with code k in `first` and l in `second`."""
    for x in range(len(first)):
        if first[x] != missing_code and second[x] != missing_code:
            table[first[x], second[x]] += weights[x]


@jit
def _entropies(table, x_log_x, of_rows, of_columns):
    """Fill `of_rows` and `of_columns` with the entropies in bits of a table of weights.

    H = log T - (Σ t log t) / T, T being the sum of the entries t of a row. `x_log_x` holds t log t
    of the first integers if all entries are integers, and is empty otherwise.
    """
    n, p = table.shape
    totals, logs, n_tabulated = np.zeros(p), np.zeros(p), np.float64(len(x_log_x))
    for c in range(n):
        row, row_total, row_logs = table[c], 0.0, 0.0
        for d in range(np.uint64(p)):
            t, log = row[d], 0.0
            if t < n_tabulated:  # 0 included: a branch of its own would be mispredicted
                log = x_log_x[np.uint32(np.int32(t))]
            elif t > 0.0:
                log = t * np.log2(t)
            row_total += t
            row_logs += log
            totals[d] += t
            logs[d] += log
        of_rows[c] = max(np.log2(row_total) - row_logs / row_total, 0.0) if row_total > 0 else 0.0
    for d in range(p):
        of_columns[d] = max(np.log2(totals[d]) - logs[d] / totals[d], 0.0) if totals[d] > 0 else 0.0


@jit
def pair_entropies(columns, missing_code, offsets, weights, x_log_x, i, out):
    """Fill `out` with the entropies in bits of the clusters of partition i and of all j < i.

    out[j, c] is the entropy of cluster c of partition i in partition j, out[i, d] that of cluster d
    of partition j in partition i. `columns` is (m, n). Only rows that both partitions label count.
    O(n i), with one small table at a time and no L x L array. Different i write to different
    entries.
    """
    for j in range(i):
        table = np.zeros((offsets[i + 1] - offsets[i], offsets[j + 1] - offsets[j]))
        pair_table(columns[i], columns[j], missing_code, weights, table)
        _entropies(
            table,
            x_log_x,
            out[j, offsets[i] : offsets[i + 1]],
            out[i, offsets[j] : offsets[j + 1]],
        )


@jit
def overlaps(codes, missing_code, offsets, values, share, n_shares, out):
    """Add to `out[c, d]` the values of the rows in both base clusters c and d, d <= c.

    Only partitions i with i % n_shares == share: shares of about equal work, which write to
    different rows of `out` and can run in parallel.
    """
    m = codes.shape[1]
    clusters, partitions = np.empty(m + PADDING, np.int32), np.empty(m + PADDING, np.int32)
    # unsigned: numba does not test for negative indices
    cluster, partition = clusters.view(np.uint32), partitions.view(np.uint32)
    for x in range(len(codes)):
        n = list_clusters(codes, x, missing_code, offsets, 0, m, clusters, partitions)
        value = values[x]
        for a in range(n):
            if partition[a] % n_shares == share:
                row = out[cluster[a]]
                for b in range(a + 1):
                    row[cluster[b]] += value
