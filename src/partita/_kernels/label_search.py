"""Cheapest group of every row of a table of codes.

The cost of row x in group k is that of `label_kmeans`, without the constant:

    f(x, k) = Σ_{i: x labeled} lookup[c_i(x), k] + scale[x] Σ_{i: x labeled} slope[i, k].
"""

from __future__ import annotations

import numpy as np

from partita._kernels._dispatch import kernel
from partita._kernels._incidence import CostTables, incidences

TIE = 2.0**-45  # relative to the sum of the sizes of its terms: rounding error of a cost
ULP = 2.0**-23  # by which a bound is widened when it is stored in single precision


@kernel
def assign(table, search, terms, start, stop, assignment):
    """Update `assignment` in place: put rows start..stop into their cheapest groups.

    Costs that differ by less than their rounding error tie, so that the order of the columns has no
    effect; the first group wins. Return the number of rows that moved. A row without a label stays.

    table : CodeTable
    search : costs : lookup, slope
        bounds : None if all costs are to be computed; otherwise, of the definition,
            complete : whether no label is missing
            unit : factor of all costs below, a power of two
            rises[a, k] : upper bound of the rise of a cost in group k since the tables before
            falls[a, k] : lower bound of the change in any other group (negative)
            The first index is a row's number of labels (0 if none is missing); the last axis holds
            the part of the look-ups, and the part that a row's scale multiplies.
    terms : constant, scale, mass, n_labeled : of the rows
    assignment : groups
        upper : upper bound of the cost in the own group
        lower : lower bound of the cost in any other group, both without the constant

    A row whose upper bound is below its lower bound cannot move. Bounds never change a group.
    """
    lookup, slope = search.costs
    groups, upper, lower = assignment
    costs = CostTables(lookup, slope, table.offsets)
    sizes = CostTables(np.abs(lookup), np.abs(slope), table.offsets)
    largest, n_moved = (sizes.lookup.max(), sizes.slope.max()), 0
    for block in incidences(table, _undecided(search.bounds, terms, start, stop, assignment)):
        x = block.rows
        scale = terms.scale[x]
        lookups, slopes = block.cost_sums(costs)
        cost = lookups + scale[:, None] * slopes
        best, each = cost.argmin(axis=1), np.arange(len(x))
        lowest = cost[each, best]
        cost[each, best] = np.inf
        second = cost.min(axis=1)
        # above the rounding errors of all costs of a row: where no other group is as near, there
        # is no tie
        near = 2.0 * TIE * terms.n_labeled[x] * (largest[0] + scale * largest[1])
        if search.bounds is not None:
            upper[x], lower[x] = _widened(search.bounds.unit * lowest, search.bounds.unit * second)
        close = np.flatnonzero(second <= lowest + near)
        if len(close):
            cost[close, best[close]] = lowest[close]
            lookups, slopes = block.only(close).cost_sums(sizes)
            tie = TIE * (lookups + scale[close, None] * slopes)
            best[close] = _first_cheapest(cost[close], tie)
            upper[x[close]] = np.inf  # bounds do not decide
        moved = np.flatnonzero(best != groups[x])
        groups[x[moved]] = best[moved]
        n_moved += len(moved)
    return n_moved


def _undecided(bounds, terms, start, stop, assignment):
    """Return the rows of start..stop that may move; shift the bounds of all rows in place."""
    groups, upper, lower = (array[start:stop] for array in assignment)
    n_labeled, scale = terms.n_labeled[start:stop], terms.scale[start:stop]
    may_move = n_labeled > 0
    if bounds is not None:
        at = 0 if bounds.complete else n_labeled, np.maximum(groups, 0)
        rise, fall = (
            shift[..., 0][at] + scale * shift[..., 1][at] for shift in (bounds.rises, bounds.falls)
        )
        upper[:], lower[:] = _widened(upper + rise, lower + fall)
        may_move &= (groups < 0) | (upper >= lower)
    return start + np.flatnonzero(may_move)


def _widened(upper, lower):
    """Return bounds that stay true when they are stored in single precision."""
    return upper + ULP * np.abs(upper), lower - ULP * np.abs(lower)


def _first_cheapest(cost, tie):
    """Return for every row the group that none of the later ones undercuts by more than a tie."""
    best, best_cost = np.zeros(len(cost), np.int64), cost[:, 0].copy()
    for k in range(1, cost.shape[1]):
        is_cheaper = cost[:, k] < best_cost - tie[:, k]
        best[is_cheaper] = k
        best_cost[is_cheaper] = cost[is_cheaper, k]
    return best
