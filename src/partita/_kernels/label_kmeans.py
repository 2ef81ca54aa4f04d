"""k-means on a table of codes: costs by look-up, without a sparse matrix.

The cost of row x in group k is

    f(x, k) = constant[x] + Σ_{i: x labeled} ( lookup[c_i(x), k] + scale[x] slope[i, k] ),

where c_i(x) is the base cluster of x in partition i. `label_search` finds the cheapest group of
every row. Records: `table` is a `CodeTable`, `costs` is (lookup, slope), `moves` is `Moves`.
"""

from __future__ import annotations

import numpy as np

from partita._kernels._compiled._jit import jit
from partita._kernels._compiled._vectors import PADDING, list_clusters


@jit
def row_costs(table, costs, constant, scale, start, stop, out):
    """Fill rows start..stop of `out`, shape (n, K), with the costs of these rows in all groups."""
    codes, missing_code, offsets = table
    lookup, slope = costs
    m, n_groups = codes.shape[1], lookup.shape[1]
    clusters, partitions = np.empty(m + PADDING, np.int32), np.empty(m + PADDING, np.int32)
    for x in range(start, stop):
        n = list_clusters(codes, x, missing_code, offsets, 0, m, clusters, partitions)
        for k in range(n_groups):
            out[x, k] = constant[x]
        for a in range(n):
            c, i = clusters[a], partitions[a]
            for k in range(n_groups):
                out[x, k] += lookup[c, k] + scale[x] * slope[i, k]


@jit
def own_costs(table, costs, constant, scale, groups, start, stop, out):
    """Fill `out` with the cost of every row in its own group; -inf for a row in no group."""
    codes, missing_code, offsets = table
    lookup, slope = costs
    m = codes.shape[1]
    for x in range(start, stop):
        k = groups[x]
        if k < 0:
            out[x] = -np.inf
            continue
        total = constant[x]
        for i in range(m):
            if codes[x, i] != missing_code:
                total += lookup[offsets[i] + np.int64(codes[x, i]), k] + scale[x] * slope[i, k]
        out[x] = total


@jit
def move(table, complete, weights, mass, moves, first, last, counts, masses):
    """Update `counts` and `masses` of partitions first..last in place for rows that moved.

    counts[c, k] is the weight of group k in base cluster c. masses[i, k] is the mass of the rows of
    group k that partition i labels, `mass` being that of a row of weight 1. `complete` says that no
    label is missing. Partitions write to different rows of both tables and can run in parallel.
    """
    codes, missing_code, offsets = table
    moved, old, new = moves
    m = codes.shape[1]
    clusters, partitions = np.empty(m + PADDING, np.int32), np.empty(m + PADDING, np.int32)
    # unsigned indices: numba then does not test whether an index is negative
    cluster, partition = clusters.view(np.uint32), partitions.view(np.uint32)
    change = np.zeros(masses.shape[1])
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
                    counts[cluster[a], group] += w
                    masses[partition[a], group] += v
    if complete:
        for i in range(first, last):
            masses[i] += change


@jit
def ratio_tables(counts, masses, overall, mu, offsets, first, last, lookup, slope):
    """Fill `lookup` and `slope` of partitions first..last for the centers counts / masses.

    With the center m of a group: look-ups -2 μ m and slopes μ ‖m‖². Where a partition labels no row
    of a group, the center is `overall`, that of all rows.
    """
    n_groups = np.uint64(counts.shape[1])  # unsigned, see `move`
    for i in range(first, last):
        begin, end = np.uint64(offsets[i]), np.uint64(offsets[i + 1])
        for k in range(n_groups):
            mass, squares = masses[i, k], 0.0
            for c in range(begin, end):
                center = counts[c, k] / mass if mass > 0 else overall[c]
                lookup[c, k] = -2.0 * mu[i] * center
                squares += center * center
            slope[i, k] = mu[i] * squares
