"""Cheapest group of every row of a table of codes: by bounds, quantized tables, exact tables.

The cost of row x in group k is

    f(x, k) = constant[x] + Σ_{i: x labeled} ( lookup[c_i(x), k] + scale[x] slope[i, k] ),

where c_i(x) is the base cluster of x in partition i. Quantized tables hold entries of 8 or 16 bits,
with a step of its own for every group. Sums of entries are exact integers and give a lower and an
upper bound of a cost. Where these bounds do not decide, double precision does.
"""

from __future__ import annotations

import numpy as np

from partita._kernels._compiled._jit import jit
from partita._kernels._compiled._vectors import (
    PADDING,
    add_costs,
    list_clusters,
    prefetch_row,
    two_smallest,
)

__all__ = ["assign"]

_BLOCK = 512  # rows whose bounds are updated together
_AHEAD = 2  # rows by which prefetching is ahead
_BATCH = 64  # entries whose sum cannot overflow 16 bits
_TIE = 2.0**-45  # relative to the sum of the sizes of its terms: rounding error of a cost
_ULP = 2.0**-23  # by which a bound is widened when it is stored in single precision


@jit(inline=True)
def _fill_clusters(codes, x, missing_code, complete, offsets, clusters, partitions):
    """Fill `clusters` and `partitions` with those of row x; return their number.

    If no label is missing, `partitions` must hold 0..m already.
    """
    m = codes.shape[1]
    if complete:
        for i in range(m):
            clusters[i] = offsets[i] + np.int32(codes[x, i])
        return m
    return list_clusters(codes, x, missing_code, offsets, 0, m, clusters, partitions)


@jit(inline=True)
def _fill_lower_costs(
    lookup, slope, step, slope_step, origin, slope_origin, complete, clusters, partitions, n, scale,
    low,
):  # fmt: skip
    """Fill `low` with lower bounds, from quantized tables, of the costs of a row with n labels."""
    one, s = np.float32(1.0), np.float32(scale)
    # if no label is missing, the slopes are one term, else they are added below
    slopes = s * np.float32(n) if complete else np.float32(0.0)
    for k in range(len(low)):
        low[k] = slopes * slope_origin[k]
    for first in range(0, n, _BATCH):
        last = min(first + _BATCH, n)
        add_costs(lookup, clusters, first, last, origin, step, one, low)
        if not complete:
            add_costs(slope, partitions, first, last, slope_origin, slope_step, s, low)


@jit
def _exact_cost(clusters, partitions, n, lookup, slope, scale, k):
    """Return the cost in group k in double precision, and the sum of the sizes of its terms."""
    # four independent sums: an addition does not wait for the one before
    t0 = t1 = t2 = t3 = s0 = s1 = s2 = s3 = 0.0
    whole = n - n % 4
    for a in range(0, whole, 4):
        v0 = lookup[clusters[a], k] + scale * slope[partitions[a], k]
        v1 = lookup[clusters[a + 1], k] + scale * slope[partitions[a + 1], k]
        v2 = lookup[clusters[a + 2], k] + scale * slope[partitions[a + 2], k]
        v3 = lookup[clusters[a + 3], k] + scale * slope[partitions[a + 3], k]
        t0, t1, t2, t3 = t0 + v0, t1 + v1, t2 + v2, t3 + v3
        s0, s1, s2, s3 = s0 + abs(v0), s1 + abs(v1), s2 + abs(v2), s3 + abs(v3)
    for a in range(whole, n):
        v0 = lookup[clusters[a], k] + scale * slope[partitions[a], k]
        t0, s0 = t0 + v0, s0 + abs(v0)
    return (t0 + t1) + (t2 + t3), (s0 + s1) + (s2 + s3)


@jit
def _two_cheapest(clusters, partitions, n, lookup, slope, scale, unit, low, limit):
    """Return the cheapest group, its cost, and a lower bound of the cost in any other group.

    Exact costs are computed only for groups whose lower bound `low` is at most `limit`. Costs that
    differ by less than the rounding error tie, so that the order of the columns has no effect; the
    first group wins.
    """
    best, best_cost, second = -1, np.inf, np.inf
    for k in range(lookup.shape[1]):
        value, tie = np.float64(low[k]), 0.0
        if value <= limit:
            exact, size = _exact_cost(clusters, partitions, n, lookup, slope, scale, k)
            value, tie = unit * exact, unit * _TIE * size
        if value < best_cost - tie:
            second = best_cost
            best, best_cost = k, value
        elif value < second:
            second = value
    return best, best_cost, second


@jit(inline=True)
def _list_undecided(
    complete, rise, fall, inactive_fall, scale, n_labeled, start, stop, groups, upper, lower, rows,
    inactive_lower,
):  # fmt: skip
    """Fill `rows` with the rows of start..stop whose bounds do not prove that they stay.

    Return their number. Update the bounds `upper` and `lower` in place, and fill `inactive_lower`
    with a lower bound of the cost in any group that is not active.
    """
    for x in range(start, stop):
        if groups[x] < 0:  # in no group: there are no bounds
            continue
        k, s = np.uint32(groups[x]), scale[x]
        a = np.uint32(0) if complete else np.uint32(n_labeled[x])
        inactive = lower[x] + (inactive_fall[a, 0] + s * inactive_fall[a, 1])
        inactive_lower[x - start] = inactive - _ULP * abs(inactive)
        up = upper[x] + (rise[a, k, 0] + s * rise[a, k, 1])
        upper[x] = up + _ULP * abs(up)
        low = lower[x] + (fall[a, k, 0] + s * fall[a, k, 1])
        lower[x] = low - _ULP * abs(low)
    # a loop of its own, without branches that could be mispredicted
    n_rows = np.uint32(0)
    for x in range(start, stop):
        rows[n_rows] = x
        stays = (groups[x] >= 0) & (upper[x] < lower[x])
        n_rows += np.uint32((not stays) & (n_labeled[x] > 0))
    return n_rows


@jit
def assign(table, search, terms, start, stop, assignment):
    """Update `assignment` in place: put rows start..stop into their cheapest groups.

    The first of equally cheap groups wins. Return the number of rows that moved.

    table : CodeTable
    search : complete : whether no label is missing
        unit : factor of all costs below, a power of two
        costs : lookup, slope : exact tables
        quantized : lookup, slope : entries of all groups (int8 or int16)
            columns[0] : for every column of look-ups
                step : of its entries
                origin : lower bound of the value of an entry 0
                reach : half the width of the interval that an entry stands for
            columns[1] : the same for slopes
        active : groups whose tables changed most
        active_quantized : their columns of `quantized`
        shifts : how far costs can have changed with the tables. The first index is a row's number
            of labels (0 if none is missing); the last axis holds the part of the look-ups, and the
            part that a row's scale multiplies.
            rise[a, k] : upper bound of the rise in group k
            fall[a, k] : lower bound of the change in any other group (negative)
            inactive_fall[a] : the same for any group that is not active
    terms : constant, scale, mass, n_labeled : of the rows
    assignment : groups
        upper : upper bound of the cost in the own group
        lower : lower bound of the cost in any other group, both without the constant

    A row whose upper bound is below its lower bound cannot move and needs no look-up. Where only
    active groups could be cheaper, they alone are compared first. Bounds and quantized tables never
    change a label.
    """
    codes, missing_code, offsets = table
    complete, unit, (lookup, slope), quantized, active, active_quantized, shifts = search
    entries, slope_entries, columns = quantized
    step, origin, reach = columns[0, 0], columns[0, 1], columns[0, 2]
    slope_step, slope_origin, slope_reach = columns[1, 0], columns[1, 1], columns[1, 2]
    few_entries, few_slope_entries, columns = active_quantized
    few_step, few_origin, few_reach = columns[0, 0], columns[0, 1], columns[0, 2]
    few_slope_step, few_slope_origin, few_slope_reach = columns[1, 0], columns[1, 1], columns[1, 2]
    rise, fall, inactive_fall = shifts
    _, scale, _, n_labeled = terms
    groups, upper, lower = assignment
    m, width, n_active = codes.shape[1], len(step), len(few_step)
    clusters, partitions = np.empty(m + PADDING, np.int32), np.arange(m + PADDING).astype(np.int32)
    low, few_low = np.empty(width, np.float32), np.empty(n_active, np.float32)
    place = np.full(lookup.shape[1], -1, np.int64)  # of a group among the active ones
    for j in range(n_active):
        place[active[j]] = j
    rows, inactive_lower = np.empty(_BLOCK, np.int64), np.empty(_BLOCK)
    n_moved = 0
    for begin in range(start, stop, _BLOCK):
        n_rows = _list_undecided(
            complete, rise, fall, inactive_fall, scale, n_labeled, begin,
            min(begin + _BLOCK, stop), groups, upper, lower, rows, inactive_lower,
        )  # fmt: skip
        for p in range(n_rows):
            x = rows[p]
            prefetch_row(codes, rows[min(p + _AHEAD, n_rows - 1)])
            k, s = groups[x], scale[x]
            n = _fill_clusters(codes, x, missing_code, complete, offsets, clusters, partitions)
            up, inactive = np.float64(upper[x]), inactive_lower[x - begin]
            if n_active > 0 and k >= 0 and up < inactive:
                _fill_lower_costs(
                    few_entries, few_slope_entries, few_step, few_slope_step, few_origin,
                    few_slope_origin, complete, clusters, partitions, n, s, few_low,
                )  # fmt: skip
                own = place[k]
                if own >= 0:
                    above = 2 * n * (few_reach[own] + s * few_slope_reach[own])
                    up = min(up, few_low[own] + above)
                    up += _ULP * abs(up)
                    few_low[own] = np.inf
                _, other, _ = two_smallest(few_low)
                lowest = min(inactive, np.float64(other))
                if up < lowest:
                    upper[x] = up
                    lower[x] = lowest
                    continue
            _fill_lower_costs(
                entries, slope_entries, step, slope_step, origin, slope_origin, complete, clusters,
                partitions, n, s, low,
            )  # fmt: skip
            best, cost, second = two_smallest(low)
            up, lowest = cost + 2 * n * (reach[best] + s * slope_reach[best]), np.float64(second)
            if up >= lowest:
                best, up, lowest = _two_cheapest(
                    clusters, partitions, n, lookup, slope, s, unit, low, up
                )
            if best != k:
                groups[x] = best
                n_moved += 1
            upper[x] = up + _ULP * abs(up)
            lower[x] = lowest - _ULP * abs(lowest)
    return n_moved
