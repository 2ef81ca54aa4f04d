"""Distinct rows of a table of codes, and hashes of rows that do not depend on names or order."""

from __future__ import annotations

import numpy as np

from partita._kernels._dispatch import kernel
from partita._kernels._labels import row_blocks

_FIRST_ROWS = 1024  # rows in which all clusters of a partition most often appear
_LABELS = 1 << 16  # labels of the rows after them that are read at a time


def _mix(x):
    """Return hashes of 64 bits (the finalizer of SplitMix64)."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel
def distinct(codes, inverse, first):
    """Fill `inverse` with the number of each row among the distinct rows, `first` with these rows.

    Distinct rows are numbered by first appearance. Return their number. Rows are told apart by a
    64-bit hash. Then every row is compared with the first one of its hash, so that a collision
    costs only time.
    """
    n, m = codes.shape
    factors = _mix(np.arange(m, dtype=np.uint64))
    hashes = np.empty(n, np.uint64)
    for start, stop in row_blocks(m, 0, n):
        hashes[start:stop] = codes[start:stop].astype(np.uint64) @ factors
    representative, number = _first_of_equals(hashes)
    if not all(
        np.array_equal(codes[start:stop], codes[representative[number[start:stop]]])
        for start, stop in row_blocks(m, 0, n)
    ):
        rows = np.ascontiguousarray(codes).view(np.dtype((np.void, codes.itemsize * m)))
        representative, number = _first_of_equals(rows.ravel())
    n_distinct = len(representative)
    order = np.argsort(representative)
    first[:n_distinct] = representative[order]
    rank = np.empty(n_distinct, np.int64)
    rank[order] = np.arange(n_distinct)
    inverse[:] = rank[number]
    return n_distinct


def _first_of_equals(values):
    """Return the first index of every distinct value, and the number of every value among them."""
    _, representative, number = np.unique(values, return_index=True, return_inverse=True)
    return representative, number.reshape(-1)


@kernel
def gather_colors(codes, missing_code, offsets, row_color, first, last, cluster_color):
    """Fill `cluster_color` of partitions first..last from the multisets of their rows' colors.

    First half of a round of color refinement on the graph of rows, clusters and partitions. The
    sum of hashed 64-bit colors is a hash of a multiset. Sums commute, so that colors depend neither
    on names nor on the order of rows, clusters or partitions.
    """
    begin, end = offsets[first], offsets[last]
    if begin == end:
        return
    color = _mix(row_color)
    # the last entry collects missing labels
    sums = np.zeros(int(end) - int(begin) + 1, np.uint64)
    starts = offsets[first:last].astype(np.int64) - int(begin)
    for top, bottom in row_blocks(last - first, 0, len(codes)):
        block = codes[top:bottom, first:last]
        clusters, is_missing = block + starts, block == missing_code
        if is_missing.any():
            clusters[is_missing] = len(sums) - 1
        np.add.at(sums, clusters.ravel(), np.repeat(color[top:bottom], last - first))
    cluster_color[begin:end] = sums[:-1]
    of_cluster = _mix(cluster_color[begin:end])
    n_clusters = np.diff(offsets[first : last + 1].astype(np.int64))
    partition = np.repeat(np.arange(last - first), n_clusters)
    of_partition = np.zeros(last - first, np.uint64)
    np.add.at(of_partition, partition, of_cluster)
    # a cluster's color includes that of its partition
    cluster_color[begin:end] = _mix(of_cluster ^ _mix(of_partition)[partition])


@kernel
def spread_colors(codes, missing_code, offsets, cluster_color, start, stop, row_color):
    """Update `row_color` of rows start..stop in place by the colors of their clusters.

    Second half of a round of color refinement.
    """
    begin = offsets[:-1].astype(np.int64)
    total = np.empty(stop - start, np.uint64)
    for top, bottom in row_blocks(codes.shape[1], start, stop):
        block = codes[top:bottom]
        is_labeled, clusters = block != missing_code, block + begin
        if is_labeled.all():
            color = cluster_color[clusters]
        else:
            color = np.where(is_labeled, cluster_color[np.where(is_labeled, clusters, 0)], 0)
        total[top - start : bottom - start] = color.sum(axis=1)
    row_color[start:stop] = _mix(row_color[start:stop] ^ total)


@kernel
def number_by_appearance(codes, missing_code, offsets, order, first, last, new_code):
    """Fill `new_code` of partitions first..last with numbers by first appearance in rows `order`.

    new_code[offsets[i] + code] is the new code of a cluster; -1 if the cluster does not appear.
    """
    begin = offsets[first : last + 1].astype(np.int64) - int(offsets[first])
    partition = np.repeat(np.arange(last - first), np.diff(begin))
    appearance = np.full(begin[-1], len(order))
    pending = np.arange(last - first)  # partitions of which clusters have not appeared yet
    start = 0
    while start < len(order) and len(pending):
        rows = order[start : start + max(_FIRST_ROWS, _LABELS // len(pending))][::-1]
        block = codes[rows, first:last]
        if len(pending) < last - first:
            block = block[:, pending]
        clusters, is_labeled = block + begin[pending], block != missing_code
        # from the last row to the first: of equal indices the last one counts
        place = np.arange(start + len(rows), start, -1)[:, None] - 1
        in_block = np.full(begin[-1], len(order))
        in_block[clusters[is_labeled]] = np.broadcast_to(place, block.shape)[is_labeled]
        np.minimum(appearance, in_block, out=appearance)
        pending = np.unique(partition[appearance == len(order)])
        start += len(rows)
    # sort by partition, then by appearance
    in_order = np.argsort(partition * (len(order) + 1) + appearance)
    numbers = np.arange(len(in_order)) - begin[partition]
    numbers[appearance[in_order] == len(order)] = -1
    new_code[offsets[first] + in_order] = numbers


@kernel
def rename(codes, missing_code, offsets, new_code, order, partitions, start, stop, out):
    """Fill rows start..stop of `out` with the new codes of rows `order` and of `partitions`."""
    padded = np.append(new_code, missing_code)  # the last one is that of a missing label
    begin = offsets[partitions].astype(np.int64)
    for top, bottom in row_blocks(len(partitions), start, stop):
        block = codes[order[top:bottom]][:, partitions]
        clusters, is_missing = block + begin, block == missing_code
        if is_missing.any():
            clusters[is_missing] = len(new_code)
        out[top:bottom] = padded[clusters]
