"""Refinement of a balanced partition of a graph: vertices move between parts to lower the cut.

`_pulls` describes the three kinds of graph and their records. Ties go to the first vertex and the
first part.
"""

from __future__ import annotations

import numpy as np

from partita._kernels._dispatch import kernel
from partita._kernels._pulls import (
    CLIQUES,
    EDGES,
    complete_matrix,
    has_integers,
    padded_nets,
    pulls_of_nets,
    update_pulls,
)

_FEW = 8  # vertices of which a sweep computes the moves at least at a time
_FEW_EDGES = 64  # the same for edges, whose pulls are at hand


def _move(adjacency, weights, v, target, state):
    """Update `state` in place: vertex v moves to part `target`."""
    kind, start, other, _, _, _, mass = adjacency
    parts, loads, sizes, tally = state
    source = parts[v]
    parts[v] = target
    loads[source] -= weights[v]
    loads[target] += weights[v]
    sizes[source] -= 1
    sizes[target] += 1
    if kind != EDGES:
        nets, amount = other[start[v] : start[v + 1]], mass[v] if kind == CLIQUES else 1.0
        tally[nets, source] -= amount
        tally[nets, target] += amount


@kernel
def sweep(adjacency, limits, order, tolerance, pull, state):
    """Update `state` in place: visit all vertices once, in order; return the number of moves.

    A vertex moves to the part that pulls most among those with room for it: for a gain, or at any
    loss if its part is overloaded. No part becomes empty. `pull` holds the pulls of all parts on
    all vertices; those of EDGES are corrected after every move, as in `climb`, those of nets are
    not changed.
    """
    nets = None if adjacency.kind == EDGES else padded_nets(adjacency)
    few = _FEW_EDGES if nets is None else _FEW
    n_moves, position, last_move, length = 0, 0, 0, few
    while position < len(order):
        vertices = order[position : position + length]
        if nets is None or n_moves == 0:
            of_vertices = pull[vertices]
        else:
            of_vertices = pulls_of_nets(adjacency, nets, state.parts, state.tally, vertices)
        targets = _targets(of_vertices, limits, vertices, tolerance, state)
        movers = np.flatnonzero(targets >= 0)
        if len(movers) == 0:
            position += len(vertices)
            length *= 2
            continue
        # the targets of the vertices after the first that moves no longer hold
        v, target = vertices[movers[0]], targets[movers[0]]
        source = state.parts[v]
        _move(adjacency, limits.weights, v, target, state)
        if nets is None:
            update_pulls(adjacency, True, v, source, target, state, pull)
        n_moves += 1
        position += movers[0] + 1
        length, last_move = max(few, position - last_move), position
    return n_moves


def _targets(pull, limits, vertices, tolerance, state):
    """Return the parts to which vertices would move in this state; -1 if they would not.

    `pull` holds the pulls on these vertices and is overwritten.
    """
    weights, capacity, is_movable = limits
    parts, loads, sizes, _ = state
    source, rows = parts[vertices], np.arange(len(vertices))
    least = np.where((loads > capacity)[source], -np.inf, pull[rows, source] + tolerance)
    pull[rows, source] = -np.inf
    pull[loads + weights[vertices, None] > capacity] = -np.inf
    target = pull.argmax(axis=1)
    moves = (pull[rows, target] > least) & is_movable[vertices] & (sizes > 1)[source]
    return np.where(moves, target, -1)


@kernel
def climb(adjacency, limits, slack, tolerance, patience, max_moves, pull, state):
    """Update `state` in place by one Fiduccia-Mattheyses pass; return by how much the cut falls.

    Take the best move again and again, also at a loss, then return to the best state that was
    reached. Every vertex moves at most once. A pass ends after `max_moves` moves, or after
    `patience` moves without a better state. Only states without an overloaded part count. `pull`
    holds the pulls of all parts on all vertices and is overwritten.
    """
    parts, loads = state.parts, state.loads
    matrix = complete_matrix(adjacency)
    gains = _Gains(pull, limits, parts) if matrix is None else _ExactGains(pull, limits, parts)
    is_exact = has_integers(adjacency.mass)
    lightest, heaviest = float(limits.weights.min()), float(limits.weights.max())
    capacity = limits.capacity.tolist()
    moves: list[tuple[int, int]] = []
    n_kept, total, best_total = 0, 0.0, 0.0
    while len(moves) < min(len(parts), max_moves) and len(moves) - n_kept <= patience:
        v, target, gain = _best_move(limits, capacity, (lightest, heaviest), slack, gains, state)
        if v < 0:
            break
        source = int(parts[v])
        _move(adjacency, limits.weights, v, target, state)
        if isinstance(gains, _ExactGains):
            gains.update(matrix[v], source, target)
        else:
            update_pulls(adjacency, is_exact, v, source, target, state, pull)
        gains.exclude(v)
        moves.append((v, source))
        total += gain
        if total > best_total + tolerance and (loads <= limits.capacity).all():
            best_total, n_kept = total, len(moves)
    for v, source in reversed(moves[n_kept:]):
        _move(adjacency, limits.weights, v, source, state)
    return best_total


class _Gains:
    """Gains of all moves, computed from the pulls; -inf for moves that are excluded."""

    def __init__(self, pull, limits, parts):
        self._pull, self._parts = pull, parts
        self._barrier = np.where(limits.is_movable[:, None], 0.0, np.full(pull.shape, -np.inf))
        self._barrier[np.arange(len(parts)), parts] = -np.inf  # no move to the own part

    def of(self, vertices):
        """Return the gains of some vertices, a slice or an array, in an array of their own."""
        pull, parts = self._pull[vertices], self._parts[vertices]
        gain = pull - pull[np.arange(len(parts)), parts][:, None]
        gain += self._barrier[vertices]
        return gain

    def exclude(self, v):
        """Exclude the moves of a vertex."""
        self._barrier[v] = -np.inf


class _ExactGains:
    """The same for a complete graph, with exact sums: pulls are corrected after every move."""

    def __init__(self, pull, limits, parts):
        gain = _Gains(pull, limits, parts).of(slice(None))
        self._parts = parts
        self._own = pull[np.arange(len(parts)), parts].astype(np.float32)
        self._pull = gain.astype(np.float32) + self._own[:, None]  # -inf for excluded moves

    def of(self, vertices):
        """Return the gains of some vertices, a slice or an array, in an array of their own."""
        return self._pull[vertices] - self._own[vertices, None]

    def exclude(self, v):
        """Exclude the moves of a vertex."""
        self._pull[v] = -np.inf

    def update(self, amounts, source, target):
        """Correct the pulls after a vertex with edges of these weights has moved."""
        self._pull[:, source] -= amounts
        self._pull[:, target] += amounts
        sign = np.zeros(self._pull.shape[1], np.float32)
        sign[source], sign[target] = -1.0, 1.0
        self._own += amounts * sign[self._parts]


def _best_move(limits, capacity, extremes, slack, gains, state):
    """Return the vertex and the part with the largest gain, and the gain; -1, -1, 0 if none moves.

    If no part is overloaded, a move may overload one by up to `slack`. If one is, only its vertices
    move, to parts with room. Two moves can thus exchange vertices. `capacity` is a list, `extremes`
    are the smallest and the largest weight of a vertex.
    """
    weights, parts = limits.weights, state.parts
    loads, sizes = state.loads.tolist(), state.sizes.tolist()
    can_leave, room = [load > limit for load, limit in zip(loads, capacity, strict=True)], 0.0
    if not any(can_leave):
        can_leave, room = [True] * len(loads), slack
    can_leave = [leaves and size > 1 for leaves, size in zip(can_leave, sizes, strict=True)]
    vertices = None
    if not all(can_leave):
        vertices = np.array(can_leave)[parts].nonzero()[0]
        if len(vertices) == 0:
            return -1, -1, 0.0
        weights = weights[vertices]
    gain = gains.of(slice(None) if vertices is None else vertices)
    lightest, heaviest = extremes
    for k, load in enumerate(loads):
        if load + lightest > capacity[k] + room:
            gain[:, k] = -np.inf
        elif load + heaviest > capacity[k] + room:
            gain[load + weights > capacity[k] + room, k] = -np.inf
    row, target = divmod(int(gain.argmax()), len(loads))
    largest = float(gain[row, target])
    v = row if vertices is None else int(vertices[row])
    return (v, target, largest) if largest > -np.inf else (-1, -1, 0.0)
