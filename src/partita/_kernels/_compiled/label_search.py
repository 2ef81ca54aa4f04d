"""Cheapest group of every row of a table of codes: by bounds, quantized tables, exact tables.

Quantized tables hold entries of 8 or 16 bits, with a step of its own for every group. Sums of
entries are exact integers and give a lower and an upper bound of a cost. Where these bounds do not
decide, double precision does.
"""

from __future__ import annotations

import numpy as np

from partita._kernels._compiled._jit import jit
from partita._kernels._compiled._lists import PADDING, list_clusters
from partita._kernels._compiled._sums import add_costs
from partita._kernels.label_search import TIE, ULP

__all__ = ["assign"]

_BLOCK = 4096  # rows that the kernels visit one after the other
_ROWS = 32  # rows whose costs are kept together
_BATCH = 64  # entries whose sum cannot overflow 16 bits


def assign(table, search, terms, start, stop, assignment):
    """Compare only groups that can be the cheapest.

    The record `bounds` of a search holds
        complete : whether no label is missing
        unit : factor of all costs below, a power of two
        quantized : lookup, slope : entries of all groups (int8 or int16)
            columns[0] : for every column of look-ups
                step : of its entries
                origin : lower bound of the value of an entry 0
                reach : half the width of the interval that an entry stands for
            columns[1] : the same for slopes
        place : number of every group among the active ones, whose tables changed most; -1 if it is
            not active
        active_quantized : the columns of `quantized` of the active groups
        shifts : how far costs can have changed with the tables. The first index is a row's number
            of labels (0 if none is missing); the last axis holds the part of the look-ups, and the
            part that a row's scale multiplies.
            rise[a, k] : upper bound of the rise in group k
            fall[a, k] : lower bound of the change in any other group (negative)
            inactive_fall[a] : the same for any group that is not active
    and the assignment
        upper : upper bound of the cost in the own group
        lower : lower bound of the cost in any other group, both without the constant

    A row whose upper bound is below its lower bound cannot move and needs no look-up. Where only
    active groups could be cheaper, they alone are compared first. Bounds and quantized tables never
    change a group.
    """
    lists = np.empty((_ROWS, 2, table.codes.shape[1] + PADDING), np.uint32)
    lists[:, 1] = np.arange(lists.shape[2])
    return sum(
        _assign_block(table, search, terms, begin, min(begin + _BLOCK, stop), lists, assignment)
        for begin in range(start, stop, _BLOCK)
    )


def _assign_block(table, search, terms, start, stop, lists, assignment):
    """Assign rows whose labels stay in the cache from one kernel to the next."""
    complete, unit, quantized, place, active_quantized, shifts = search.bounds
    rise, fall, inactive_fall = shifts
    lookup, slope = search.costs
    groups, upper, lower = assignment
    record, scale, n_labeled = (*table, complete), terms.scale, terms.n_labeled
    rows, inactive_lower = np.empty(stop - start, np.int64), np.empty(stop - start)
    n_rows = _list_undecided(
        complete, rise, fall, inactive_fall, scale, n_labeled, groups, start, stop, upper, lower,
        inactive_lower, rows,
    )  # fmt: skip
    rows = rows[:n_rows]
    sums = np.empty(quantized[0].shape[1], np.int16)
    if len(place) > 0:
        low = np.empty((_ROWS, active_quantized[0].shape[1]), np.float32)
        n_rows = _compare_active(
            record, tuple(active_quantized), place, scale, n_labeled, inactive_lower, groups,
            start, lists, low, np.empty(_ROWS, np.int64), sums, upper, lower, rows,
        )  # fmt: skip
        rows = rows[:n_rows]
    low = np.empty((_ROWS, len(sums)), np.float32)
    return _take_cheapest(
        record, tuple(quantized), unit, lookup, slope, scale, n_labeled, rows, lists, low, sums,
        groups, upper, lower,
    )  # fmt: skip


@jit
def _list_undecided(
    complete, rise, fall, inactive_fall, scale, n_labeled, groups, start, stop, upper, lower,
    inactive_lower, rows,
):  # fmt: skip
    """Fill `rows` with the rows of start..stop whose bounds do not prove that they stay.

    Return their number. Update the bounds `upper` and `lower` in place, and fill `inactive_lower`
    with a lower bound of the cost in any group that is not active.
    """
    for x in range(start, stop):
        if groups[x] < 0:  # in no group: there are no bounds
            continue
        k, s = np.uint32(groups[x]), scale[x]
        a = np.uint32(0 if complete else n_labeled[x])
        inactive = lower[x] + (inactive_fall[a, 0] + s * inactive_fall[a, 1])
        inactive_lower[x - start] = inactive - ULP * abs(inactive)
        up = upper[x] + (rise[a, k, 0] + s * rise[a, k, 1])
        upper[x] = up + ULP * abs(up)
        low = lower[x] + (fall[a, k, 0] + s * fall[a, k, 1])
        lower[x] = low - ULP * abs(low)
    # a loop of its own, without branches that could be mispredicted
    n_rows = np.uint64(0)  # unsigned: numba does not test whether such an index is negative
    for x in range(start, stop):
        rows[n_rows] = x
        stays = (groups[x] >= 0) & (upper[x] < lower[x])
        n_rows += np.uint64((not stays) & (n_labeled[x] > 0))
    return n_rows


@jit
def _compare_active(
    table, quantized, place, scale, n_labeled, inactive_lower, groups, start, lists, low, some,
    sums, upper, lower, rows,
):  # fmt: skip
    """Update `rows` in place: keep those that may move by their costs in the active groups.

    Return the number of rows that are kept. Update the bounds `upper` and `lower` of the others.
    Rows for which active groups may suffice are compared in small blocks. `start` is the row to
    which the first entry of `inactive_lower` belongs. `lists`, `low`, `some` and `sums` are
    scratch.
    """
    # typed: a literal would be a type of its own, for which `_bound_costs` would be compiled again
    columns, n_left, zero = quantized[2], 0, np.int64(0)
    for first in range(0, len(rows), _ROWS):
        n_some = zero
        for p in range(first, min(first + _ROWS, len(rows))):
            x = rows[p]
            if groups[x] >= 0 and upper[x] < inactive_lower[x - start]:
                some[n_some] = x
                n_some += 1
            else:
                rows[n_left] = x
                n_left += 1
        _bound_costs(table, quantized, scale, n_labeled, some, zero, n_some, lists, low, sums)
        for p in range(n_some):
            x, costs = some[p], low[p]
            up, own = np.float64(upper[x]), place[groups[x]]
            if own >= 0:
                above = 2 * n_labeled[x] * (columns[0, 2, own] + scale[x] * columns[1, 2, own])
                up = min(up, costs[own] + above)
                up += ULP * abs(up)
                costs[own] = np.inf
            _, other, _ = _two_smallest(costs)
            lowest = min(inactive_lower[x - start], np.float64(other))
            if up < lowest:
                upper[x] = up
                lower[x] = lowest
            else:
                rows[n_left] = x
                n_left += 1
    return n_left


@jit
def _take_cheapest(
    table, quantized, unit, lookup, slope, scale, n_labeled, rows, lists, low, sums, groups, upper,
    lower,
):  # fmt: skip
    """Put `rows` into their cheapest groups: update `groups`, `upper` and `lower` in place.

    Return the number of rows that moved. Rows are compared in small blocks. `lists`, `low` and
    `sums` are scratch.
    """
    columns, n_moved = quantized[2], 0
    for first in range(0, len(rows), _ROWS):
        last = min(first + _ROWS, len(rows))
        _bound_costs(table, quantized, scale, n_labeled, rows, first, last, lists, low, sums)
        for p in range(last - first):
            x = rows[first + p]
            n, s = n_labeled[x], scale[x]
            best, cost, second = _two_smallest(low[p])
            up = cost + 2 * n * (columns[0, 2, best] + s * columns[1, 2, best])
            lowest = np.float64(second)
            if up >= lowest:
                best, up, lowest = _two_cheapest(lookup, slope, lists[p], n, s, unit, up, low[p])
            if best != groups[x]:
                groups[x] = best
                n_moved += 1
            upper[x] = up + ULP * abs(up)
            lower[x] = lowest - ULP * abs(lowest)
    return n_moved


@jit(inner=True)
def _bound_costs(table, quantized, scale, n_labeled, rows, first, last, lists, low, sums):
    """Fill `low` with lower bounds of the costs of those at first..last of `rows`.

    Fill `lists` with the clusters and the partitions of their labels, all rows first: while one row
    comes from memory, others do. If no label is missing, the partitions must be listed already.
    `sums` is scratch.
    """
    codes, missing_code, offsets, complete = table
    entries, slope_entries, columns = quantized
    step, origin = columns[0, 0], columns[0, 1]
    slope_step, slope_origin = columns[1, 0], columns[1, 1]
    m, zero, one = codes.shape[1], np.int64(0), np.float32(1.0)
    for p in range(last - first):
        x, clusters = rows[first + p], lists[p, 0]
        if complete:
            for i in range(m):
                clusters[i] = offsets[i] + codes[x, i]
        else:
            list_clusters(codes, x, missing_code, offsets, zero, m, clusters, lists[p, 1])
    for p in range(last - first):
        x, costs, clusters, partitions = rows[first + p], low[p], lists[p, 0], lists[p, 1]
        s, n = np.float32(scale[x]), np.int64(n_labeled[x])
        slopes = s * np.float32(n) if complete else np.float32(0.0)  # complete: they are one term
        for k in range(len(costs)):
            costs[k] = slopes * slope_origin[k]
        for a in range(0, n, _BATCH):
            b = min(a + _BATCH, n)
            add_costs(entries, clusters, a, b, origin, step, one, sums, costs)
            if not complete:
                add_costs(slope_entries, partitions, a, b, slope_origin, slope_step, s, sums, costs)


@jit(inner=True)
def _two_smallest(values):
    """Return the index of a smallest value, that value, and the smallest of the others.

    Every fourth value belongs to a chain of its own: no chain waits for another, and there is no
    branch that could be mispredicted. The number of values is divisible by 4.
    """
    s0 = s1 = s2 = s3 = t0 = t1 = t2 = t3 = np.float32(np.inf)  # two smallest of each chain
    n = np.uint64(len(values))  # unsigned: numba does not test for negative indices
    for k in range(np.uint64(0), n, np.uint64(4)):
        v0, v1 = values[k], values[k + np.uint64(1)]
        v2, v3 = values[k + np.uint64(2)], values[k + np.uint64(3)]
        t0, t1 = min(t0, max(s0, v0)), min(t1, max(s1, v1))
        t2, t3 = min(t2, max(s2, v2)), min(t3, max(s3, v3))
        s0, s1, s2, s3 = min(s0, v0), min(s1, v1), min(s2, v2), min(s3, v3)
    s, t = min(s0, s1), min(t0, t1, max(s0, s1))
    u, v = min(s2, s3), min(t2, t3, max(s2, s3))
    smallest, second = min(s, u), min(t, v, max(s, u))
    index = np.int64(0)
    for k in range(n):
        if values[k] == smallest:
            index = np.int64(k)
            break
    return index, smallest, second


@jit(inner=True)
def _two_cheapest(lookup, slope, lists, n, scale, unit, limit, low):
    """Return the cheapest group, its cost, and a lower bound of the cost in any other group.

    Exact costs are computed only for groups whose lower bound `low` is at most `limit`. `lists`
    holds the clusters and the partitions of the n labels of a row.
    """
    clusters, partitions = lists[0], lists[1]
    best, best_cost, second = -1, np.inf, np.inf
    for k in range(lookup.shape[1]):
        value, tie = np.float64(low[k]), 0.0
        if value <= limit:
            lookups = slopes = lookup_sizes = slope_sizes = 0.0
            for a in range(n):
                of_cluster, of_partition = lookup[clusters[a], k], slope[partitions[a], k]
                lookups += of_cluster
                slopes += of_partition
                lookup_sizes += abs(of_cluster)
                slope_sizes += abs(of_partition)
            value = unit * (lookups + scale * slopes)
            tie = unit * (TIE * (lookup_sizes + scale * slope_sizes))
        if value < best_cost - tie:
            second = best_cost
            best, best_cost = k, value
        elif value < second:
            second = value
    return best, best_cost, second
