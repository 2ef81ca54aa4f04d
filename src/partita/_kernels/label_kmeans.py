"""k-means on a table of labels: distances by look-up, no sparse matrix.

The cost of row x in group k is

    f(x, k) = constant[x] + Σ_{i: x labeled} ( lookup[c_i(x), k] + scale[x] slope[i, k] ),

c_i(x) being x's cluster in partition i, numbered through. The cheapest group of a row is found by
`label_search`.
"""

from __future__ import annotations

import numpy as np

from partita._kernels._jit import jit
from partita._kernels._vectors import ROOM, list_clusters


@jit
def row_costs(labels, missing, offsets, lookup, slope, constant, scale, start, stop, out):
    """All costs of rows start..stop in double precision, into the same rows of `out`."""
    m, n_groups = labels.shape[1], lookup.shape[1]
    clusters, partitions = np.empty(m + ROOM, np.int32), np.empty(m + ROOM, np.int32)
    for x in range(start, stop):
        n = list_clusters(labels, x, missing, offsets, 0, m, clusters, partitions)
        for k in range(n_groups):
            out[x, k] = constant[x]
        for a in range(n):
            c, i = clusters[a], partitions[a]
            for k in range(n_groups):
                out[x, k] += lookup[c, k] + scale[x] * slope[i, k]


@jit
def own_costs(labels, missing, offsets, lookup, slope, constant, scale, groups, start, stop, out):
    """Cost of every row in its own group; -inf for a row in none."""
    m = labels.shape[1]
    for x in range(start, stop):
        k = groups[x]
        if k < 0:
            out[x] = -np.inf
            continue
        total = constant[x]
        for i in range(m):
            if labels[x, i] != missing:
                total += lookup[offsets[i] + np.int64(labels[x, i]), k] + scale[x] * slope[i, k]
        out[x] = total


@jit
def move(
    labels, missing, complete, offsets, weights, mass, moved, old, new, first, last, counts, masses
):
    """Bring the group statistics of partitions first..last up to date with the rows `moved`.

    counts[c, k] is the weight of group k in cluster c, masses[i, k] its mass among the rows that
    partition i labels, `mass` being that of a row of weight 1. A negative group is none. Partitions
    touch separate rows of both tables, so that they can run side by side.
    """
    m = labels.shape[1]
    clusters, partitions = np.empty(m + ROOM, np.int32), np.empty(m + ROOM, np.int32)
    cluster, partition = clusters.view(np.uint32), partitions.view(np.uint32)  # never negative
    change = np.zeros(masses.shape[1])
    for x in moved:
        row, n = labels[x], 0
        if not complete:
            n = list_clusters(labels, x, missing, offsets, first, last, clusters, partitions)
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
    """Look-ups -2 μ m and slopes μ ‖m‖² of the centers m = counts / masses, partition by partition.

    A group none of whose rows a partition labels has the partition's overall center there.
    """
    n_groups = np.uint64(counts.shape[1])  # unsigned: a negative place is looked for nowhere
    for i in range(first, last):
        begin, end = np.uint64(offsets[i]), np.uint64(offsets[i + 1])
        for k in range(n_groups):
            mass, squares = masses[i, k], 0.0
            for c in range(begin, end):
                center = counts[c, k] / mass if mass > 0 else overall[c]
                lookup[c, k] = -2.0 * mu[i] * center
                squares += center * center
            slope[i, k] = mu[i] * squares
