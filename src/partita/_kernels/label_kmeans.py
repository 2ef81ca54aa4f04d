"""k-means on a table of codes: costs by look-up.

The cost of row x in group k is

    f(x, k) = constant[x] + ( Σ_{i: x labeled} lookup[c_i(x), k]
                              + scale[x] Σ_{i: x labeled} slope[i, k] ),

where c_i(x) is the base cluster of x in partition i. Sums run in the order of the partitions.
`label_search` finds the cheapest group of every row. Records: `table` is a `CodeTable`, `costs` is
(lookup, slope), `moves` is `Moves`.
"""

from __future__ import annotations

import numpy as np

from partita._kernels._dispatch import kernel
from partita._kernels._incidence import CostTables, block_sums, incidences
from partita._kernels._labels import row_blocks


@kernel
def row_costs(table, complete, costs, constant, scale, start, stop, out):
    """Fill rows start..stop of `out`, shape (n, K), with the costs of these rows in all groups.

    `complete` says that no label is missing; it affects speed only.
    """
    lookup, slope = costs
    tables = CostTables(lookup, slope, table.offsets)
    for block in incidences(table, np.arange(start, stop)):
        x = block.rows
        lookups, slopes = block.cost_sums(tables)
        out[x] = constant[x, None] + (lookups + scale[x, None] * slopes)


@kernel
def own_costs(table, complete, costs, constant, scale, groups, start, stop, out):
    """Fill `out` with the cost of every row in its own group; -inf for a row in no group.

    `complete` says that no label is missing; it affects speed only.
    """
    codes, missing_code, offsets = table
    lookup, slope = costs
    group = np.maximum(groups[start:stop], 0)
    lookups, slopes = np.zeros((2, stop - start))
    for i in range(codes.shape[1]):
        code = codes[start:stop, i]
        is_labeled = code != missing_code
        cluster = np.where(is_labeled, offsets[i] + code.astype(np.int64), 0)
        lookups += np.where(is_labeled, lookup[cluster, group], 0.0)
        slopes += np.where(is_labeled, slope[i, group], 0.0)
    cost = constant[start:stop] + (lookups + scale[start:stop] * slopes)
    out[start:stop] = np.where(groups[start:stop] < 0, -np.inf, cost)


@kernel
def move(table, complete, weights, mass, moves, first, last, counts, masses):
    """Update `counts` and `masses` of partitions first..last in place for rows that moved.

    counts[c, k] is the weight of group k in base cluster c. masses[i, k] is the mass of the rows of
    group k that partition i labels, `mass` being that of a row of weight 1. `complete` says that no
    label is missing; the change of the masses is then added up before it is added to `masses`.
    If all weights are 1, `counts` must hold integers: the compiled form counts the rows first.
    Partitions write to different rows of both tables and can run in parallel.
    """
    codes, missing_code, offsets = table
    n_groups = counts.shape[1]
    flat_counts, flat_masses, change = counts.ravel(), masses.ravel(), np.zeros(n_groups)
    begin, partitions = offsets[first:last].astype(np.int64), np.arange(first, last)
    for top, bottom in row_blocks(2 * (last - first), 0, len(moves.rows)):
        rows = np.repeat(moves.rows[top:bottom], 2)  # every row leaves a group and enters one
        group = np.where(np.arange(len(rows)) % 2, moves.new[rows], moves.old[rows])
        weight = np.tile([-1.0, 1.0], bottom - top) * weights[rows]
        is_group = group >= 0
        rows, group, weight = rows[is_group], group[is_group].astype(np.int64), weight[is_group]
        of_mass = weight * mass[rows]
        block = codes[rows, first:last]
        in_counts = (begin + block) * n_groups + group[:, None]
        w = np.repeat(weight, last - first)
        if complete:
            np.add.at(flat_counts, in_counts.ravel(), w)
            np.add.at(change, group, of_mass)
            continue
        labeled = np.flatnonzero(block != missing_code)
        np.add.at(flat_counts, in_counts.ravel()[labeled], w[labeled])
        in_masses = partitions * n_groups + group[:, None]
        v = np.repeat(of_mass, last - first)
        np.add.at(flat_masses, in_masses.ravel()[labeled], v[labeled])
    if complete:
        masses[first:last] += change


@kernel
def ratio_tables(counts, masses, overall, mu, offsets, first, last, lookup, slope):
    """Fill `lookup` and `slope` of partitions first..last for the centers counts / masses.

    With the center m of a group: look-ups -2 μ m and slopes μ ‖m‖². Where a partition labels no row
    of a group, the center is `overall`, that of all rows.
    """
    clusters = slice(offsets[first], offsets[last])
    sizes = np.diff(offsets[first : last + 1])
    mass = np.repeat(masses[first:last], sizes, axis=0)
    is_filled = mass > 0
    ratio = counts[clusters] / np.where(is_filled, mass, 1.0)
    center = np.where(is_filled, ratio, overall[clusters, None])
    lookup[clusters] = np.repeat(-2.0 * mu[first:last], sizes)[:, None] * center
    squares = block_sums(center * center, offsets[first : last + 1] - offsets[first])
    slope[first:last] = mu[first:last, None] * squares
