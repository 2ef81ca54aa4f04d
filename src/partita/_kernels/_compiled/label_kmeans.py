"""k-means on a table of codes: costs by look-up, without a sparse matrix.

Where no label is missing, the kernels below get None as `missing_code`. This is a type of its own:
numba leaves out the code that handles missing labels, which takes most of the time to compile.
"""

from __future__ import annotations

import numpy as np

from partita._kernels._compiled._jit import jit
from partita._kernels._compiled._lists import PADDING, list_clusters


def row_costs(table, complete, costs, constant, scale, start, stop, out):
    begin = np.zeros(len(out), np.int32)
    _sum_costs(table, complete, costs, constant, scale, begin, start, stop, out)


def own_costs(table, complete, costs, constant, scale, groups, start, stop, out):
    begin = np.maximum(groups, 0)
    _sum_costs(table, complete, costs, constant, scale, begin, start, stop, out[:, None])
    out[start:stop][groups[start:stop] < 0] = -np.inf


def _sum_costs(table, complete, costs, constant, scale, begin, start, stop, out):
    """Fill rows start..stop of `out` as `_row_costs` does."""
    codes, missing_code, offsets = table
    lookup, slope = costs
    lists, slopes = np.empty((2, codes.shape[1] + PADDING), np.uint32), np.empty(out.shape[1])
    missing_code = None if complete else missing_code
    _row_costs(
        codes, missing_code, offsets, lookup, slope, constant, scale, begin, start, stop, lists,
        slopes, out,
    )  # fmt: skip


@jit(allocates=False)
def _row_costs(
    codes, missing_code, offsets, lookup, slope, constant, scale, begin, start, stop, lists, slopes,
    out,
):  # fmt: skip
    """Fill rows start..stop of `out` with costs in as many groups as it has columns.

    begin : int32, the first of these groups for every row
    lists, slopes : scratch
    """
    clusters, partitions = lists[0], lists[1]
    n_groups = np.uint64(out.shape[1])  # unsigned: numba does not test for negative indices
    first, last, n = np.int64(0), codes.shape[1], codes.shape[1]
    for x in range(start, stop):
        if missing_code is not None:
            n = list_clusters(codes, x, missing_code, offsets, first, last, clusters, partitions)
        group = np.uint64(begin[x])
        for k in range(n_groups):
            out[x, k] = 0.0
            slopes[k] = 0.0
        for a in range(np.uint64(n)):
            if missing_code is None:
                partition, cluster = a, np.uint32(offsets[a]) + codes[x, a]
            else:
                partition, cluster = partitions[a], clusters[a]
            lookups, slopes_of = lookup[cluster], slope[partition]
            for k in range(n_groups):
                out[x, k] += lookups[group + k]
                slopes[k] += slopes_of[group + k]
        for k in range(n_groups):
            out[x, k] = constant[x] + (out[x, k] + scale[x] * slopes[k])


def move(table, complete, weights, mass, moves, first, last, counts, masses):
    codes, missing_code, offsets = table
    moved, old, new = moves
    lists = np.empty((2, codes.shape[1] + PADDING), np.uint32)
    change, missing_code = np.zeros(masses.shape[1]), None if complete else missing_code
    _move(
        codes, missing_code, offsets, weights, mass, moved, old, new, first, last, lists, change,
        counts, masses,
    )  # fmt: skip
    if complete:
        masses[first:last] += change


@jit(allocates=False)
def _move(
    codes, missing_code, offsets, weights, mass, moved, old, new, first, last, lists, change,
    counts, masses,
):  # fmt: skip
    """Update `counts` and `masses` as `move` does; `lists` is scratch.

    Without missing labels add to `change`, of zeros, what all masses of a group change by.
    """
    clusters, partitions, n = lists[0], lists[1], 0
    for x in moved:
        if missing_code is not None:
            n = list_clusters(codes, x, missing_code, offsets, first, last, clusters, partitions)
        for enters in range(2):
            k = new[x] if enters else old[x]
            if k < 0:
                continue
            group, w = np.uint32(k), weights[x] if enters else -weights[x]
            v = w * mass[x]
            if missing_code is None:
                change[group] += v
                for i in range(np.uint64(first), np.uint64(last)):
                    counts[np.uint32(offsets[i]) + codes[x, i], group] += w
            else:
                for a in range(n):
                    counts[clusters[a], group] += w
                    masses[partitions[a], group] += v


@jit(allocates=False)
def ratio_tables(counts, masses, overall, mu, offsets, first, last, lookup, slope):
    n_groups = np.uint64(counts.shape[1])  # unsigned: see `_row_costs`
    for i in range(first, last):
        begin, end = np.uint64(offsets[i]), np.uint64(offsets[i + 1])
        for k in range(n_groups):
            mass, squares = masses[i, k], 0.0
            for c in range(begin, end):
                center = counts[c, k] / mass if mass > 0 else overall[c]
                lookup[c, k] = -2.0 * mu[i] * center
                squares += center * center
            slope[i, k] = mu[i] * squares
