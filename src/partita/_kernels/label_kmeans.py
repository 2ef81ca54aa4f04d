"""k-means on a table of labels: distances by look-up, no sparse matrix.

The cost of row x in group k is

    f(x, k) = constant[x] + Σ_{i: x labelled} ( lookup[c_i(x), k] + scale[x] slope[i, k] ),

c_i(x) being x's cluster in partition i, numbered through. A look-up fetches K numbers that lie side
by side; rows are taken in blocks and partitions one after the other, so that a partition's part of
the table stays in the nearest cache while a block passes over it.
"""

from __future__ import annotations

import numpy as np

from partita._kernels._jit import jit

_BLOCK = 64
_SAFETY = 1e-9  # relative room left to rounding when a bound decides that a row cannot move


@jit
def _complete_costs(labels, offsets, lookup, slope_sum, constant, scale, rows, n_rows, cost):
    """Costs of rows without a missing label; four partitions at a time save three stores."""
    m = labels.shape[1]
    width = lookup.shape[1]
    whole = m - m % 4
    for p in range(n_rows):
        x = rows[p]
        row = cost[p]
        for k in range(width):
            row[k] = constant[x] + scale[x] * slope_sum[k]
    for i in range(0, whole, 4):
        o0, o1, o2, o3 = offsets[i], offsets[i + 1], offsets[i + 2], offsets[i + 3]
        for p in range(n_rows):
            label = labels[rows[p]]
            t0 = lookup[o0 + np.int64(label[i])]
            t1 = lookup[o1 + np.int64(label[i + 1])]
            t2 = lookup[o2 + np.int64(label[i + 2])]
            t3 = lookup[o3 + np.int64(label[i + 3])]
            row = cost[p]
            for k in range(width):
                row[k] += (t0[k] + t1[k]) + (t2[k] + t3[k])
    for i in range(whole, m):
        for p in range(n_rows):
            t0 = lookup[offsets[i] + np.int64(labels[rows[p], i])]
            row = cost[p]
            for k in range(width):
                row[k] += t0[k]


@jit
def _incomplete_costs(labels, missing, offsets, lookup, slope, constant, scale, rows, n_rows, cost):
    """Costs of rows some of whose labels are missing."""
    m = labels.shape[1]
    width = lookup.shape[1]
    for p in range(n_rows):
        row = cost[p]
        for k in range(width):
            row[k] = constant[rows[p]]
    for i in range(m):
        rise = slope[i]
        for p in range(n_rows):
            label = labels[rows[p], i]
            if label != missing:
                s = scale[rows[p]]
                t = lookup[offsets[i] + np.int64(label)]
                row = cost[p]
                for k in range(width):
                    row[k] += t[k] + s * rise[k]


@jit
def row_costs(labels, missing, complete, offsets, lookup, slope, slope_sum, constant, scale, out):
    """All costs of all rows, shape (n, width): the plain form that tests and `predict` use."""
    rows = np.empty(_BLOCK, np.int64)
    for start in range(0, len(labels), _BLOCK):
        n_rows = min(_BLOCK, len(labels) - start)
        for p in range(n_rows):
            rows[p] = start + p
        cost = out[start : start + n_rows]
        if complete:
            _complete_costs(labels, offsets, lookup, slope_sum, constant, scale, rows, n_rows, cost)
        else:
            _incomplete_costs(
                labels, missing, offsets, lookup, slope, constant, scale, rows, n_rows, cost
            )


@jit
def own_costs(labels, missing, offsets, lookup, slope, constant, scale, groups, start, stop, out):
    """Cost of every row in its own group."""
    m = labels.shape[1]
    for x in range(start, stop):
        k = groups[x]
        total = constant[x]
        for i in range(m):
            if labels[x, i] != missing:
                total += lookup[offsets[i] + np.int64(labels[x, i]), k] + scale[x] * slope[i, k]
        out[x] = total


@jit
def assign(
    labels, missing, complete, offsets, lookup, slope, slope_sum, constant, scale,
    n_groups, groups, drift, use_bounds, upper, lower, start, stop,
):  # fmt: skip
    """Put rows start..stop into their cheapest group (the first of equals); return how many moved.

    With bounds (Hamerly): upper[x] is at least the distance to the own centre, lower[x] at most the
    distance to any other, distance = sqrt(cost / scale). Both are first corrected by how far the
    centres have drifted; a row whose upper bound stays below its lower one cannot move and costs
    no look-up. Skipping is strict, with room for rounding, so that bounds never change a label.
    """
    width = lookup.shape[1]
    rows = np.empty(_BLOCK, np.int64)
    cost = np.empty((_BLOCK, width))
    largest, runner_up, widest = 0.0, 0.0, -1
    for k in range(n_groups):
        if drift[k] > largest:
            runner_up, largest, widest = largest, drift[k], k
        elif drift[k] > runner_up:
            runner_up = drift[k]
    moved = 0
    x = start
    while x < stop:
        n_rows = 0
        while x < stop and n_rows < _BLOCK:
            if use_bounds:
                upper[x] += drift[groups[x]]
                lower[x] -= runner_up if groups[x] == widest else largest
                if upper[x] * (1.0 + _SAFETY) < lower[x] * (1.0 - _SAFETY):
                    x += 1
                    continue
            rows[n_rows] = x
            n_rows += 1
            x += 1
        if complete:
            _complete_costs(labels, offsets, lookup, slope_sum, constant, scale, rows, n_rows, cost)
        else:
            _incomplete_costs(
                labels, missing, offsets, lookup, slope, constant, scale, rows, n_rows, cost
            )
        for p in range(n_rows):
            best, best_cost, second = 0, cost[p, 0], np.inf
            for k in range(1, n_groups):
                if cost[p, k] < best_cost:
                    second = best_cost
                    best, best_cost = k, cost[p, k]
                elif cost[p, k] < second:
                    second = cost[p, k]
            y = rows[p]
            if best != groups[y]:
                groups[y] = best
                moved += 1
            if use_bounds:
                upper[y] = np.sqrt(max(best_cost, 0.0) / scale[y])
                lower[y] = np.sqrt(max(second, 0.0) / scale[y])
    return moved


@jit
def move(labels, missing, offsets, weights, mass, old, new, first, last, counts, masses):
    """Bring the group statistics of partitions first..last up to date with rows that moved.

    counts[c, k] is the weight of group k in cluster c, masses[i, k] its mass among the rows that
    partition i labels. old < 0 means the row was in no group yet. Partitions touch separate rows
    of both tables, so that they can run side by side.
    """
    for x in range(len(labels)):
        if old[x] == new[x]:
            continue
        gone, come = old[x], new[x]
        for i in range(first, last):
            if labels[x, i] == missing:
                continue
            c = offsets[i] + np.int64(labels[x, i])
            if gone >= 0:
                counts[c, gone] -= weights[x]
                masses[i, gone] -= mass[x]
            counts[c, come] += weights[x]
            masses[i, come] += mass[x]
