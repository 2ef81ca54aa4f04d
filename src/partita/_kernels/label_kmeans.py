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

_BLOCK = 256  # half of the rows that pass over a part of the tables while it is near
_TIE = 2.0**-45  # of the sizes of its terms: how far rounding may take a sum


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

    # a name of its own: compiled code kept on disk is told apart by it when it is linked
    costs.__name__ = costs.__qualname__ = f"_complete_costs_{known_width}"
    return jit(costs)


_complete_costs = _complete_costs_of(0)
_complete_costs_8 = _complete_costs_of(8)
_complete_costs_16 = _complete_costs_of(16)


def _incomplete_costs_of(known_width):
    """Coarse costs of rows some of whose labels are missing.

    A row's labels are listed first, without a branch that could be guessed wrongly at every label,
    and filled up to a multiple of four with the row of zeros at the end of either table.
    """

    def costs(labels, missing, offsets, coarse, coarse_slope, scale, rows, n_rows, cost):
        m = labels.shape[1]
        width = known_width if known_width > 0 else coarse.shape[1]
        clusters, partitions = np.empty(m + 4, np.int64), np.empty(m + 4, np.int64)
        slopes = np.empty(width, np.float32)
        for p in range(n_rows):
            label, row = labels[rows[p]], cost[p]
            n_labels = 0
            for i in range(m):
                clusters[n_labels] = offsets[i] + np.int64(label[i])
                partitions[n_labels] = i
                n_labels += label[i] != missing
            for a in range(n_labels, n_labels + 3):
                clusters[a], partitions[a] = len(coarse) - 1, m
            for k in range(width):
                row[k] = np.float32(0.0)
                slopes[k] = np.float32(0.0)
            for a in range(0, n_labels, 4):
                t0, t1 = coarse[clusters[a]], coarse[clusters[a + 1]]
                t2, t3 = coarse[clusters[a + 2]], coarse[clusters[a + 3]]
                for k in range(width):
                    row[k] += (t0[k] + t1[k]) + (t2[k] + t3[k])
                t0, t1 = coarse_slope[partitions[a]], coarse_slope[partitions[a + 1]]
                t2, t3 = coarse_slope[partitions[a + 2]], coarse_slope[partitions[a + 3]]
                for k in range(width):
                    slopes[k] += (t0[k] + t1[k]) + (t2[k] + t3[k])
            s = np.float32(scale[rows[p]])
            for k in range(width):
                row[k] += s * slopes[k]

    # a name of its own: compiled code kept on disk is told apart by it when it is linked
    costs.__name__ = costs.__qualname__ = f"_incomplete_costs_{known_width}"
    return jit(costs)


_incomplete_costs = _incomplete_costs_of(0)
_incomplete_costs_8 = _incomplete_costs_of(8)


@jit
def _coarse_costs(labels, missing, complete, offsets, table, slope, base, scale, rows, n, cost):
    """Coarse costs of the first n of `rows`, by the kernel that is made for the table."""
    width = table.shape[1]
    if complete and width == 8:
        _complete_costs_8(labels, offsets, table, base, scale, rows, n, cost)
    elif complete and width == 16:
        _complete_costs_16(labels, offsets, table, base, scale, rows, n, cost)
    elif complete:
        _complete_costs(labels, offsets, table, base, scale, rows, n, cost)
    elif width == 8:
        _incomplete_costs_8(labels, missing, offsets, table, slope, scale, rows, n, cost)
    else:
        _incomplete_costs(labels, missing, offsets, table, slope, scale, rows, n, cost)


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
def _two_cheapest_exactly(label, missing, offsets, lookup, slope, scale, unit, cost, limit):
    """As `_two_cheapest`, looking again at every group whose coarse cost is within the limit.

    Costs that rounding may have made different are equal: the order of the columns must not decide.
    """
    best, best_cost, second = -1, np.inf, np.inf
    for k in range(lookup.shape[1]):
        value, tie = np.float64(cost[k]), 0.0
        if value <= limit:
            exact = 0.0
            for i in range(len(label)):
                if label[i] != missing:
                    term = lookup[offsets[i] + np.int64(label[i]), k] + scale * slope[i, k]
                    exact += term
                    tie += abs(term)
            value = np.float64(unit * exact)
            tie *= unit * _TIE
        if value < best_cost - tie:
            second = best_cost
            best, best_cost = k, value
        elif value < second:
            second = value
    return best, best_cost, second


@jit
def assign(
    labels, missing, complete, offsets, lookup, slope, coarse, coarse_slope, base,
    restless, narrow, narrow_slope, narrow_base, unit, scale, n_labelled, slack, rise, fall,
    next_fall, steepest, calm_fall, groups, upper, lower, start, stop,
):  # fmt: skip
    """Put rows start..stop into their cheapest group (the first of equals); return how many moved.

    coarse, coarse_slope, base : `lookup`, `slope` and the sum of `slope` in units of `unit`, in
        single precision, padded, with a row of zeros at the end of the first two
    restless : groups whose tables have changed most, none to do without
    narrow, narrow_slope, narrow_base : columns `restless` of the coarse tables
    slack[a, 0] + scale slack[a, 1] : largest error of a coarse cost of a row with a labels (a = 0
        for all rows where none is missing)
    rise[a, k, 0] + scale rise[a, k, 1] : most by which the tables' last change can have raised the
        cost of a row with a labels in group k
    fall[a, 0] + scale fall[a, 1] : most by which it can have lowered any cost (negative), reached
        by the groups steepest[a]; next_fall for the other groups, calm_fall for all but `restless`

    upper[x] is at least the cost in the own group and lower[x] at most that in any other, both
    without the constant and in units of `unit`. A row whose upper bound stays below its lower one
    cannot move and costs no look-up; where only restless groups could be cheaper, they alone are
    looked at first. Neither bounds nor coarse tables ever change a label.
    """
    # those that are looked at narrowly first may all have to be looked at in full
    rows, full = np.empty(_BLOCK, np.int64), np.empty(2 * _BLOCK, np.int64)
    cost = np.empty((2 * _BLOCK, coarse.shape[1]), np.float32)
    few = np.empty((_BLOCK, narrow.shape[1]), np.float32)
    moved = 0
    x = start
    while x < stop:
        n_rows, n_full = 0, 0
        while x < stop and n_rows < _BLOCK and n_full < _BLOCK:
            a = 0 if complete else n_labelled[x]
            k = groups[x]
            calm = False
            if k >= 0:
                s = scale[x]
                room = slack[a, 0] + s * slack[a, 1]
                least = fall[a, 0] if k != steepest[a, 0] else next_fall[a, 0]
                least += s * (fall[a, 1] if k != steepest[a, 1] else next_fall[a, 1])
                up = upper[x] + rise[a, k, 0] + s * rise[a, k, 1] + room
                low = lower[x] + least - room
                if up < low:
                    upper[x] = up
                    lower[x] = low
                    x += 1
                    continue
                low = lower[x] + calm_fall[a, 0] + s * calm_fall[a, 1] - room
                upper[x] = up
                lower[x] = low  # of all but the restless groups
                calm = len(restless) > 0 and up < low
            if calm:
                rows[n_rows] = x
                n_rows += 1
            elif n_labelled[x] > 0:
                full[n_full] = x
                n_full += 1
            x += 1
        if n_rows > 0:
            _coarse_costs(
                labels, missing, complete, offsets, narrow, narrow_slope, narrow_base, scale, rows,
                n_rows, few,
            )  # fmt: skip
        for p in range(n_rows):
            y = rows[p]
            a = 0 if complete else n_labelled[y]
            room = slack[a, 0] + scale[y] * slack[a, 1]
            own, other = np.float64(upper[y]), np.float64(lower[y])
            for j in range(len(restless)):
                if restless[j] == groups[y]:
                    own = min(own, np.float64(few[p, j]) + room)
                else:
                    other = min(other, np.float64(few[p, j]) - room)
            if own < other:
                upper[y] = own
                lower[y] = other
            else:
                full[n_full] = y
                n_full += 1
        moved += _settle(
            labels, missing, complete, offsets, lookup, slope, coarse, coarse_slope, base,
            unit, scale, n_labelled, slack, groups, upper, lower, full, n_full, cost,
        )  # fmt: skip
    return moved


@jit
def _settle(
    labels, missing, complete, offsets, lookup, slope, coarse, coarse_slope, base, unit, scale,
    n_labelled, slack, groups, upper, lower, rows, n_rows, cost,
):  # fmt: skip
    """Put rows into their cheapest group of all and set their bounds; how many moved."""
    moved = 0
    if n_rows == 0:
        return moved
    n_groups = lookup.shape[1]
    _coarse_costs(
        labels, missing, complete, offsets, coarse, coarse_slope, base, scale, rows, n_rows, cost
    )
    for p in range(n_rows):
        y = rows[p]
        a = 0 if complete else n_labelled[y]
        room = slack[a, 0] + scale[y] * slack[a, 1]
        best, best_cost, second = _two_cheapest(cost[p], n_groups)
        if second - best_cost <= 2.0 * room:
            best, best_cost, second = _two_cheapest_exactly(
                labels[y], missing, offsets, lookup, slope, scale[y], unit, cost[p],
                best_cost + 2.0 * room,
            )  # fmt: skip
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
