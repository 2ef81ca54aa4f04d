"""Refinement of a balanced partition of a graph: vertices move between parts to lower the cut.

The pull of part k on vertex v is the weight that joins v to k, without v itself. Moving v from its
part to k lowers the cut by pull(v, k) - pull(v, own part). There are three kinds of graph:

EDGES    `other[start[v]:start[v+1]]` are the neighbors of v, `value` the weights of the edges;
         pull = the weight of the edges to k. In a complete graph all vertices are neighbors, also
         a vertex of itself; the weights are integers, small enough for exact sums of 32 bits.
CLIQUES  `other` are the nets of v, `pin[pin_start[e]:pin_start[e+1]]` the vertices of net e (its
         pins). A net joins all pairs of its pins, each with the product of their masses;
         pull = mass[v] Σ_{e of v} (mass of e's other pins in k). Pairs are never listed.
NETS     as before, but a net counts once if it is cut;
         pull = the number of v's nets whose other pins are all in k.

Records, by the names of their fields:

adjacency   kind, start, other, value, pin_start, pin, mass
limits      weights : of the vertices; capacity : of the parts; is_movable : by vertex
state       parts : part of every vertex; loads : weight and sizes : number of vertices of every
            part; tally[e, k] : mass (NETS: number) of the pins of net e in part k

Ties go to the first vertex and the first part.
"""

from __future__ import annotations

import numpy as np

from partita._kernels._dispatch import kernel
from partita._kernels._labels import row_blocks

EDGES, CLIQUES, NETS = 0, 1, 2
_FEW = 8  # vertices of which a sweep computes the moves at least at a time
_FEW_COMPLETE = 64  # the same in a complete graph, where their pulls are at hand


def _gather(values, start, indices):
    """Return the entries values[start[i]:start[i + 1]] of some i, one after the other."""
    bounds = zip(start[indices].tolist(), start[indices + 1].tolist(), strict=True)
    parts = [values[first:last] for first, last in bounds]
    return np.concatenate(parts) if parts else values[:0]


def _padded_nets(adjacency):
    """Return the nets of every vertex; rows are padded with the number of nets."""
    degrees = np.diff(adjacency.start)
    widest = max(int(degrees.max(initial=0)), 1)
    if len(adjacency.other) == len(degrees) * widest:  # no label is missing
        return adjacency.other.reshape(-1, widest)
    nets = np.full((len(degrees), widest), len(adjacency.pin_start) - 1)
    nets[np.arange(widest) < degrees[:, None]] = adjacency.other
    return nets


def _is_exact(mass):
    """Return whether all masses are integers, so that their sums are exact in any order."""
    return bool((mass == np.floor(mass)).all())


def _complete_matrix(adjacency):
    """Return the matrix of a complete graph, None for any other."""
    n = len(adjacency.start) - 1
    if adjacency.kind != EDGES or len(adjacency.other) < n * n:
        return None
    return adjacency.value.reshape(n, n)


def _pulls_of_matrix(matrix, parts, n_parts):
    """Return the pulls of all parts on the vertices of some rows of the matrix."""
    is_inside = np.zeros((len(parts), n_parts), matrix.dtype)
    is_inside[np.arange(len(parts)), parts] = 1
    return (matrix @ is_inside).astype(np.float64)


def _pulls_of_edges(adjacency, parts, n_parts, vertices):
    """Return the pulls of all parts on some vertices, shape (len(vertices), K)."""
    start = adjacency.start
    first = np.arange(len(vertices)) * n_parts
    cells = np.repeat(first, start[vertices + 1] - start[vertices])
    cells += parts[_gather(adjacency.other, start, vertices)]
    values = _gather(adjacency.value, start, vertices)
    pull = np.zeros((len(vertices), n_parts))
    np.add.at(pull.reshape(-1), cells, values)
    return pull


def _pulls_of_nets(adjacency, nets, parts, tally, vertices):
    """Return the same for nets; `nets` has those of all vertices, padded."""
    rows, own, padding = np.arange(len(vertices)), parts[vertices], np.zeros((1, tally.shape[1]))
    nets = nets[vertices]
    if adjacency.kind == NETS:
        n_others = np.append(np.diff(adjacency.pin_start), -1)[:, None] - 1  # padding: never equal
        tally = np.vstack([tally, padding])
        pull = (tally == n_others)[nets].sum(axis=1, dtype=np.float64)
        pull[rows, own] = (tally == n_others + 1)[nets, own[:, None]].sum(axis=1)
        return pull
    amounts, mass = np.vstack([tally, padding])[nets], adjacency.mass
    if _is_exact(mass):
        pull = amounts.sum(axis=1)
    else:
        pull = np.add.accumulate(amounts, axis=1)[:, -1].copy()
    pull[rows, own] -= np.diff(adjacency.start)[vertices] * mass[vertices]
    pull *= mass[vertices, None]
    return pull


@kernel
def pulls(adjacency, parts, tally, first, last, out):
    """Fill rows first..last of `out`, shape (n, K), with the pulls of all parts on vertices."""
    matrix = _complete_matrix(adjacency)
    if matrix is not None:
        out[first:last] = _pulls_of_matrix(matrix[first:last], parts, out.shape[1])
        return
    nets = None if adjacency.kind == EDGES else _padded_nets(adjacency)
    mean_degree = len(adjacency.other) // len(parts) + 1
    for top, bottom in row_blocks(mean_degree * out.shape[1], first, last):
        vertices = np.arange(top, bottom)
        if adjacency.kind == EDGES:
            out[top:bottom] = _pulls_of_edges(adjacency, parts, out.shape[1], vertices)
        else:
            out[top:bottom] = _pulls_of_nets(adjacency, nets, parts, tally, vertices)


@kernel
def edges_cut(adjacency, parts):
    """Return the weight of the edges between parts."""
    matrix = _complete_matrix(adjacency)
    if matrix is not None:
        pull = _pulls_of_matrix(matrix, parts, int(parts.max()) + 1)
        pull[np.arange(len(parts)), parts] = 0.0
        return pull.sum() / 2
    part = np.repeat(parts, np.diff(adjacency.start))
    between = adjacency.value[part != parts[adjacency.other]]
    return np.cumsum(between)[-1] / 2 if len(between) else 0.0


@kernel
def count_pins(adjacency, parts, tally):
    """Fill `tally` with the pins of every net in every part."""
    kind, start, other, _, _, _, mass = adjacency
    tally[:] = 0.0
    if kind == EDGES:
        return
    vertex = np.repeat(np.arange(len(parts)), np.diff(start))
    cells = other * np.int64(tally.shape[1]) + parts[vertex]
    np.add.at(tally.reshape(-1), cells, mass[vertex] if kind == CLIQUES else 1.0)


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
def sweep(adjacency, limits, order, tolerance, state):
    """Update `state` in place: visit all vertices once, in order; return the number of moves.

    A vertex moves to the part that pulls most among those with room for it: for a gain, or at any
    loss if its part is overloaded. No part becomes empty.
    """
    matrix = _complete_matrix(adjacency)
    pull, nets = None, None
    if matrix is not None:
        pull = _pulls_of_matrix(matrix, state.parts, len(state.loads))
    elif adjacency.kind != EDGES:
        nets = _padded_nets(adjacency)
    few = _FEW if matrix is None else _FEW_COMPLETE
    n_moves, position, last_move, length = 0, 0, 0, few
    while position < len(order):
        vertices = order[position : position + length]
        if pull is not None:
            of_vertices = pull[vertices]
        elif nets is None:
            of_vertices = _pulls_of_edges(adjacency, state.parts, len(state.loads), vertices)
        else:
            of_vertices = _pulls_of_nets(adjacency, nets, state.parts, state.tally, vertices)
        targets = _targets(of_vertices, limits, vertices, tolerance, state)
        movers = np.flatnonzero(targets >= 0)
        if len(movers) == 0:
            position += len(vertices)
            length *= 2
            continue
        # the targets of the vertices after the first that moves no longer hold
        first = movers[0]
        if pull is not None:
            amounts = matrix[vertices[first]]
            pull[:, state.parts[vertices[first]]] -= amounts
            pull[:, targets[first]] += amounts
        _move(adjacency, limits.weights, vertices[first], targets[first], state)
        n_moves += 1
        position += first + 1
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
    matrix = _complete_matrix(adjacency)
    gains = _Gains(pull, limits, parts) if matrix is None else _ExactGains(pull, limits, parts)
    is_exact = _is_exact(adjacency.mass)
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
            _update_pulls(adjacency, is_exact, v, source, target, state, pull)
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
        self._own -= amounts * (self._parts == source)
        self._own += amounts * (self._parts == target)


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


def _update_pulls(adjacency, is_exact, v, source, target, state, pull):
    """Update `pull` in place after vertex v has moved from `source` to `target`."""
    kind, start, other, value, pin_start, pin, mass = adjacency
    others = other[start[v] : start[v + 1]]
    if kind == EDGES:
        amounts = value[start[v] : start[v + 1]]
        pull[others, source] -= amounts
        pull[others, target] += amounts
    elif kind == NETS:
        _update_pulls_of_nets(adjacency, others, v, source, target, state, pull)
    elif is_exact:
        n_shared = np.bincount(_gather(pin, pin_start, others), minlength=len(pull))
        n_shared[v] = 0
        amounts = n_shared * (mass * mass[v])
        pull[:, source] -= amounts
        pull[:, target] += amounts
    else:
        pins = _gather(pin, pin_start, others)
        pins = pins[pins != v]
        amounts, cells = mass[pins] * mass[v], pins.astype(np.int64) * pull.shape[1]
        np.subtract.at(pull.reshape(-1), cells + source, amounts)
        np.add.at(pull.reshape(-1), cells + target, amounts)


def _update_pulls_of_nets(adjacency, nets, v, source, target, state, pull):
    """Update `pull` in place for nets with all pins but one in one part, before or after a move."""
    parts, _, _, tally = state
    pin_start, pin = adjacency.pin_start, adjacency.pin
    n_others = pin_start[nets + 1] - pin_start[nets] - 1
    n_source, n_target = tally[nets, source], tally[nets, target]
    for i in np.flatnonzero((n_source >= n_others - 1) | (n_target >= n_others)):
        pins = pin[pin_start[nets[i]] : pin_start[nets[i] + 1]]
        pins = pins[pins != v]
        was_full = n_source[i] - (parts[pins] == source) + 1 == n_others[i]
        is_full = n_target[i] - (parts[pins] == target) == n_others[i]
        pull[pins, source] -= was_full
        pull[pins, target] += is_full
