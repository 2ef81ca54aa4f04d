"""k-means on a table of codes: costs by look-up, without a sparse matrix.

Where no label is missing, the kernels below get None as `missing_code`. This is a type of its own:
numba leaves out the code that handles missing labels, which takes most of the time to compile.
"""

from __future__ import annotations

import numpy as np

from partita._kernels._compiled._jit import jit
from partita._kernels._compiled._lists import PADDING, list_clusters
from partita._kernels.quantization import whole_cache_lines

_ROWS = 64  # rows whose labels are listed together
_CACHE_BYTES = 1 << 20  # of a second-level cache


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
    n_groups = masses.shape[1]
    change = whole_cache_lines((n_groups,), np.float64)
    code = None if complete else missing_code
    n_cells = int(offsets[last] - offsets[first] + last - first) * n_groups
    is_small = n_cells <= min(_CACHE_BYTES, len(moved) * (last - first))
    if is_small and old.max(initial=-1) < 0 and (weights == 1.0).all():
        tile = whole_cache_lines((n_groups, n_cells // n_groups), np.uint8)
        of_groups = np.ascontiguousarray(masses[first:last].T)
        _count(codes, code, offsets, mass, moved, new, first, last, tile, of_groups, change, counts)
        masses[first:last] = of_groups.T
    else:
        lists = np.empty((_ROWS, 2, codes.shape[1] + PADDING), np.uint32)
        n_listed = whole_cache_lines((_ROWS,), np.int64)
        _move(
            codes, code, offsets, weights, mass, moved, old, new, first, last, lists, n_listed,
            change, counts, masses,
        )  # fmt: skip
    if complete:
        masses[first:last] += change


@jit(allocates=False, overlaps=False)
def _count(
    codes, missing_code, offsets, mass, moved, new, first, last, tile, of_groups, change, counts
):
    """Update `of_groups`, `change` and `counts` for rows of weight 1 that enter groups.

    tile : uint8, zeros, scratch : for every group, counts modulo 256 in the clusters of partitions
        first..last, then a number per partition that takes its missing labels. It stays in the
        second-level cache, which `counts` would not. There are no branches that could be
        mispredicted, and no lists of labels.
    of_groups : transpose of the masses of these partitions; not used without missing labels
    """
    # unsigned: numba does not test whether an index is negative
    begin, end = np.uint64(first), np.uint64(last)
    base, beyond = np.uint64(offsets[begin]), np.uint64(offsets[end])
    n_groups = np.uint64(counts.shape[1])
    for p in range(np.uint64(len(moved))):
        x = np.uint64(moved[p])
        if new[x] < 0:
            continue
        group, v = np.uint64(new[x]), mass[x]
        row, tile_of, masses_of = codes[x], tile[group], of_groups[group]
        if missing_code is None:
            change[group] += v
        else:
            for i in range(end - begin):
                masses_of[i] += v * np.float64(row[begin + i] != missing_code)
        for i in range(begin, end):
            cluster = np.uint64(offsets[i]) + row[i]
            if missing_code is not None:
                unused = beyond + i - begin
                cluster = cluster if row[i] != missing_code else unused
            count = np.uint8(tile_of[cluster - base] + np.uint8(1))
            tile_of[cluster - base] = count
            if count == 0 and cluster < beyond:
                counts[cluster, group] += 256.0
    for cluster in range(base, beyond):
        for k in range(n_groups):
            counts[cluster, k] += tile[k, cluster - base]


@jit(allocates=False)
def _move(
    codes, missing_code, offsets, weights, mass, moved, old, new, first, last, lists, n_listed,
    change, counts, masses,
):  # fmt: skip
    """Update `counts` and `masses` as `move` does; `lists` and `n_listed` are scratch.

    Labels of some rows are listed before they are counted: the processor then waits for entries of
    `counts`, which are far apart, many at a time.

    Without missing labels add to `change`, of zeros, what all masses of a group change by.
    """
    for begin in range(0, len(moved), _ROWS):
        rows = moved[begin : begin + _ROWS]
        if missing_code is not None:
            for p in range(len(rows)):
                n_listed[p] = list_clusters(
                    codes, rows[p], missing_code, offsets, first, last, lists[p, 0], lists[p, 1]
                )
        for p in range(len(rows)):
            x, clusters, partitions = rows[p], lists[p, 0], lists[p, 1]
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
                    for a in range(n_listed[p]):
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
