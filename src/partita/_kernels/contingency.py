"""Counting samples in clusters and in pairs of clusters."""

from __future__ import annotations

import numpy as np

from partita._kernels._jit import jit
from partita._kernels._vectors import ROOM, list_clusters


@jit(inline=True)
def _is_complete(row, missing):
    """Whether no label is missing: to list those that are there takes longer than to add them up.

    `missing` is the largest number of its type.
    """
    largest = row[0]
    for label in row:
        largest = label if label > largest else largest
    return largest < missing


@jit
def cluster_sums(labels, missing, offsets, values, first, last, out):
    """out[c] += sum of values over the rows in cluster c, for the clusters of partitions
    first..last, which have places of their own and can run side by side."""
    m = labels.shape[1]
    clusters, partitions = np.empty(m + ROOM, np.int32), np.empty(m + ROOM, np.int32)
    cluster = clusters.view(np.uint32)  # never negative
    for x in range(len(labels)):
        row, value = labels[x], values[x]
        if _is_complete(row[first:last], missing):
            for i in range(np.uint64(first), np.uint64(last)):
                out[np.uint32(offsets[i]) + row[i]] += value
        else:
            n = list_clusters(labels, x, missing, offsets, first, last, clusters, partitions)
            for a in range(n):
                out[cluster[a]] += value


@jit
def n_labeled(labels, missing, start, stop, out):
    """out[x] = number of labels of row x."""
    for x in range(start, stop):
        total = 0
        for i in range(labels.shape[1]):
            total += labels[x, i] != missing
        out[x] = total


@jit
def row_sums(labels, missing, offsets, values, start, stop, out):
    """out[x] = sum of values over the clusters of row x."""
    m = labels.shape[1]
    clusters, partitions = np.empty(m + ROOM, np.int32), np.empty(m + ROOM, np.int32)
    cluster = clusters.view(np.uint32)  # never negative
    for x in range(start, stop):
        row, total = labels[x], 0.0
        if _is_complete(row, missing):
            for i in range(np.uint64(m)):
                total += values[np.uint32(offsets[i]) + row[i]]
        else:
            n = list_clusters(labels, x, missing, offsets, 0, m, clusters, partitions)
            for a in range(n):
                total += values[cluster[a]]
        out[x] = total


@jit
def row_forms(labels, missing, offsets, table, start, stop, out):
    """out[x] = sum of a symmetric table over all pairs of the clusters of row x."""
    m = labels.shape[1]
    for x in range(start, stop):
        own, between = 0.0, 0.0
        for i in range(m):
            if labels[x, i] == missing:
                continue
            row = table[offsets[i] + np.int64(labels[x, i])]
            own += row[offsets[i] + np.int64(labels[x, i])]
            for j in range(i):
                if labels[x, j] != missing:
                    between += row[offsets[j] + np.int64(labels[x, j])]
        out[x] = own + 2.0 * between


@jit
def against(labels, missing, offsets, weights, groups, out):
    """out[c, k] += weight of the rows in cluster c and group k: one partition against all.

    A negative group is none.
    """
    m = np.uint64(labels.shape[1])
    for x in range(len(labels)):
        if groups[x] < 0:
            continue
        row, group, weight = labels[x], np.uint64(groups[x]), weights[x]
        for i in range(m):
            if row[i] != missing:
                out[np.uint64(offsets[i]) + row[i], group] += weight


@jit
def pair_table(first, second, missing, weights, table):
    """table[k, l] += weight of the rows that `first` puts in k and `second` in l."""
    for x in range(len(first)):
        if first[x] != missing and second[x] != missing:
            table[first[x], second[x]] += weights[x]


@jit
def _entropies(table, x_log_x, of_rows, of_columns):
    """Entropies in bits of the rows and of the columns of a table of weights.

    H = log T - (Σ t log t) / T, T being the sum of a row's entries t. `x_log_x` holds t log t of
    the first whole numbers where all entries are whole, and nothing otherwise.
    """
    n, p = table.shape
    totals, logs, known = np.zeros(p), np.zeros(p), np.float64(len(x_log_x))
    for c in range(n):
        row, row_total, row_logs = table[c], 0.0, 0.0
        for d in range(np.uint64(p)):
            t, log = row[d], 0.0
            if t < known:  # 0 too, which a branch of its own would have to foresee
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
def pair_entropies(columns, missing, offsets, weights, x_log_x, i, out):
    """out[j, c] = entropy in bits of cluster c of partition i as partition j sees it, and out[i, d]
    that of cluster d of partition j as i sees it, for all j < i.

    `columns` is (m, n). Only members that the other partition labels count. O(n i), and one small
    table at a time: no L x L array. Different i write to different places.
    """
    for j in range(i):
        table = np.zeros((offsets[i + 1] - offsets[i], offsets[j + 1] - offsets[j]))
        pair_table(columns[i], columns[j], missing, weights, table)
        _entropies(
            table,
            x_log_x,
            out[j, offsets[i] : offsets[i + 1]],
            out[i, offsets[j] : offsets[j + 1]],
        )


@jit
def overlaps(labels, missing, offsets, values, share, n_shares, out):
    """out[c, d] += values[x] for every row x and every two of its clusters, d <= c.

    Partitions i with i % n_shares == share, which have rows of `out` of their own: shares of about
    the same work that can run side by side.
    """
    m = labels.shape[1]
    clusters, partitions = np.empty(m + ROOM, np.int32), np.empty(m + ROOM, np.int32)
    cluster, partition = clusters.view(np.uint32), partitions.view(np.uint32)  # never negative
    for x in range(len(labels)):
        n, value = list_clusters(labels, x, missing, offsets, 0, m, clusters, partitions), values[x]
        for a in range(n):
            if partition[a] % n_shares == share:
                row = out[cluster[a]]
                for b in range(a + 1):
                    row[cluster[b]] += value
