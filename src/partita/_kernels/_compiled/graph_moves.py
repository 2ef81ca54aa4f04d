"""Refinement of a balanced partition of a graph: vertices move between parts to lower the cut."""

from __future__ import annotations

import numpy as np

from partita._kernels._compiled._jit import jit
from partita._kernels._compiled._pulls import CLIQUES, EDGES, fill_pulls, update_pulls


@jit(inner=True, allocates=False)
def _move(kind, start, other, mass, weights, v, target, parts, loads, sizes, tally):
    """Update parts, loads, sizes and tally in place: vertex v moves to part `target`."""
    source = parts[v]
    parts[v] = target
    loads[source] -= weights[v]
    loads[target] += weights[v]
    sizes[source] -= 1
    sizes[target] += 1
    if kind != EDGES:
        amount = mass[v] if kind == CLIQUES else 1.0
        for j in range(start[v], start[v + 1]):
            tally[other[j], source] -= amount
            tally[other[j], target] += amount


def sweep(adjacency, limits, order, tolerance, pull, state):
    latest = np.empty(pull.shape[1])
    return _sweep(adjacency, limits, order, tolerance, pull, latest, state)


@jit(allocates=False)
def _sweep(adjacency, limits, order, tolerance, pull, latest, state):
    """Update `pull` and `state` as `sweep` does; `latest` is scratch."""
    kind, start, other, value, pin_start, _, mass = adjacency
    weights, capacity, is_movable = limits
    parts, loads, sizes, tally = state
    n_moves = 0
    for position in range(len(order)):
        v = order[position]
        source = parts[v]
        if not is_movable[v] or sizes[source] == 1:
            continue
        if kind == EDGES or n_moves == 0:
            for k in range(len(loads)):
                latest[k] = pull[v, k]
        else:
            fill_pulls(kind, start, other, value, pin_start, mass, parts, tally, v, latest)
        is_overloaded = loads[source] > capacity[source]
        target, strongest = source, -np.inf if is_overloaded else latest[source] + tolerance
        for k in range(len(loads)):
            if k != source and latest[k] > strongest and loads[k] + weights[v] <= capacity[k]:
                target, strongest = k, latest[k]
        if target != source:
            _move(kind, start, other, mass, weights, v, target, parts, loads, sizes, tally)
            if kind == EDGES:
                for j in range(start[v], start[v + 1]):
                    pull[other[j], source] -= value[j]
                    pull[other[j], target] += value[j]
            n_moves += 1
    return n_moves


@jit(inner=True, allocates=False)
def _count_overloaded(loads, capacity):
    n_overloaded = 0
    for k in range(len(loads)):
        n_overloaded += loads[k] > capacity[k]
    return n_overloaded


@jit(inner=True, allocates=False)
def _best_move(weights, capacity, slack, is_free, parts, loads, sizes, pull):
    """Return the free vertex and the part with the largest gain, and the gain.

    If no part is overloaded, a move may overload one by up to `slack`. If one is, only its vertices
    move, to parts with room. Two moves can thus exchange vertices.
    """
    n_overloaded = _count_overloaded(loads, capacity)
    room = slack if n_overloaded == 0 else 0.0
    best, target, gain = -1, -1, -np.inf
    for v in range(len(parts)):
        source = parts[v]
        if not is_free[v] or sizes[source] == 1:
            continue
        if n_overloaded and loads[source] <= capacity[source]:
            continue
        for k in range(len(loads)):
            is_better = k != source and pull[v, k] - pull[v, source] > gain
            if is_better and loads[k] + weights[v] <= capacity[k] + room:
                best, target, gain = v, k, pull[v, k] - pull[v, source]
    return best, target, gain


def climb(adjacency, limits, slack, tolerance, patience, max_moves, pull, state):
    is_free, trail = limits.is_movable.copy(), np.empty((2, len(pull)), np.int64)
    return _climb(
        adjacency, limits, slack, tolerance, patience, max_moves, trail, pull, is_free, state
    )


@jit(allocates=False)
def _climb(adjacency, limits, slack, tolerance, patience, max_moves, trail, pull, is_free, state):
    """Update `pull` and `state` as `climb` does; `trail` and `is_free` are scratch."""
    kind, start, other, value, pin_start, pin, mass = adjacency
    weights, capacity, _ = limits
    parts, loads, sizes, tally = state
    n, moved, origin = len(parts), trail[0], trail[1]
    n_moves, n_kept, total, best_total = 0, 0, 0.0, 0.0
    n_most = n if n < max_moves else max_moves
    while n_moves < n_most and n_moves - n_kept <= patience:
        v, target, gain = _best_move(weights, capacity, slack, is_free, parts, loads, sizes, pull)
        if v < 0:
            break
        source = parts[v]
        _move(kind, start, other, mass, weights, v, target, parts, loads, sizes, tally)
        update_pulls(
            kind, start, other, value, pin_start, pin, mass, parts, tally, v, source, target, pull
        )
        is_free[v] = False
        moved[n_moves], origin[n_moves] = v, source
        n_moves += 1
        total += gain
        if total > best_total + tolerance and _count_overloaded(loads, capacity) == 0:
            best_total, n_kept = total, n_moves
    for i in range(n_moves - 1, n_kept - 1, -1):
        _move(kind, start, other, mass, weights, moved[i], origin[i], parts, loads, sizes, tally)
    return best_total
