"""k-means on a table of labels: distances by look-up, no sparse matrix.

The cost of row x in group k is

    f(x, k) = constant[x] + Σ_{i: x labelled} ( lookup[c_i(x), k] + scale[x] slope[i, k] ),

c_i(x) being x's cluster in partition i, numbered through. A look-up fetches K numbers that lie side
by side. `assign` first looks in tables of single precision, which are half as long, and looks again
in double precision wherever rounding might decide between the two cheapest groups.
"""

from __future__ import annotations

import numpy as np

from partita._kernels._jit import jit

_FEW = 64  # rows whose costs stay in the nearest cache
_MANY = 512  # rows with gaps: enough of them share one partition's table while it is near


@jit
def _exact_costs(label, missing, offsets, lookup, slope, constant, scale, cost):
    """Costs of one row in double precision."""
    cost[:] = constant
    for i in range(len(label)):
        if label[i] != missing:
            t = lookup[offsets[i] + np.int64(label[i])]
            rise = slope[i]
            for k in range(len(cost)):
                cost[k] += t[k] + scale * rise[k]


@jit
def row_costs(labels, missing, offsets, lookup, slope, constant, scale, start, stop, out):
    """All costs of rows start..stop in double precision, into the same rows of `out`."""
    for x in range(start, stop):
        _exact_costs(labels[x], missing, offsets, lookup, slope, constant[x], scale[x], out[x])


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


def _complete_costs_of(known_width):
    """Coarse costs of rows without a missing label; eight partitions at a time save stores.

    A width that the compiler knows makes a look-up one or two vector additions instead of a loop.
    """

    @jit
    def costs(labels, offsets, coarse, base, scale, rows, n_rows, cost):
        m = labels.shape[1]
        width = known_width if known_width > 0 else coarse.shape[1]
        whole = m - m % 8
        for p in range(n_rows):
            s = np.float32(scale[rows[p]])
            row = cost[p]
            for k in range(width):
                row[k] = s * base[k]
        for i in range(0, whole, 8):
            o0, o1, o2, o3 = offsets[i], offsets[i + 1], offsets[i + 2], offsets[i + 3]
            o4, o5, o6, o7 = offsets[i + 4], offsets[i + 5], offsets[i + 6], offsets[i + 7]
            for p in range(n_rows):
                label = labels[rows[p]]
                t0 = coarse[o0 + np.int64(label[i])]
                t1 = coarse[o1 + np.int64(label[i + 1])]
                t2 = coarse[o2 + np.int64(label[i + 2])]
                t3 = coarse[o3 + np.int64(label[i + 3])]
                t4 = coarse[o4 + np.int64(label[i + 4])]
                t5 = coarse[o5 + np.int64(label[i + 5])]
                t6 = coarse[o6 + np.int64(label[i + 6])]
                t7 = coarse[o7 + np.int64(label[i + 7])]
                row = cost[p]
                for k in range(width):
                    row[k] += ((t0[k] + t1[k]) + (t2[k] + t3[k])) + (
                        (t4[k] + t5[k]) + (t6[k] + t7[k])
                    )
        for i in range(whole, m):
            for p in range(n_rows):
                t0 = coarse[offsets[i] + np.int64(labels[rows[p], i])]
                row = cost[p]
                for k in range(width):
                    row[k] += t0[k]

    return costs


_complete_costs = _complete_costs_of(0)
_complete_costs_8 = _complete_costs_of(8)
_complete_costs_16 = _complete_costs_of(16)


@jit
def _incomplete_costs(labels, missing, offsets, coarse, coarse_slope, scale, rows, n_rows, cost):
    """Coarse costs of rows some of whose labels are missing, one partition after the other.

    The rows that a partition labels are listed first, without a branch that could be guessed
    wrongly at every label.
    """
    m = labels.shape[1]
    width = coarse.shape[1]
    labelled = np.empty(n_rows, np.int64)
    cost[:n_rows] = np.float32(0.0)
    for i in range(m):
        n_labelled = 0
        for p in range(n_rows):
            labelled[n_labelled] = p
            n_labelled += labels[rows[p], i] != missing
        rise = coarse_slope[i]
        for q in range(n_labelled):
            p = labelled[q]
            x = rows[p]
            s = np.float32(scale[x])
            t = coarse[offsets[i] + np.int64(labels[x, i])]
            row = cost[p]
            for k in range(width):
                row[k] += t[k] + s * rise[k]


@jit
def _two_cheapest(cost, n_groups):
    """The first of the cheapest groups, its cost, and the cheapest cost of another."""
    best, best_cost, second = 0, cost[0], np.inf
    for k in range(1, n_groups):
        if cost[k] < best_cost:
            second = best_cost
            best, best_cost = k, cost[k]
        elif cost[k] < second:
            second = cost[k]
    return best, np.float64(best_cost), np.float64(second)


@jit
def assign(
    labels, missing, complete, offsets, lookup, slope, coarse, coarse_slope, base, unit,
    scale, n_labelled, slack, rise, fall, next_fall, steepest, groups, upper, lower, start, stop,
):  # fmt: skip
    """Put rows start..stop into their cheapest group (the first of equals); return how many moved.

    coarse, coarse_slope, base : `lookup`, `slope` and the sum of `slope` in units of `unit`, in
        single precision, padded
    slack[a, 0] + scale slack[a, 1] : largest error of a coarse cost of a row with a labels (a = 0
        for all rows where none is missing)
    rise[a, k, 0] + scale rise[a, k, 1] : most by which the tables' last change can have raised the
        cost of a row with a labels in group k
    fall[a, 0] + scale fall[a, 1] : most by which it can have lowered any cost (negative), reached
        by the groups steepest[a]; next_fall for the other groups

    upper[x] is at least the cost in the own group and lower[x] at most that in any other, both
    without the constant and in units of `unit`. A row whose upper bound stays below its lower one
    cannot move and costs no look-up; bounds and coarse tables never change a label.
    """
    n_groups = lookup.shape[1]
    width = coarse.shape[1]
    block = _FEW if complete else _MANY
    rows = np.empty(block, np.int64)
    cost = np.empty((block, width), np.float32)
    exact = np.empty(n_groups)
    moved = 0
    x = start
    while x < stop:
        n_rows = 0
        while x < stop and n_rows < block:
            a = 0 if complete else n_labelled[x]
            k = groups[x]
            if k >= 0:
                s = scale[x]
                room = slack[a, 0] + s * slack[a, 1]
                least = fall[a, 0] if k != steepest[a, 0] else next_fall[a, 0]
                least += s * (fall[a, 1] if k != steepest[a, 1] else next_fall[a, 1])
                up = upper[x] + rise[a, k, 0] + s * rise[a, k, 1] + room
                low = lower[x] + least - room
                upper[x] = up
                lower[x] = low
                if up < low:
                    x += 1
                    continue
            if n_labelled[x] > 0:
                rows[n_rows] = x
                n_rows += 1
            x += 1
        if complete and width == 8:
            _complete_costs_8(labels, offsets, coarse, base, scale, rows, n_rows, cost)
        elif complete and width == 16:
            _complete_costs_16(labels, offsets, coarse, base, scale, rows, n_rows, cost)
        elif complete:
            _complete_costs(labels, offsets, coarse, base, scale, rows, n_rows, cost)
        else:
            _incomplete_costs(
                labels, missing, offsets, coarse, coarse_slope, scale, rows, n_rows, cost
            )
        for p in range(n_rows):
            y = rows[p]
            a = 0 if complete else n_labelled[y]
            room = slack[a, 0] + scale[y] * slack[a, 1]
            best, best_cost, second = _two_cheapest(cost[p], n_groups)
            if second - best_cost <= 2.0 * room:
                _exact_costs(labels[y], missing, offsets, lookup, slope, 0.0, scale[y], exact)
                best, best_cost, second = _two_cheapest(exact, n_groups)
                best_cost, second = unit * best_cost, unit * second
            if best != groups[y]:
                groups[y] = best
                moved += 1
            upper[y] = best_cost + room
            lower[y] = second - room
    return moved


@jit
def move(
    labels, missing, complete, offsets, weights, mass, moved, old, new, first, last, counts, masses
):
    """Bring the group statistics of partitions first..last up to date with the rows `moved`.

    counts[c, k] is the weight of group k in cluster c, masses[i, k] its mass among the rows that
    partition i labels. A negative group is none. Partitions touch separate rows of both tables, so
    that they can run side by side.
    """
    change = np.zeros(masses.shape[1])
    for x in moved:
        gone, come = old[x], new[x]
        if gone >= 0:
            change[gone] -= mass[x]
        if come >= 0:
            change[come] += mass[x]
        for i in range(first, last):
            if labels[x, i] == missing:
                continue
            c = offsets[i] + np.int64(labels[x, i])
            if gone >= 0:
                counts[c, gone] -= weights[x]
            if come >= 0:
                counts[c, come] += weights[x]
            if not complete:
                if gone >= 0:
                    masses[i, gone] -= mass[x]
                if come >= 0:
                    masses[i, come] += mass[x]
    if complete:
        for i in range(first, last):
            masses[i] += change


@jit
def coarsen(lookup, previous, offsets, unit, first, last, coarse, highest, most, least):
    """Partitions first..last of a look-up table in single precision, and how far it has changed.

    highest[i, k] is the largest size of an entry, most[i, k] and least[i, k] the largest and the
    smallest change of an entry since `previous`, all in units of `unit`.
    """
    n_groups = lookup.shape[1]
    for i in range(first, last):
        high, top, bottom = highest[i], most[i], least[i]
        high[:] = 0.0
        top[:] = -np.inf
        bottom[:] = np.inf
        for c in range(offsets[i], offsets[i + 1]):
            now, before, out = lookup[c], previous[c], coarse[c]
            for k in range(n_groups):
                value = unit * now[k]
                change = value - unit * before[k]
                out[k] = np.float32(value)
                high[k] = max(high[k], abs(value))
                top[k] = max(top[k], change)
                bottom[k] = min(bottom[k], change)


@jit
def ratio_tables(counts, masses, overall, mu, offsets, first, last, lookup, slope):
    """Look-ups -2 μ m and slopes μ ‖m‖² of the centres m = counts / masses, partition by partition.

    A group none of whose rows a partition labels has the partition's overall centre there.
    """
    n_groups = counts.shape[1]
    divisor = np.empty(n_groups)
    for i in range(first, last):
        rise = slope[i]
        rise[:] = 0.0
        for k in range(n_groups):
            divisor[k] = masses[i, k] if masses[i, k] > 0 else np.inf
        for c in range(offsets[i], offsets[i + 1]):
            count, out = counts[c], lookup[c]
            for k in range(n_groups):
                centre = count[k] / divisor[k] if divisor[k] < np.inf else overall[c]
                out[k] = -2.0 * mu[i] * centre
                rise[k] += mu[i] * centre * centre
