"""The cheapest group of every row of a table of labels: by bounds, by coarse tables, exactly.

The cost of row x in group k is

    f(x, k) = constant[x] + Σ_{i: x labeled} ( lookup[c_i(x), k] + scale[x] slope[i, k] ),

c_i(x) being x's cluster in partition i, numbered through. Coarse tables hold the K numbers of a
look-up in 8 or 16 bits each, in steps that every group has for itself: their sums are exact, and
say between which two numbers a cost lies. Where that leaves a choice, double precision decides.
"""

from __future__ import annotations

import numpy as np

from partita._kernels._jit import jit
from partita._kernels._vectors import (
    ROOM,
    add_costs,
    fetch_row,
    list_clusters,
    two_smallest,
    whole_width,
)

__all__ = ["LARGEST", "assign", "quantize", "steps", "survey", "whole_width"]

LARGEST = {np.dtype(np.int8): 127, np.dtype(np.int16): 511}  # size of an entry of a coarse table
_BLOCK = 512  # rows whose bounds are looked at before any of them is
_AHEAD = 2  # rows
_BATCH = 64  # entries whose sum cannot overflow
_TIE = 2.0**-45  # of the sizes of its terms: how far rounding may take a sum
_HALF_STEP = 2.0**-24  # relative error of rounding to single precision
_ROUNDED = 2.0**-23  # of a bound, when it is stored in single precision


@jit(inline=True)
def _list_clusters(labels, x, missing, complete, offsets, clusters, partitions):
    """The clusters and the partitions of row x; how many there are. All partitions are listed."""
    m = labels.shape[1]
    if complete:
        for i in range(m):
            clusters[i] = offsets[i] + np.int32(labels[x, i])
        return m
    return list_clusters(labels, x, missing, offsets, 0, m, clusters, partitions)


@jit(inline=True)
def _lowest_costs(
    lookup, slope, step, slope_step, origin, slope_origin, complete, clusters, partitions, n, scale,
    low,
):  # fmt: skip
    """What the n labels of a row cost at least in every group, as coarse tables can tell."""
    one, s = np.float32(1.0), np.float32(scale)
    slopes = s * np.float32(n) if complete else np.float32(0.0)  # in a step of their own, or below
    for k in range(len(low)):
        low[k] = slopes * slope_origin[k]
    for first in range(0, n, _BATCH):
        last = min(first + _BATCH, n)
        add_costs(lookup, clusters, first, last, origin, step, one, low)
        if not complete:
            add_costs(slope, partitions, first, last, slope_origin, slope_step, s, low)


@jit
def _exact_cost(clusters, partitions, n, lookup, slope, scale, k):
    """The cost in group k in double precision, and the sum of the sizes of its terms."""
    # four sums side by side: an addition need not wait for the one before
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
def _two_cheapest_exactly(clusters, partitions, n, lookup, slope, scale, unit, low, limit):
    """The first of the cheapest groups, its cost, and at most the cost of any other.

    Groups that cost more than the limit at least are taken at that. Costs that rounding may have
    made different are equal: the order of the columns must not decide.
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
def _not_held(
    complete, rise, fall, calm_fall, scale, n_labeled, groups, upper, lower, start, stop, rows,
    calms,
):  # fmt: skip
    """List the rows of start..stop whose bounds do not hold them where they are; how many.

    Bounds are brought up to date; `calms` gets the lower one for all but the restless groups, of
    every row.
    """
    for x in range(start, stop):
        if groups[x] < 0:  # nothing is known of it, or there is nothing to know
            continue
        k, s = np.uint32(groups[x]), scale[x]
        a = np.uint32(0) if complete else np.uint32(n_labeled[x])
        calm = lower[x] + (calm_fall[a, 0] + s * calm_fall[a, 1])
        calms[x - start] = calm - _ROUNDED * abs(calm)
        up = upper[x] + (rise[a, k, 0] + s * rise[a, k, 1])
        upper[x] = up + _ROUNDED * abs(up)
        low = lower[x] + (fall[a, k, 0] + s * fall[a, k, 1])
        lower[x] = low - _ROUNDED * abs(low)
    # a loop of its own, in which nothing waits for a row to be known as held or not
    n_rows = np.uint32(0)
    for x in range(start, stop):
        rows[n_rows] = x
        held = (groups[x] >= 0) & (upper[x] < lower[x])
        n_rows += np.uint32((not held) & (n_labeled[x] > 0))
    return n_rows


@jit
def assign(
    labels, missing, complete, offsets, lookup, slope, unit, coarse, restless, narrow, drift, scale,
    n_labeled, groups, upper, lower, start, stop,
):  # fmt: skip
    """Put rows start..stop into their cheapest group (the first of equals); return how many moved.

    coarse : tables of all groups: look-ups, slopes (int8 or int16), and for each of these two
        step : of its entries
        origin : what an entry of 0 stands for at least
        reach : by how much it can stand for more
        in units of `unit`
    restless, narrow : groups whose tables have changed most, and their columns of the coarse tables
    drift : how far costs can have changed with the tables, looked up by a row's number of labels
        (by 0 where none is missing), the last axis being the part that a row's scale multiplies:
        rise[a, k] : most by which the cost in group k can have risen
        fall[a, k] : most by which that in any other group can have fallen (negative)
        calm_fall[a] : most by which that in any group can have fallen that is not restless

    upper[x] is at least the cost in the own group and lower[x] at most that in any other, both
    without the constant and in units of `unit`. A row whose upper bound stays below its lower one
    cannot move and costs no look-up; where only restless groups could be cheaper, they alone are
    looked at first. Neither bounds nor coarse tables ever change a label.
    """
    # taken out of their tuples once: counting who holds an array costs more than a look-up
    entries, slope_entries, columns = coarse
    step, origin, reach = columns[0, 0], columns[0, 1], columns[0, 2]
    slope_step, slope_origin, slope_reach = columns[1, 0], columns[1, 1], columns[1, 2]
    few_entries, few_slope_entries, columns = narrow
    few_step, few_origin, few_reach = columns[0, 0], columns[0, 1], columns[0, 2]
    few_slope_step, few_slope_origin, few_slope_reach = columns[1, 0], columns[1, 1], columns[1, 2]
    rise, fall, calm_fall = drift
    m, width, few = labels.shape[1], len(step), len(few_step)
    clusters, partitions = np.empty(m + ROOM, np.int32), np.arange(m + ROOM).astype(np.int32)
    low, few_low = np.empty(width, np.float32), np.empty(few, np.float32)
    place = np.full(lookup.shape[1], -1, np.int64)
    for j in range(few):
        place[restless[j]] = j
    rows, calms = np.empty(_BLOCK, np.int64), np.empty(_BLOCK)
    moved = 0
    for begin in range(start, stop, _BLOCK):
        n_rows = _not_held(
            complete, rise, fall, calm_fall, scale, n_labeled, groups, upper, lower, begin,
            min(begin + _BLOCK, stop), rows, calms,
        )  # fmt: skip
        for p in range(n_rows):
            x = rows[p]
            fetch_row(labels, rows[min(p + _AHEAD, n_rows - 1)])
            k, s = groups[x], scale[x]
            n = _list_clusters(labels, x, missing, complete, offsets, clusters, partitions)
            up, calm = np.float64(upper[x]), calms[x - begin]
            if few > 0 and k >= 0 and up < calm:
                _lowest_costs(
                    few_entries, few_slope_entries, few_step, few_slope_step, few_origin,
                    few_slope_origin, complete, clusters, partitions, n, s, few_low,
                )  # fmt: skip
                own = place[k]
                if own >= 0:
                    above = 2 * n * (few_reach[own] + s * few_slope_reach[own])
                    up = min(up, few_low[own] + above)
                    up += _ROUNDED * abs(up)
                    few_low[own] = np.inf
                _, other, _ = two_smallest(few_low)
                lowest = min(calm, np.float64(other))
                if up < lowest:
                    upper[x] = up
                    lower[x] = lowest
                    continue
            _lowest_costs(
                entries, slope_entries, step, slope_step, origin, slope_origin, complete, clusters,
                partitions, n, s, low,
            )  # fmt: skip
            best, cost, second = two_smallest(low)
            up, lowest = cost + 2 * n * (reach[best] + s * slope_reach[best]), np.float64(second)
            if up >= lowest:
                best, up, lowest = _two_cheapest_exactly(
                    clusters, partitions, n, lookup, slope, s, unit, low, up
                )
            if best != k:
                groups[x] = best
                moved += 1
            upper[x] = up + _ROUNDED * abs(up)
            lower[x] = lowest - _ROUNDED * abs(lowest)
    return moved


@jit
def survey(lookup, previous, offsets, first, last, lowest, highest, most, least):
    """What partitions first..last of a look-up table hold, and how far it has changed.

    lowest[i, k] and highest[i, k] are the smallest and the largest entry, most[i, k] and
    least[i, k] the largest and the smallest change of an entry since `previous`.
    """
    n_groups = np.uint64(lookup.shape[1])  # unsigned: a negative place is looked for nowhere
    for i in range(first, last):
        begin, end = np.uint64(offsets[i]), np.uint64(offsets[i + 1])
        for k in range(n_groups):
            low, high, top, bottom = np.inf, -np.inf, -np.inf, np.inf
            for c in range(begin, end):
                value = lookup[c, k]
                change = value - previous[c, k]
                low = value if value < low else low
                high = value if value > high else high
                top = change if change > top else top
                bottom = change if change < bottom else bottom
            lowest[i, k], highest[i, k], most[i, k], least[i, k] = low, high, top, bottom


@jit
def steps(lowest, highest, unit, largest, roundings, middle, per_step, out):
    """How columns with these extremes are put into whole steps, -largest..largest.

    out : step, origin and reach of every column (see `assign`) in units of `unit`
    middle, per_step : what `quantize` takes
    roundings : to single precision that a cost meets at most
    """
    for k in range(len(lowest)):
        low, high = unit * lowest[k], unit * highest[k]
        # rounded to what single precision holds first, so that these are no source of error
        center = np.float64(np.float32((low + high) / 2))
        span = max(high - center, center - low)
        step = np.float64(np.float32(span * ((1.0 + 2.0**-20) / largest)))
        reach = 0.5 * step + _HALF_STEP * roundings * max(abs(low), abs(high))
        out[0, k] = step
        out[1, k] = center - reach
        out[2, k] = reach
        middle[k] = center / unit
        per_step[k] = unit / step if step > 0.0 else 0.0


@jit
def quantize(table, middle, per_step, first, last, out):
    """Rows first..last of a table in whole steps from the middle of each column."""
    for c in range(first, last):
        row, steps = table[c], out[c]
        for k in range(table.shape[1]):
            # by way of a type that vectors of doubles are turned into at once
            steps[k] = np.int32(np.rint((row[k] - middle[k]) * per_step[k]))
