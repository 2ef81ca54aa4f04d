"""Refinement of a balanced partition of a graph: vertices move between parts to lower the cut.

`_pulls` describes the three kinds of graph and their records. Ties go to the first vertex and the
first part.
"""

from __future__ import annotations

import numpy as np

from partita._kernels._dispatch import kernel
from partita._kernels._edge_sweep import sweep_edges
from partita._kernels._pulls import (
    CLIQUES,
    EDGES,
    NETS,
    complete_matrix,
    gather,
    has_integers,
    padded_nets,
    pulls_of_nets,
)

_FEW = 8  # vertices of which a sweep computes the moves at least at a time
_SMALL = 512  # vertices up to which operations on whole rows of a matrix are fastest


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
    if adjacency.kind == EDGES:
        return sweep_edges(adjacency, limits, order, tolerance, pull, state)
    nets = padded_nets(adjacency)
    n_moves, position, last_move, length = 0, 0, 0, _FEW
    while position < len(order):
        vertices = order[position : position + length]
        if n_moves == 0:
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
        _move(adjacency, limits.weights, vertices[movers[0]], targets[movers[0]], state)
        n_moves += 1
        position += movers[0] + 1
        length, last_move = max(_FEW, position - last_move), position
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
    lists = state._replace(loads=state.loads.tolist(), sizes=state.sizes.tolist())
    weights, loads = limits.weights.tolist(), lists.loads
    gains = _Gains(adjacency, limits, pull, lists)
    capacity = limits.capacity.tolist()
    moves: list[tuple[int, int]] = []
    n_kept, total, best_total = 0, 0.0, 0.0
    most = min(len(weights), max_moves)
    overloaded = [k for k, load in enumerate(loads) if load > capacity[k]]
    while len(moves) < most and len(moves) - n_kept <= patience:
        v, target, gain = gains.best_move(overloaded, slack)
        if v < 0:
            break
        source = int(state.parts[v])
        _move(adjacency, weights, v, target, lists)
        gains.update(v, source, target)
        moves.append((v, source))
        total += gain
        if overloaded or loads[target] > capacity[target]:  # else no other part can be
            overloaded = [k for k, load in enumerate(loads) if load > capacity[k]]
        if total > best_total + tolerance and not overloaded:
            best_total, n_kept = total, len(moves)
    for v, source in reversed(moves[n_kept:]):
        _move(adjacency, weights, v, source, lists)
    state.loads[:], state.sizes[:] = loads, lists.sizes
    return best_total


def _fill_matrix(adjacency):
    """Return the weights of all pairs of vertices of a graph of edges."""
    n = len(adjacency.start) - 1
    matrix = np.zeros((n, n))
    matrix[np.repeat(np.arange(n), np.diff(adjacency.start)), adjacency.other] = adjacency.value
    return matrix


class _Gains:
    """Gains of all moves, by part and vertex: the pull of the part minus that of the own part.

    The pulls are corrected after every move. Those of moves that are excluded are -inf: to the own
    part, and of vertices that moved before or must not move. The pull of the own part, which is
    kept apart, undergoes the same sums in the same order. So it has the same bits.
    """

    def __init__(self, adjacency, limits, pull, state):
        self._matrix = complete_matrix(adjacency)
        kind = np.float64 if self._matrix is None else self._matrix.dtype
        if self._matrix is None and adjacency.kind == EDGES and len(pull) <= _SMALL:
            self._matrix = _fill_matrix(adjacency)  # to add 0 changes no bits
        self._is_exact = has_integers(adjacency.mass)
        self._adjacency, self._state = adjacency, state
        self._weights, self._weight_list = limits.weights, limits.weights.tolist()
        self._capacity = limits.capacity.tolist()
        self._lightest, self._heaviest = min(self._weight_list), max(self._weight_list)
        vertices, self._parts = np.arange(len(pull)), np.arange(pull.shape[1])
        self._own = pull[vertices, state.parts].astype(kind)
        self._pull = np.array(pull.T, kind, order="C")
        # a vertex that moved is excluded, so that members need not follow the moves
        self._is_member = (state.parts == self._parts[:, None]).astype(kind)
        self._members = [is_member.nonzero()[0] for is_member in self._is_member]
        self._pull[state.parts, vertices] = -np.inf
        self._pull[:, ~limits.is_movable] = -np.inf
        self._gain = np.empty_like(self._pull)

    def best_move(self, overloaded, slack):
        """Return the vertex and the part with the largest gain, and the gain; -1, -1, 0 if none.

        If no part is overloaded, a move may overload one by up to `slack`. If one is, only its
        vertices move, to parts with room. Two moves can thus exchange vertices.
        """
        sizes, loads, room = self._state.sizes, self._state.loads, 0.0 if overloaded else slack
        sources = [k for k in overloaded or range(len(sizes)) if sizes[k] > 1]
        if not sources:
            return -1, -1, 0.0
        vertices = None  # all
        if len(sources) == len(sizes):
            gain = np.subtract(self._pull, self._own, out=self._gain)
        else:
            members = [self._members[k] for k in sources]
            vertices = members[0] if len(members) == 1 else np.sort(np.concatenate(members))
            if len(vertices) == 0:
                return -1, -1, 0.0
            gain = self._pull.take(vertices, axis=1)
            gain -= self._own.take(vertices)
        in_table = gain.argmax(axis=1)
        rows, largest = in_table.tolist(), gain[self._parts, in_table].tolist()
        for k, load in enumerate(loads):
            limit = self._capacity[k] + room
            if load + self._heaviest <= limit:
                continue
            v = rows[k] if vertices is None else vertices[rows[k]]
            if load + self._lightest > limit:
                largest[k] = -np.inf
            elif load + self._weight_list[v] > limit:  # some vertices fit, the best one does not
                weights = self._weights if vertices is None else self._weights[vertices]
                gain[k, load + weights > limit] = -np.inf
                rows[k] = int(gain[k].argmax())
                largest[k] = float(gain[k, rows[k]])
        best = max(largest)
        if best == -np.inf:
            return -1, -1, 0.0
        target = largest.index(best)
        if largest.count(best) > 1:  # the first of them with the first vertex
            _, target = min((rows[k], k) for k, gain in enumerate(largest) if gain == best)
        row = rows[target]
        return row if vertices is None else int(vertices[row]), target, best

    def update(self, v, source, target):
        """Correct the pulls after vertex v has moved from `source` to `target`, and exclude it."""
        if self._matrix is not None:
            amounts, pull = self._matrix[v], self._pull
            pull[source] -= amounts
            pull[target] += amounts
            self._own += amounts * (self._is_member[target] - self._is_member[source])
            pull[:, v] = -np.inf
            return
        kind, start, other, value, pin_start, pin, mass = self._adjacency
        if kind == EDGES:
            links = slice(start[v], start[v + 1])
            self._shift(other[links], value[links], source, target)
        elif kind == NETS:
            self._update_nets(other[start[v] : start[v + 1]], v, source, target)
        else:
            pins = gather(pin, pin_start, other[start[v] : start[v + 1]])
            if self._is_exact:
                n_shared = np.bincount(pins, minlength=len(mass))
                n_shared[v] = 0
                self._shift(slice(None), n_shared * (mass * mass[v]), source, target)
            else:
                pins = pins[pins != v]
                amounts = mass[pins] * mass[v]
                np.subtract.at(self._pull[source], pins, amounts)
                np.add.at(self._pull[target], pins, amounts)
                np.add.at(self._own, pins, self._change(pins, source, target) * amounts)
        self._pull[:, v] = -np.inf

    def _shift(self, vertices, amounts, source, target):
        """Move amounts from the pulls of one part on vertices, each once, to those of another."""
        self._pull[source][vertices] -= amounts
        self._pull[target][vertices] += amounts
        self._own[vertices] += amounts * self._change(vertices, source, target)

    def _change(self, vertices, source, target):
        """Return 1 for members of `target`, -1 for those of `source`, and 0 for all others."""
        return self._is_member[target][vertices] - self._is_member[source][vertices]

    def _update_nets(self, nets, v, source, target):
        """Correct the pulls of nets with all pins but one in one part, before or after a move."""
        pin_start, pin = self._adjacency.pin_start, self._adjacency.pin
        n_others = pin_start[nets + 1] - pin_start[nets] - 1
        n_source, n_target = self._state.tally[nets, source], self._state.tally[nets, target]
        changes = ((n_source >= n_others - 1) | (n_target >= n_others)).nonzero()[0]
        if len(changes) == 0:
            return
        pins, net = gather(pin, pin_start, nets[changes]), changes.repeat(n_others[changes] + 1)
        parts, is_other = self._state.parts[pins], pins != v
        is_source, is_target = parts == source, parts == target
        was_full = (n_source[net] - is_source + 1 == n_others[net]) & is_other
        is_full = (n_target[net] - is_target == n_others[net]) & is_other
        np.subtract.at(self._pull[source], pins[was_full], 1.0)
        np.add.at(self._pull[target], pins[is_full], 1.0)
        np.subtract.at(self._own, pins[was_full & is_source], 1.0)
        np.add.at(self._own, pins[is_full & is_target], 1.0)
