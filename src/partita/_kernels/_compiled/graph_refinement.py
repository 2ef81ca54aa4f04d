"""Refinement of a balanced partition of a graph: vertices move between parts to lower the cut."""

from __future__ import annotations

import numpy as np

from partita._kernels._compiled._jit import jit

EDGES, CLIQUES, NETS = 0, 1, 2


@jit
def _fill_pulls(kind, start, other, value, pin_start, mass, parts, tally, v, pull):
    """Fill `pull` with the pull of every part on vertex v."""
    pull[:] = 0.0
    own = parts[v]
    if kind == EDGES:
        for j in range(start[v], start[v + 1]):
            pull[parts[other[j]]] += value[j]
        return
    for j in range(start[v], start[v + 1]):
        e = other[j]
        if kind == CLIQUES:
            for k in range(len(pull)):
                pull[k] += tally[e, k]
        else:
            n_others = pin_start[e + 1] - pin_start[e] - 1
            for k in range(len(pull)):
                n_inside = tally[e, k] - 1.0 if k == own else tally[e, k]
                if n_inside == n_others:
                    pull[k] += 1.0
    if kind == CLIQUES:
        pull[own] -= (start[v + 1] - start[v]) * mass[v]
        for k in range(len(pull)):
            pull[k] *= mass[v]


@jit
def pulls(adjacency, parts, tally, first, last, out):
    kind, start, other, value, pin_start, _, mass = adjacency
    for v in range(first, last):
        _fill_pulls(kind, start, other, value, pin_start, mass, parts, tally, v, out[v])


@jit
def edges_cut(adjacency, parts):
    start, other, value = adjacency.start, adjacency.other, adjacency.value
    twice = 0.0
    for v in range(len(parts)):
        for j in range(start[v], start[v + 1]):
            if parts[other[j]] != parts[v]:
                twice += value[j]
    return twice / 2


@jit
def count_pins(adjacency, parts, tally):
    kind, start, other, mass = adjacency.kind, adjacency.start, adjacency.other, adjacency.mass
    tally[:] = 0.0
    if kind == EDGES:
        return
    for v in range(len(parts)):
        for j in range(start[v], start[v + 1]):
            tally[other[j], parts[v]] += mass[v] if kind == CLIQUES else 1.0


@jit
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


@jit
def sweep(adjacency, limits, order, tolerance, state):
    kind, start, other, value, pin_start, _, mass = adjacency
    weights, capacity, is_movable = limits
    parts, loads, sizes, tally = state
    pull = np.empty(len(loads))
    n_moves = 0
    for v in order:
        source = parts[v]
        if not is_movable[v] or sizes[source] == 1:
            continue
        _fill_pulls(kind, start, other, value, pin_start, mass, parts, tally, v, pull)
        is_overloaded = loads[source] > capacity[source]
        target, strongest = -1, -np.inf if is_overloaded else pull[source] + tolerance
        for k in range(len(loads)):
            if k != source and pull[k] > strongest and loads[k] + weights[v] <= capacity[k]:
                target, strongest = k, pull[k]
        if target >= 0:
            _move(kind, start, other, mass, weights, v, target, parts, loads, sizes, tally)
            n_moves += 1
    return n_moves


@jit
def _best_move(weights, capacity, slack, is_locked, parts, loads, sizes, pull):
    """Return the unlocked vertex and the part with the largest gain, and the gain.

    If no part is overloaded, a move may overload one by up to `slack`. If one is, only its vertices
    move, to parts with room. Two moves can thus exchange vertices.
    """
    n_overloaded = 0
    for k in range(len(loads)):
        n_overloaded += loads[k] > capacity[k]
    room = slack if n_overloaded == 0 else 0.0
    best, target, gain = -1, -1, -np.inf
    for v in range(len(parts)):
        source = parts[v]
        if is_locked[v] or sizes[source] == 1:
            continue
        if n_overloaded and loads[source] <= capacity[source]:
            continue
        for k in range(len(loads)):
            is_better = k != source and pull[v, k] - pull[v, source] > gain
            if is_better and loads[k] + weights[v] <= capacity[k] + room:
                best, target, gain = v, k, pull[v, k] - pull[v, source]
    return best, target, gain


@jit
def _update_pulls(
    kind, start, other, value, pin_start, pin, mass, parts, tally, v, source, target, pull
):
    """Update `pull` in place after vertex v has moved from `source` to `target`."""
    for j in range(start[v], start[v + 1]):
        if kind == EDGES:
            pull[other[j], source] -= value[j]
            pull[other[j], target] += value[j]
            continue
        e = other[j]
        n_others = pin_start[e + 1] - pin_start[e] - 1
        if kind == NETS and tally[e, source] < n_others - 1 and tally[e, target] < n_others:
            continue  # all but one pin are in one part neither before nor after the move
        for i in range(pin_start[e], pin_start[e + 1]):
            u = pin[i]
            if u == v:
                continue
            if kind == CLIQUES:
                pull[u, source] -= mass[u] * mass[v]
                pull[u, target] += mass[u] * mass[v]
            else:
                n_inside = tally[e, source] - (parts[u] == source)
                if n_inside + 1 == n_others:
                    pull[u, source] -= 1.0
                n_inside = tally[e, target] - (parts[u] == target)
                if n_inside == n_others:
                    pull[u, target] += 1.0


@jit
def climb(adjacency, limits, slack, tolerance, patience, max_moves, pull, state):
    kind, start, other, value, pin_start, pin, mass = adjacency
    weights, capacity, is_movable = limits
    parts, loads, sizes, tally = state
    n = len(parts)
    is_locked = ~is_movable
    moved, origin = np.empty(n, np.int64), np.empty(n, np.int64)
    n_moves, n_kept, total, best_total = 0, 0, 0.0, 0.0
    while n_moves < min(n, max_moves) and n_moves - n_kept <= patience:
        v, target, gain = _best_move(weights, capacity, slack, is_locked, parts, loads, sizes, pull)
        if v < 0:
            break
        source = parts[v]
        _move(kind, start, other, mass, weights, v, target, parts, loads, sizes, tally)
        _update_pulls(
            kind, start, other, value, pin_start, pin, mass, parts, tally, v, source, target, pull
        )
        is_locked[v] = True
        moved[n_moves], origin[n_moves] = v, source
        n_moves += 1
        total += gain
        if total > best_total + tolerance and np.all(loads <= capacity):
            best_total, n_kept = total, n_moves
    for i in range(n_moves - 1, n_kept - 1, -1):
        _move(kind, start, other, mass, weights, moved[i], origin[i], parts, loads, sizes, tally)
    return best_total
