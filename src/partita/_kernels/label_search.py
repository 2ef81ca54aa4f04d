"""Cheapest group of every row of a table of codes.

The cost of row x in group k is that of `label_kmeans`, without the constant:

    f(x, k) = Σ_{i: x labeled} lookup[c_i(x), k] + scale[x] Σ_{i: x labeled} slope[i, k].
"""

from __future__ import annotations

import numpy as np

from partita._kernels._dispatch import kernel
from partita._kernels._incidence import CostTables, incidences

TIE = 2.0**-45  # relative to the sum of the sizes of its terms: rounding error of a cost


@kernel
def assign(table, search, terms, start, stop, assignment):
    """Update `assignment` in place: put rows start..stop into their cheapest groups.

    Costs that differ by less than their rounding error tie, so that the order of the columns has no
    effect; the first group wins. Return the number of rows that moved. A row without a label stays.

    table : CodeTable
    search : costs : lookup, slope
        bounds : what the compiled form needs to bound costs, see there; the definition computes all
            costs
    terms : constant, scale, mass, n_labeled : of the rows
    assignment : groups, and the bounds of the compiled form
    """
    lookup, slope = search.costs
    groups, n_moved = assignment.groups, 0
    costs = CostTables(lookup, slope, table.offsets)
    sizes = CostTables(np.abs(lookup), np.abs(slope), table.offsets)
    largest = sizes.lookup.max(), sizes.slope.max()
    for block in incidences(table, start, stop):
        scale = terms.scale[block.start : block.stop, None]
        n_labeled = terms.n_labeled[block.start : block.stop, None]
        lookups, slopes = block.cost_sums(costs)
        cost = lookups + scale * slopes
        best = cost.argmin(axis=1)
        lowest = cost[np.arange(len(cost)), best]
        # above the rounding errors of all costs of a row: where no other group is as near, there
        # is no tie
        near = 2.0 * TIE * n_labeled * (largest[0] + scale * largest[1])
        n_near = np.count_nonzero(cost <= lowest[:, None] + near, axis=1)
        close = np.flatnonzero(n_near > 1)
        if len(close):
            lookups, slopes = block.rows(close).cost_sums(sizes)
            tie = TIE * (lookups + scale[close] * slopes)
            best[close] = _first_cheapest(cost[close], tie)
        previous = groups[block.start : block.stop]
        moved = np.flatnonzero((best != previous) & (n_labeled[:, 0] > 0))
        previous[moved] = best[moved]
        n_moved += len(moved)
    return n_moved


def _first_cheapest(cost, tie):
    """Return for every row the group that none of the later ones undercuts by more than a tie."""
    best, best_cost = np.zeros(len(cost), np.int64), cost[:, 0].copy()
    for k in range(1, cost.shape[1]):
        is_cheaper = cost[:, k] < best_cost - tie[:, k]
        best[is_cheaper] = k
        best_cost[is_cheaper] = cost[is_cheaper, k]
    return best
