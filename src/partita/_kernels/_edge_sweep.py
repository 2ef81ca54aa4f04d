"""A sweep over the vertices of a graph of edges. Ties go to the first part."""

from __future__ import annotations

import numpy as np

from partita._kernels._pulls import complete_matrix

__all__ = ["sweep_edges"]

_FEW = 64  # vertices of which a sweep computes the moves at least at a time


def sweep_edges(adjacency, limits, order, tolerance, pull, state):
    """Update `pull` and `state` in place as `sweep` does; return the number of moves."""
    table = _Table(adjacency, limits, order, pull, state)
    loads, sizes, weights = state.loads.tolist(), state.sizes.tolist(), limits.weights.tolist()
    n_moves, position, last_move, length = 0, 0, 0, _FEW
    while position < len(order):
        column, target = table.first_move(position, position + length, tolerance, loads, sizes)
        if column < 0:
            position += length
            length *= 2
            continue
        v = int(order[column])
        source = int(state.parts[v])
        table.update(column, v, source, target)
        state.parts[v] = target
        loads[source] -= weights[v]
        loads[target] += weights[v]
        sizes[source] -= 1
        sizes[target] += 1
        n_moves, position = n_moves + 1, column + 1
        length, last_move = max(_FEW, position - last_move), position
    state.loads[:], state.sizes[:] = loads, sizes
    pull[order] = table.complete().T
    return n_moves


class _Table:
    """Pulls by part and vertex, in the order of the visits, corrected after every move.

    The pull of the own part is kept apart and is -inf in the table. It undergoes the same sums in
    the same order. So it has the same bits.
    """

    def __init__(self, adjacency, limits, order, pull, state):
        self._adjacency, self._matrix = adjacency, complete_matrix(adjacency)
        self._order, self._columns = order, np.arange(len(order))
        self._column = np.empty_like(self._columns)
        self._column[order] = self._columns
        self._weights, self._capacity = limits.weights[order], limits.capacity.tolist()
        self._lightest, self._heaviest = float(limits.weights.min()), float(limits.weights.max())
        self._is_movable, self._parts = limits.is_movable[order], state.parts[order]
        self._pull = np.array(pull[order].T, order="C")
        self._own = self._pull[self._parts, self._columns]
        self._pull[self._parts, self._columns] = -np.inf
        self._signs = np.zeros(len(self._pull))

    def first_move(self, first, last, tolerance, loads, sizes):
        """Return the first of some columns whose vertex moves, and its target; -1, -1 if none."""
        columns = slice(first, last)
        pull, least = self._pull[:, columns].copy(), self._own[columns] + tolerance
        for k, load in enumerate(loads):
            limit = self._capacity[k]
            if load > limit:
                least[self._parts[columns] == k] = -np.inf
            if load + self._lightest > limit:
                pull[k] = -np.inf
            elif load + self._heaviest > limit:
                pull[k, load + self._weights[columns] > limit] = -np.inf
        moves = pull.max(axis=0) > least
        moves &= self._is_movable[columns]
        for k, size in enumerate(sizes):
            if size == 1:
                moves &= self._parts[columns] != k
        column = int(moves.argmax())
        if not moves[column]:
            return -1, -1
        return first + column, int(pull[:, column].argmax())

    def update(self, column, v, source, target):
        """Correct the pulls after vertex v, in a column, has moved from `source` to `target`."""
        if self._matrix is not None:
            columns, amounts = slice(None), self._matrix[v].take(self._order)
        else:
            links = slice(self._adjacency.start[v], self._adjacency.start[v + 1])
            columns = self._column[self._adjacency.other[links]]
            amounts = self._adjacency.value[links]
        self._signs[source], self._signs[target] = -1.0, 1.0
        self._pull[source][columns] -= amounts
        self._pull[target][columns] += amounts
        self._own[columns] += amounts * self._signs[self._parts[columns]]
        self._signs[source] = self._signs[target] = 0.0
        self._pull[source, column] = self._own[column]
        self._own[column] = self._pull[target, column]
        self._pull[target, column] = -np.inf
        self._parts[column] = target

    def complete(self):
        """Return the table with the pulls of the own parts."""
        self._pull[self._parts, self._columns] = self._own
        return self._pull
