"""Cheapest group of every row of a table of codes: by bounds, quantized tables, exact tables.

Quantized tables hold entries of 8 or 16 bits, with a step of its own for every group. Sums of
entries are exact integers and give a lower and an upper bound of a cost. Where these bounds do not
decide, double precision does.
"""

from __future__ import annotations

import numpy as np

from partita._kernels._compiled._jit import jit
from partita._kernels._compiled._lists import PADDING, list_clusters
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
        quantized : entries : of look-ups, then of slopes, in all groups (int8 or int16)
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
    codes, missing_code, offsets = table
    complete, unit, quantized, place, active_quantized, shifts = search.bounds
    rise, fall, inactive_fall = shifts
    lookup, slope = search.costs
    groups, upper, lower = assignment
    scale, n_labeled = terms.scale, terms.n_labeled
    # a type of its own: without missing labels numba leaves out the code that handles them
    missing_code = None if complete else missing_code
    rows, inactive_lower = np.empty(stop - start, np.int64), np.empty(stop - start)
    n_rows = _list_undecided(
        complete, rise, fall, inactive_fall, scale, n_labeled, groups, start, stop, upper, lower,
        inactive_lower, rows,
    )  # fmt: skip
    some = np.empty(_ROWS, np.int64)

    def compare(tables, place, n_rows):
        entries, columns = tables
        low = np.empty((_ROWS, entries.shape[1]), np.float32)
        sums = np.empty(entries.shape[1], np.int16)
        return _compare(
            codes, missing_code, offsets, entries, columns, place, unit, lookup, slope, scale,
            n_labeled, inactive_lower, start, n_rows, lists, low, some, sums, groups, upper, lower,
            rows,
        )  # fmt: skip

    if len(place) > 0:
        n_rows = compare(active_quantized, place, n_rows)
    return compare(quantized, place[:0], n_rows)


@jit(allocates=False)
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


@jit(allocates=False)
def _compare(
    codes, missing_code, offsets, entries, columns, place, unit, lookup, slope, scale,
    n_labeled, inactive_lower, start, n_rows, lists, low, some, sums, groups, upper, lower, rows,
):  # fmt: skip
    """Compare the costs of the first `n_rows` of `rows` in all groups, or in the active ones.

    With a `place`, in the active groups: update `rows` in place, keep those that may move, and
    return their number. Update the bounds `upper` and `lower` of the others. Rows for which active
    groups cannot suffice are kept without a look. `start` is the row to which the first entry of
    `inactive_lower` belongs.

    With an empty `place`, in all groups: put the rows into their cheapest groups, update `groups`,
    `upper` and `lower` in place, and return the number of rows that moved.

    One kernel does both, because most of it, and of the time that the compiler takes, is common to
    both. Rows are compared in small blocks. `some`, `lists`, `low` and `sums` are scratch.
    """
    # typed: a literal would be a type of its own, for which `_bound_costs` would be compiled again
    n_left = n_moved = 0
    is_active, zero = len(place) > 0, np.int64(0)
    for first in range(0, n_rows, _ROWS):
        n_some = zero
        for p in range(first, n_rows if n_rows < first + _ROWS else first + _ROWS):
            x = rows[p]
            if is_active and (groups[x] < 0 or upper[x] >= inactive_lower[x - start]):
                rows[n_left] = x
                n_left += 1
            else:
                some[n_some] = x
                n_some += 1
        _bound_costs(
            codes, missing_code, offsets, entries, columns, np.uint64(lookup.shape[0]),
            scale, n_labeled, some, n_some, lists, low, sums,
        )  # fmt: skip
        for p in range(n_some):
            x, costs = some[p], low[p]
            n, s = np.int64(n_labeled[x]), scale[x]
            own = place[groups[x]] if is_active else -1
            up = np.float64(upper[x])
            if own >= 0:
                above = costs[own] + 2 * n * (columns[0, 2, own] + s * columns[1, 2, own])
                up = above if above < up else up
                up += ULP * abs(up)
                costs[own] = np.inf
            best, cost, second = _two_smallest(costs)
            if is_active:
                lowest = inactive_lower[x - start]
                lowest = lowest if lowest < cost else np.float64(cost)
                if up < lowest:
                    upper[x] = up
                    lower[x] = lowest
                else:
                    rows[n_left] = x
                    n_left += 1
                continue
            up = cost + 2 * n * (columns[0, 2, best] + s * columns[1, 2, best])
            lowest = np.float64(second)
            if up >= lowest:
                best, up, lowest = _two_cheapest(lookup, slope, lists[p], n, s, unit, up, costs)
            if best != groups[x]:
                groups[x] = best
                n_moved += 1
            upper[x] = up + ULP * abs(up)
            lower[x] = lowest - ULP * abs(lowest)
    return n_left if is_active else n_moved


@jit(inner=True, allocates=False)
def _bound_costs(
    codes, missing_code, offsets, entries, columns, n_lookups, scale, n_labeled, rows,
    n_rows, lists, low, sums,
):  # fmt: skip
    """Fill `low` with lower bounds of the costs of the first `n_rows` of `rows`.

    entries : int8 or int16, quantized look-ups, and from row `n_lookups` on quantized slopes; the
        number of columns is a `padded_width`
    columns : step, origin and reach of every column, of look-ups and of slopes
    sums : scratch, int16; sums of _BATCH entries must not overflow

    Fill `lists` with the clusters and the partitions of their labels, all rows first: while one row
    comes from memory, others do. If no label is missing, `missing_code` is None, the partitions
    must be listed already, and the only row of slopes holds their mean.
    """
    m, width, zero = codes.shape[1], np.uint64(low.shape[1]), np.int64(0)
    for p in range(n_rows):
        x, clusters = rows[p], lists[p, 0]
        if missing_code is None:
            for i in range(m):
                clusters[i] = offsets[i] + codes[x, i]
        else:
            list_clusters(codes, x, missing_code, offsets, zero, m, clusters, lists[p, 1])
    for p in range(n_rows):
        x, costs = rows[p], low[p]
        n, s = np.int64(n_labeled[x]), np.float32(scale[x])
        slopes, n_parts = np.float32(0.0), 2
        if missing_code is None:
            slopes, n_parts = s * np.float32(n), 1
        for k in range(width):
            costs[k] = slopes * columns[1, 1, k]
        for a in range(0, n, _BATCH):
            b = n if n < a + _BATCH else a + _BATCH
            for part in range(n_parts):
                listed, begin = lists[p, part], n_lookups if part else np.uint64(0)
                for k in range(width):
                    sums[k] = 0
                whole = b - (b - a) % 8
                for j in range(a, whole, 8):  # eight at a time: the sums are stored less often
                    a0, a1, a2 = begin + listed[j], begin + listed[j + 1], begin + listed[j + 2]
                    a3, a4, a5 = begin + listed[j + 3], begin + listed[j + 4], begin + listed[j + 5]
                    a6, a7 = begin + listed[j + 6], begin + listed[j + 7]
                    for k in range(width):
                        of_four = entries[a0, k] + entries[a1, k] + entries[a2, k] + entries[a3, k]
                        sums[k] += of_four + (
                            entries[a4, k] + entries[a5, k] + entries[a6, k] + entries[a7, k]
                        )
                for j in range(whole, b):
                    row = begin + listed[j]
                    for k in range(width):
                        sums[k] += entries[row, k]
                number, factor = np.float32(b - a), s if part else np.float32(1.0)
                for k in range(width):
                    costs[k] += factor * (
                        number * columns[part, 1, k] + columns[part, 0, k] * np.float32(sums[k])
                    )


@jit(inner=True, allocates=False)
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
        u0, u1 = _larger(s0, v0), _larger(s1, v1)
        u2, u3 = _larger(s2, v2), _larger(s3, v3)
        t0, t1, t2, t3 = _smaller(t0, u0), _smaller(t1, u1), _smaller(t2, u2), _smaller(t3, u3)
        s0, s1, s2, s3 = _smaller(s0, v0), _smaller(s1, v1), _smaller(s2, v2), _smaller(s3, v3)
    s, t = _smaller(s0, s1), _smaller(_smaller(t0, t1), _larger(s0, s1))
    u, v = _smaller(s2, s3), _smaller(_smaller(t2, t3), _larger(s2, s3))
    smallest, second = _smaller(s, u), _smaller(_smaller(t, v), _larger(s, u))
    index = np.int64(0)
    for k in range(n):
        if values[k] == smallest:
            index = np.int64(k)
            break
    return index, smallest, second


@jit(inner=True, allocates=False)
def _smaller(a, b):
    """Return the smaller number. numba compiles `min` for every number of arguments."""
    return a if a < b else b


@jit(inner=True, allocates=False)
def _larger(a, b):
    """Return the larger number."""
    return a if a > b else b


@jit(inner=True, allocates=False)
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
