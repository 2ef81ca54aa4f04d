"""Refinement of a balanced partition: vertices move between parts so that less is cut.

The pull of part k on vertex v is what joins v to k, the vertex itself left out; moving v from its
part to k lowers the cut by pull(v, k) - pull(v, own). Three kinds of graph:

EDGES    `other[start[v]:start[v+1]]` are v's neighbors, `value` the weights of the edges;
         pull = the weight of the edges to k.
CLIQUES  `other` are the nets v is a pin of, `pin[pin_start[e]:pin_start[e+1]]` the vertices of net
         e, and every net joins all pairs of its pins, by the product of their masses;
         pull = mass[v] Σ_{e of v} (mass of e's other pins in k). No pair is ever written down.
NETS     as before, but a net counts once as soon as it is cut;
         pull = the number of v's nets whose other pins are all in k.

`tally[e, k]` is the mass (NETS: the number) of the pins that net e has in part k. Ties go to the
first vertex and the first part.
"""

from __future__ import annotations

import numpy as np

from partita._kernels._jit import jit

EDGES, CLIQUES, NETS = 0, 1, 2


@jit
def _pull_of_parts(kind, start, other, value, pin_start, mass, tally, parts, v, pull):
    """Pull of every part on vertex v."""
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
            others = pin_start[e + 1] - pin_start[e] - 1
            for k in range(len(pull)):
                inside = tally[e, k] - 1.0 if k == own else tally[e, k]
                if inside == others:
                    pull[k] += 1.0
    if kind == CLIQUES:
        pull[own] -= (start[v + 1] - start[v]) * mass[v]
        for k in range(len(pull)):
            pull[k] *= mass[v]


@jit
def pulls(kind, start, other, value, pin_start, mass, tally, parts, first, last, out):
    """Pull of every part on vertices first..last, into rows of `out`, shape (n, K)."""
    for v in range(first, last):
        _pull_of_parts(kind, start, other, value, pin_start, mass, tally, parts, v, out[v])


@jit
def edges_cut(start, other, value, parts):
    """Weight of the edges between parts."""
    twice = 0.0
    for v in range(len(parts)):
        for j in range(start[v], start[v + 1]):
            if parts[other[j]] != parts[v]:
                twice += value[j]
    return twice / 2


@jit
def count(kind, start, other, mass, parts, tally):
    """Fill the tally of a partition."""
    tally[:] = 0.0
    if kind == EDGES:
        return
    for v in range(len(parts)):
        for j in range(start[v], start[v + 1]):
            tally[other[j], parts[v]] += mass[v] if kind == CLIQUES else 1.0


@jit
def _move(kind, start, other, mass, tally, weights, parts, loads, sizes, v, target):
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
def sweep(
    kind, start, other, value, pin_start, mass, tally,
    weights, capacity, movable, order, tolerance, parts, loads, sizes,
):  # fmt: skip
    """Visit vertices once; each goes to the part that pulls most, if it has room. Number of moves.

    A vertex moves for a gain, or at any cost if its part is overloaded. Parts never become empty.
    """
    pull = np.empty(len(loads))
    moves = 0
    for v in order:
        source = parts[v]
        if not movable[v] or sizes[source] == 1:
            continue
        _pull_of_parts(kind, start, other, value, pin_start, mass, tally, parts, v, pull)
        overloaded = loads[source] > capacity[source]
        target, strongest = -1, -np.inf if overloaded else pull[source] + tolerance
        for k in range(len(loads)):
            if k != source and pull[k] > strongest and loads[k] + weights[v] <= capacity[k]:
                target, strongest = k, pull[k]
        if target >= 0:
            _move(kind, start, other, mass, tally, weights, parts, loads, sizes, v, target)
            moves += 1
    return moves


@jit
def _best_move(pull, weights, capacity, slack, locked, parts, loads, sizes):
    """Unlocked vertex and part with the largest gain.

    Without an overloaded part a move may overload one by up to `slack`; with one, vertices leave it
    for parts that have room, so that two moves can make an exchange.
    """
    n_over = 0
    for k in range(len(loads)):
        n_over += loads[k] > capacity[k]
    room = slack if n_over == 0 else 0.0
    best, target, gain = -1, -1, -np.inf
    for v in range(len(parts)):
        source = parts[v]
        if locked[v] or sizes[source] == 1 or (n_over and loads[source] <= capacity[source]):
            continue
        for k in range(len(loads)):
            better = k != source and pull[v, k] - pull[v, source] > gain
            if better and loads[k] + weights[v] <= capacity[k] + room:
                best, target, gain = v, k, pull[v, k] - pull[v, source]
    return best, target, gain


@jit
def _update_pulls(
    kind, start, other, value, pin_start, pin, mass, tally, parts, v, source, target, pull
):
    """Correct the pulls on the others after v has moved."""
    for j in range(start[v], start[v + 1]):
        if kind == EDGES:
            pull[other[j], source] -= value[j]
            pull[other[j], target] += value[j]
            continue
        e = other[j]
        others = pin_start[e + 1] - pin_start[e] - 1
        if kind == NETS and tally[e, source] < others - 1 and tally[e, target] < others:
            continue  # too far from lying in one part, before and after
        for i in range(pin_start[e], pin_start[e + 1]):
            u = pin[i]
            if u == v:
                continue
            if kind == CLIQUES:
                pull[u, source] -= mass[u] * mass[v]
                pull[u, target] += mass[u] * mass[v]
            else:
                inside = tally[e, source] - (parts[u] == source)
                if inside + 1 == others:
                    pull[u, source] -= 1.0
                inside = tally[e, target] - (parts[u] == target)
                if inside == others:
                    pull[u, target] += 1.0


@jit
def climb(
    kind, start, other, value, pin_start, pin, mass, tally, weights, capacity, slack,
    movable, tolerance, patience, max_moves, pull, parts, loads, sizes,
):  # fmt: skip
    """One Fiduccia-Mattheyses pass: best moves, losses too, then back to the best state met.

    Every vertex moves at most once. `pull` holds the pulls of all parts on all vertices and is
    spoilt. Only states without an overloaded part count. Returns by how much the cut fell.
    """
    n = len(parts)
    locked = ~movable
    moved, origin = np.empty(n, np.int64), np.empty(n, np.int64)
    n_moves, n_kept, total, best_total = 0, 0, 0.0, 0.0
    while n_moves < min(n, max_moves) and n_moves - n_kept <= patience:
        v, target, gain = _best_move(pull, weights, capacity, slack, locked, parts, loads, sizes)
        if v < 0:
            break
        source = parts[v]
        _move(kind, start, other, mass, tally, weights, parts, loads, sizes, v, target)
        _update_pulls(
            kind, start, other, value, pin_start, pin, mass, tally, parts, v, source, target, pull
        )
        locked[v] = True
        moved[n_moves], origin[n_moves] = v, source
        n_moves += 1
        total += gain
        if total > best_total + tolerance and np.all(loads <= capacity):
            best_total, n_kept = total, n_moves
    for i in range(n_moves - 1, n_kept - 1, -1):
        _move(kind, start, other, mass, tally, weights, parts, loads, sizes, moved[i], origin[i])
    return best_total
