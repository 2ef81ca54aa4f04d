"""k-means on a table of codes: costs by look-up, without a sparse matrix."""

from __future__ import annotations

import numpy as np

from partita._kernels._compiled._jit import jit
from partita._kernels._compiled._lists import PADDING, list_clusters


def row_costs(table, costs, constant, scale, start, stop, out):
    codes, missing_code, offsets = table
    lookup, slope = costs
    lists, slopes = np.empty((2, codes.shape[1] + PADDING), np.uint32), np.empty(slope.shape[1])
    _row_costs(
        codes, missing_code, offsets, lookup, slope, constant, scale, start, stop, lists, slopes,
        out,
    )  # fmt: skip


@jit
def _row_costs(
    codes, missing_code, offsets, lookup, slope, constant, scale, start, stop, lists, slopes, out
):
    """Fill `out` as `row_costs` does; `lists` and `slopes` are scratch."""
    clusters, partitions = lists[0], lists[1]
    n_groups = np.uint64(lookup.shape[1])  # unsigned: numba does not test for negative indices
    first, last = np.int64(0), codes.shape[1]
    for x in range(start, stop):
        n = list_clusters(codes, x, missing_code, offsets, first, last, clusters, partitions)
        for k in range(n_groups):
            out[x, k] = 0.0
            slopes[k] = 0.0
        for a in range(n):
            lookups, slopes_of = lookup[clusters[a]], slope[partitions[a]]
            for k in range(n_groups):
                out[x, k] += lookups[k]
                slopes[k] += slopes_of[k]
        for k in range(n_groups):
            out[x, k] = constant[x] + (out[x, k] + scale[x] * slopes[k])


def own_costs(table, costs, constant, scale, groups, start, stop, out):
    codes, missing_code, offsets = table
    lookup, slope = costs
    _own_costs(
        codes, missing_code, offsets, lookup, slope, constant, scale, groups, start, stop, out
    )


@jit
def _own_costs(
    codes, missing_code, offsets, lookup, slope, constant, scale, groups, start, stop, out
):
    """Fill `out` as `own_costs` does."""
    for x in range(start, stop):
        k = groups[x]
        if k < 0:
            out[x] = -np.inf
            continue
        lookups = slopes = 0.0
        for i in range(codes.shape[1]):
            if codes[x, i] != missing_code:
                lookups += lookup[offsets[i] + np.int64(codes[x, i]), k]
                slopes += slope[i, k]
        out[x] = constant[x] + (lookups + scale[x] * slopes)


def move(table, complete, weights, mass, moves, first, last, counts, masses):
    codes, missing_code, offsets = table
    moved, old, new = moves
    lists = np.empty((2, codes.shape[1] + PADDING), np.uint32)
    change = np.zeros(masses.shape[1])
    _move(
        codes, missing_code, offsets, complete, weights, mass, moved, old, new, first, last, lists,
        change, counts, masses,
    )  # fmt: skip


@jit
def _move(
    codes, missing_code, offsets, complete, weights, mass, moved, old, new, first, last, lists,
    change, counts, masses,
):  # fmt: skip
    """Update `counts` and `masses` as `move` does; `lists` and `change` are scratch."""
    clusters, partitions = lists[0], lists[1]
    for x in moved:
        row, n = codes[x], 0
        if not complete:
            n = list_clusters(codes, x, missing_code, offsets, first, last, clusters, partitions)
        for k, sign in ((old[x], -1.0), (new[x], 1.0)):
            if k < 0:
                continue
            group, w = np.uint32(k), sign * weights[x]
            v = w * mass[x]
            if complete:
                change[group] += v
                for i in range(np.uint64(first), np.uint64(last)):
                    counts[np.uint32(offsets[i]) + row[i], group] += w
            else:
                for a in range(n):
                    counts[clusters[a], group] += w
                    masses[partitions[a], group] += v
    if complete:
        for i in range(first, last):
            for k in range(len(change)):
                masses[i, k] += change[k]


@jit
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
