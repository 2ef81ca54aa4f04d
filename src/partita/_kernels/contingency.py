"""Sums over base clusters and over pairs of base clusters."""

from __future__ import annotations

import numpy as np

from partita._kernels._dispatch import kernel
from partita._kernels._labels import list_labels, row_blocks

_SMALL_TABLE = 1 << 14  # entries for which a loop over rows takes longer than a copy
_PAIRS = 1 << 16  # pairs of labels that are counted at a time; their cells stay in the cache


@kernel
def cluster_sums(codes, missing_code, offsets, values, first, last, out):
    """Add to `out[c]` the sum of values over the rows of base cluster c of partitions first..last.

    Partitions write to different entries and can run in parallel.
    """
    for rows, clusters in list_labels(codes, missing_code, offsets, (0, len(codes)), (first, last)):
        np.add.at(out, clusters, values[rows])


@kernel
def n_labeled(codes, missing_code, start, stop, out):
    """Fill rows start..stop of `out` with their numbers of labels."""
    out[start:stop] = np.count_nonzero(codes[start:stop] != missing_code, axis=1)


@kernel
def row_sums(codes, missing_code, offsets, values, start, stop, out):
    """Fill rows start..stop of `out` with the sums of values over their base clusters."""
    begin = offsets[:-1].astype(np.int64)
    padded = np.append(values, 0.0)  # the last one is that of a missing label
    for top, bottom in row_blocks(codes.shape[1], start, stop):
        block = codes[top:bottom]
        clusters = block + begin
        clusters[block == missing_code] = len(values)
        # from 0.0 on, which is the sum of no values
        out[top:bottom] = 0.0 + np.cumsum(padded[clusters], axis=1)[:, -1]


@kernel
def row_forms(codes, missing_code, offsets, table, start, stop, out):
    """Fill rows start..stop of `out` with the quadratic forms b(x) table b(x)ᵀ.

    b(x) is the row of the incidence matrix: the sum runs over all pairs of base clusters of row x.
    `table` is symmetric.
    """
    m = codes.shape[1]
    begin = offsets[:-1].astype(np.int64)
    for top, bottom in row_blocks(m, start, stop):
        columns = np.ascontiguousarray(codes[top:bottom].T)
        is_labeled = columns != missing_code
        clusters = np.where(is_labeled, columns + begin[:, None], 0)
        own, between = np.zeros((2, bottom - top))
        for i in range(m):
            own += np.where(is_labeled[i], table[clusters[i], clusters[i]], 0.0)
            for j in range(i):
                both = is_labeled[i] & is_labeled[j]
                between += np.where(both, table[clusters[i], clusters[j]], 0.0)
        out[top:bottom] = own + 2.0 * between


@kernel
def against(codes, missing_code, offsets, weights, groups, out):
    """Add to `out[c, k]` the weight of the rows in base cluster c and group k.

    A negative group is no group.
    """
    entries, n_groups = out.reshape(-1), out.shape[1]  # a view: `add.at` is fast on vectors
    whole = (0, len(codes)), (0, codes.shape[1])
    for rows, clusters in list_labels(codes, missing_code, offsets, *whole):
        is_grouped = groups[rows] >= 0
        rows, clusters = rows[is_grouped], clusters[is_grouped]
        np.add.at(entries, clusters * n_groups + groups[rows], weights[rows])


@kernel
def pair_table(first, second, missing_code, weights, table):
    """Add to `table[k, l]` the weight of the rows with code k in `first` and l in `second`."""
    both = np.flatnonzero((first != missing_code) & (second != missing_code))
    cells = first[both].astype(np.int64) * table.shape[1] + second[both]
    np.add.at(table.reshape(-1), cells, weights[both])


@kernel
def pair_sums(columns, missing_code, offsets, weights, x_log_x, i, totals, logs):
    """Fill `totals` and `logs` with sums over the tables of partition i with every partition j < i.

    t(c, d) is the weight of the rows in cluster c of partition i and in cluster d of partition j.
    totals[j, c] = Σ_d t(c, d), totals[i, d] = Σ_c t(c, d), and `logs` has the same sums of t log t.
    If all weights are integers, `x_log_x` has x log x of all integers up to their sum; otherwise it
    is empty. `columns` is (m, n). O(n i), without an L x L array. Different i write to different
    entries.
    """
    begin, end = int(offsets[i]), int(offsets[i + 1])
    padded = np.zeros((end - begin + 1, begin + 1))
    _add_pairs(columns, missing_code, offsets, weights, i, i, padded)
    table = padded[:-1, :-1]
    partition = np.repeat(np.arange(i), np.diff(offsets[: i + 1]))
    cell = np.arange(end - begin)[:, None] * i + partition  # where the sums of a row are
    is_complete = i > 0 and not padded[-1].any() and not padded[:, -1].any()
    if is_complete:  # each partition j labels all rows of a cluster
        totals[:i, begin:end] = table[:, : offsets[1]].sum(axis=1)
    else:
        totals[:i, begin:end] = _add_cells(cell, table, i)
    totals[i, :begin] = table.sum(axis=0)
    values = _logs_of(table, x_log_x)
    logs[:i, begin:end] = _add_cells(cell, values, i)
    logs[i, :begin] = _add_rows(values)


def _add_cells(cell, values, n_partitions):
    """Return the sums of the entries of each row of `values` by partition, shape (m, n_rows)."""
    sums = np.bincount(cell.ravel(), values.ravel(), minlength=len(values) * n_partitions)
    return sums.reshape(len(values), n_partitions).T


def _add_rows(table):
    """Return the sums of the columns, which are added from the first row on."""
    if table.size < _SMALL_TABLE:
        return np.add.accumulate(table)[-1]
    total = np.zeros(table.shape[1])
    for row in table:
        total += row
    return total


def _logs_of(table, x_log_x):
    """Return t log₂ t of all entries t."""
    if len(x_log_x):
        return x_log_x[table.astype(np.int64)]
    return table * np.log2(table, out=np.zeros_like(table), where=table > 0)


@kernel
def overlaps(codes, missing_code, offsets, values, share, n_shares, out):
    """Add to `out[c, d]` the values of the rows in both base clusters c and d, d <= c.

    Only partitions i with i % n_shares == share: shares of about equal work, which write to
    different rows of `out` and can run in parallel.
    """
    columns = np.ascontiguousarray(codes.T)
    for i in range(share, len(columns), n_shares):
        own = out[offsets[i] : offsets[i + 1], : offsets[i + 1]]
        table = np.pad(own, (0, 1))  # with a row and a column for missing labels
        _add_pairs(columns, missing_code, offsets, values, i, i + 1, table)
        own[:] = table[:-1, :-1]


def _add_pairs(columns, missing_code, offsets, values, i, n_others, table):
    """Add to `table[c, d]` the values of the rows in clusters c of partition i and d of the first.

    c counts from the first cluster of partition i, d from that of partition 0; `n_others` is the
    number of partitions with d. The last row and column of the table collect missing labels. The
    values of a cell are added in the order of the rows.
    """
    n, (height, width) = columns.shape[1], table.shape
    entries = table.reshape(-1)  # a view: `add.at` is fast on vectors
    begin = offsets[:n_others].astype(np.int64)
    for start in range(0, n, _PAIRS):
        rows = slice(start, min(start + _PAIRS, n))
        own, others = columns[i, rows], columns[:n_others, rows]
        first_cell = np.where(own == missing_code, height - 1, own.astype(np.int64)) * width
        at_once = min(max(_PAIRS // len(own), 1), max(n_others, 1))
        amounts = np.tile(values[rows], at_once)
        for j in range(0, n_others, at_once):
            block, bounds = others[j : j + at_once], begin[j : j + at_once] - begin[j]
            cells = block + first_cell
            if len(block) > 1:
                cells += bounds[:, None]
            is_missing = block == missing_code
            if is_missing.any():
                np.putmask(cells, is_missing, entries.size - 1 - begin[j])
            np.add.at(entries[begin[j] :], cells.reshape(-1), amounts[: cells.size])
