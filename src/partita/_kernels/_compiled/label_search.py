"""Cheapest group of every row of a table of codes: by bounds, quantized tables, exact tables.

Quantized tables hold entries of 8 or 16 bits, with a step of its own for every group. Sums of
entries are exact integers and give a lower and an upper bound of a cost. Where these bounds do not
decide, double precision does.
"""

from __future__ import annotations

import numpy as np

from partita._kernels._compiled._jit import jit
from partita._kernels._compiled._lists import list_clusters
from partita._kernels.label_search import TIE, ULP
from partita._kernels.quantization import LANES, whole_cache_lines

__all__ = ["assign"]

_BLOCK = 4096  # rows that the kernels visit one after the other
_ROWS = 32  # rows whose costs are kept together
_BATCH = 64  # entries whose sum cannot overflow 16 bits
_TOGETHER = 8  # entries that are added at once; lists are padded by as many
_LANES = np.uint64(LANES)
_ZERO, _SIGN, _LARGEST = np.int32(0), np.int32(31), np.int32(2**31 - 1)
_FARTHEST = np.uint32(2**32 - 1)


def assign(table, search, terms, start, stop, assignment):
    """Compare only groups that can be the cheapest.

    The record `bounds` of a search holds
        complete : whether no label is missing
        unit : factor of all costs below, a power of two
        quantized : entries : of look-ups, then of slopes, then zeros, in all groups (int8 or int16)
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

    A row whose upper bound is below its lower bound cannot move and needs no look-up. For others
    the cost in the own group gives a better upper bound. Where only active groups could be cheaper,
    they alone are compared first. Bounds and quantized tables never change a group.
    """
    lists = whole_cache_lines((_ROWS, 2, table.codes.shape[1] + _TOGETHER), np.uint32)
    lists[:, 1] = np.arange(lists.shape[2])
    some = whole_cache_lines((_ROWS,), np.int64)
    _, _, quantized, place, active_quantized, _ = search.bounds
    scratch = [(lists, some, *_room_for_costs(quantized))]
    if len(place) > 0:
        scratch.append((lists, some, *_room_for_costs(active_quantized)))
    return sum(
        _assign_block(table, search, terms, begin, min(begin + _BLOCK, stop), scratch, assignment)
        for begin in range(start, stop, _BLOCK)
    )


def _room_for_costs(tables):
    """Return arrays for the costs of `_ROWS` rows, and for sums of the entries of one row."""
    width = tables.entries.shape[1]
    low = whole_cache_lines((_ROWS, width), np.float32)
    return whole_cache_lines((2, width), np.int16), low


def _assign_block(table, search, terms, start, stop, scratch, assignment):
    """Assign rows whose labels stay in the cache from one kernel to the next.

    `scratch` is for the comparison with all groups, and with the active ones if there are any.
    """
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

    def compare(tables, place, n_rows, scratch):
        (entries, columns), (all_entries, all_columns) = tables, quantized
        lists, some, sums, low = scratch
        return _compare(
            codes, missing_code, offsets, entries, columns, all_entries, all_columns, place, unit,
            lookup, slope, scale, n_labeled, inactive_lower, start, n_rows, low.view(np.int32),
            sums, lists, low, some, groups, upper, lower, rows,
        )  # fmt: skip

    if len(place) > 0:
        n_rows = compare(active_quantized, place, n_rows, scratch[1])
    return compare(quantized, place[:0], n_rows, scratch[0])


@jit(allocates=False)
def _list_undecided(
    complete, rise, fall, inactive_fall, scale, n_labeled, groups, start, stop, upper, lower,
    inactive_lower, rows,
):  # fmt: skip
    """Fill `rows` with the rows of start..stop whose bounds do not prove that they stay.

    Return their number. Update the bounds `upper` and `lower` in place, and fill `inactive_lower`
    with a lower bound of the cost in any group that is not active. Shifts contain more than the
    rounding errors of costs: a row that is held by a shifted bound has no tie.
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
    codes, missing_code, offsets, entries, columns, all_entries, all_columns, place, unit, lookup,
    slope, scale, n_labeled, inactive_lower, start, n_rows, order, sums, lists, low, some, groups,
    upper, lower, rows,
):  # fmt: skip
    """Compare the costs of the first `n_rows` of `rows` in all groups, or in the active ones.

    With a `place`, in the active groups: update `rows` in place, keep those that may move, and
    return their number. Update the bounds `upper` and `lower` of the others. Rows for which active
    groups cannot suffice are kept without a look. `start` is the row to which the first entry of
    `inactive_lower` belongs.

    With an empty `place`, in all groups: put the rows into their cheapest groups, update `groups`,
    `upper` and `lower` in place, and return the number of rows that moved.

    One kernel does both, because most of it, and of the time that the compiler takes, is common to
    both. Rows are compared in small blocks: while the labels of one come from memory, others do.

    The cost in the own group is bounded first, with `all_entries` and `all_columns`, those of all
    groups. This takes one number per label instead of one per label and group, and most rows need
    no more: costs seldom rise by as much as their bounds.

    `sums`, `lists`, `low` and `some` are scratch; `order` is `low`, read as integers. If no label
    is missing, `missing_code` is None, and `lists` must hold the partitions already.
    """
    # typed: a literal would be a type of its own, for which functions would be compiled again
    m, n_left, n_moved, zero = codes.shape[1], 0, 0, np.int64(0)
    is_active, empty = len(place) > 0, np.uint32(len(entries) - 1)
    for first in range(0, n_rows, _ROWS):
        n_some = zero
        for p in range(first, n_rows if n_rows < first + _ROWS else first + _ROWS):
            x, clusters, partitions = rows[p], lists[n_some, 0], lists[n_some, 1]
            n_labels, has_group = np.uint64(n_labeled[x]), groups[x] >= 0
            if is_active and not has_group:
                rows[n_left] = x
                n_left += 1
                continue
            if missing_code is None:
                for i in range(m):
                    clusters[i] = offsets[i] + codes[x, i]
            else:
                list_clusters(codes, x, missing_code, offsets, zero, m, clusters, partitions)
            if has_group:
                k, s, lookups, slopes = np.uint32(groups[x]), scale[x], 0, 0
                for a in range(n_labels):
                    lookups += all_entries[clusters[a], k]
                    if missing_code is not None:
                        slopes += all_entries[np.uint32(len(lookup)) + partitions[a], k]
                up = all_columns[0, 0, k] * np.float64(lookups) + s * (
                    all_columns[1, 0, k] * np.float64(slopes)
                )
                origin = all_columns[0, 1, k] + s * all_columns[1, 1, k]
                reach = all_columns[0, 2, k] + s * all_columns[1, 2, k]
                up += n_labeled[x] * (origin + 2.0 * reach)
                up += ULP * abs(up)
                upper[x] = up if up < upper[x] else upper[x]
                if upper[x] < lower[x]:
                    continue
            if is_active and upper[x] >= inactive_lower[x - start]:
                rows[n_left] = x
                n_left += 1
                continue
            for a in range(n_labels, n_labels + np.uint64(_TOGETHER)):
                clusters[a] = empty
                partitions[a] = empty - np.uint32(len(lookup))
            some[n_some] = x
            n_some += 1
        _bound_costs(
            entries, columns, np.uint64(len(lookup)), missing_code is None, scale, n_labeled, some,
            n_some, lists, sums, low,
        )  # fmt: skip
        for p in range(n_some):
            x, costs = some[p], low[p]
            n, s = np.int64(n_labeled[x]), scale[x]
            own = place[groups[x]] if is_active else -1
            if own >= 0:
                costs[own] = np.inf
            best, second = _two_smallest(order[p])
            cost = costs[best]
            if is_active:
                lowest = inactive_lower[x - start]
                lowest = lowest if lowest < cost else np.float64(cost)
                if upper[x] < lowest:
                    lower[x] = lowest
                else:
                    rows[n_left] = x
                    n_left += 1
                continue
            lowest = np.float64(costs[second])
            up = cost + 2 * n * (columns[0, 2, best] + s * columns[1, 2, best])
            if up >= lowest:
                best, up, lowest = _two_cheapest(lookup, slope, lists[p], n, s, unit, up, costs)
            if best != groups[x]:
                groups[x] = best
                n_moved += 1
            upper[x] = up + ULP * abs(up)
            lower[x] = lowest - ULP * abs(lowest)
    return n_left if is_active else n_moved


@jit(inner=True, allocates=False, overlaps=False)
def _bound_costs(
    entries, columns, n_lookups, complete, scale, n_labeled, rows, n_rows, lists, sums, low
):
    """Fill `low` with lower bounds of the costs of the first `n_rows` of `rows`.

    entries : int8 or int16, quantized look-ups, from row `n_lookups` on quantized slopes, and a row
        of zeros; the number of columns is a `padded_width`
    columns : step, origin and reach of every column, of look-ups and of slopes
    complete : whether no label is missing; every slope then is the origin of its column, their mean
    lists : clusters and partitions of the labels of every row, then _TOGETHER times that of zeros
    sums : scratch, int16; sums of _BATCH entries must not overflow
    """
    # unsigned: numba does not test whether an index is negative; a multiple of the vector length:
    # the compiler makes no second loop for the rest
    width = np.uint64(low.shape[1]) // _LANES * _LANES
    n_parts = 1 if complete else 2
    of_lookups, of_slopes = sums[0], sums[1]
    for p in range(n_rows):
        costs, n, s = low[p], np.int64(n_labeled[rows[p]]), np.float32(scale[rows[p]])
        for k in range(width):
            costs[k] = 0.0
        for a in range(0, n, _BATCH):
            b = n if n < a + _BATCH else a + _BATCH
            for k in range(width):
                of_lookups[k] = 0
                of_slopes[k] = 0
            for part in range(n_parts):
                listed, of_part = lists[p, part], sums[part]
                begin = n_lookups if part else np.uint64(0)
                for j in range(a, b, _TOGETHER):
                    a0, a1, a2 = begin + listed[j], begin + listed[j + 1], begin + listed[j + 2]
                    a3, a4, a5 = begin + listed[j + 3], begin + listed[j + 4], begin + listed[j + 5]
                    a6, a7 = begin + listed[j + 6], begin + listed[j + 7]
                    for k in range(width):
                        of_four = entries[a0, k] + entries[a1, k] + entries[a2, k] + entries[a3, k]
                        of_part[k] += of_four + (
                            entries[a4, k] + entries[a5, k] + entries[a6, k] + entries[a7, k]
                        )
            number = np.float32(b - a)
            for k in range(width):
                lookups = number * columns[0, 1, k] + columns[0, 0, k] * np.float32(of_lookups[k])
                slopes = number * columns[1, 1, k] + columns[1, 0, k] * np.float32(of_slopes[k])
                costs[k] += lookups + s * slopes


@jit(inner=True, allocates=False)
def _two_smallest(order):
    """Return the index of a smallest number, and of a smallest of the others.

    The numbers, at least two, have single precision; `order` has their bits, read as integers. Both
    have the same order once the bits of negative numbers are reversed. For integers, unlike for
    numbers, the compiler does all this with vector instructions. If the two smallest are equal,
    both indices may be the same.
    """
    n = np.uint64(len(order))  # unsigned: numba does not test for negative indices
    smallest, gap, n_smallest, first, second = _LARGEST, _FARTHEST, _ZERO, _ZERO, _ZERO
    for k in range(n):
        value = np.int32(order[k] ^ ((order[k] >> _SIGN) & _LARGEST))
        smallest = value if value < smallest else smallest
    for k in range(n):
        value = np.int32(order[k] ^ ((order[k] >> _SIGN) & _LARGEST))
        n_smallest = np.int32(n_smallest + np.int32(value == smallest))
        beyond = np.uint32(np.int32(value - smallest) - 1)  # the smallest itself becomes farthest
        gap = beyond if beyond < gap else gap
    next_one = np.int32(smallest + np.int32(gap) + 1) if n_smallest == 1 else smallest
    smallest = np.int32(smallest ^ ((smallest >> _SIGN) & _LARGEST))
    next_one = np.int32(next_one ^ ((next_one >> _SIGN) & _LARGEST))
    for k in range(n):
        here = np.int32(k) if order[k] == smallest else _ZERO
        first = here if here > first else first
        here = np.int32(k) if order[k] == next_one else _ZERO
        second = here if here > second else second
    return np.int64(first), np.int64(second)


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
