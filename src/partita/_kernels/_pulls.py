"""Pulls of the parts of a graph on its vertices, from the records of its adjacency.

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
"""

from __future__ import annotations

import numpy as np

__all__ = [
    "CLIQUES",
    "EDGES",
    "NETS",
    "complete_matrix",
    "gather",
    "has_integers",
    "padded_nets",
    "pulls_of_edges",
    "pulls_of_matrix",
    "pulls_of_nets",
]

EDGES, CLIQUES, NETS = 0, 1, 2


def gather(values, start, indices):
    """Return the entries values[start[i]:start[i + 1]] of some i, one after the other."""
    bounds = zip(start[indices].tolist(), start[indices + 1].tolist(), strict=True)
    parts = [values[first:last] for first, last in bounds]
    return np.concatenate(parts) if parts else values[:0]


def padded_nets(adjacency):
    """Return the nets of every vertex; rows are padded with the number of nets."""
    degrees = np.diff(adjacency.start)
    widest = max(int(degrees.max(initial=0)), 1)
    if len(adjacency.other) == len(degrees) * widest:  # no label is missing
        return adjacency.other.reshape(-1, widest)
    nets = np.full((len(degrees), widest), len(adjacency.pin_start) - 1)
    nets[np.arange(widest) < degrees[:, None]] = adjacency.other
    return nets


def has_integers(mass):
    """Return whether all masses are integers, so that their sums are exact in any order."""
    return bool((mass == np.floor(mass)).all())


def complete_matrix(adjacency):
    """Return the matrix of a complete graph, None for any other."""
    n = len(adjacency.start) - 1
    if adjacency.kind != EDGES or len(adjacency.other) < n * n:
        return None
    return adjacency.value.reshape(n, n)


def pulls_of_matrix(matrix, parts, n_parts):
    """Return the pulls of all parts on the vertices of some rows of the matrix."""
    is_inside = np.zeros((len(parts), n_parts), matrix.dtype)
    is_inside[np.arange(len(parts)), parts] = 1
    return (matrix @ is_inside).astype(np.float64)


def pulls_of_edges(adjacency, parts, n_parts, first, last):
    """Return the pulls of all parts on vertices first..last, shape (last - first, K)."""
    start = adjacency.start
    entries = slice(start[first], start[last])
    cells = np.repeat(np.arange(last - first) * n_parts, np.diff(start[first : last + 1]))
    cells += parts[adjacency.other[entries]]
    pull = np.bincount(cells, adjacency.value[entries], (last - first) * n_parts)
    return pull.reshape(-1, n_parts)


def pulls_of_nets(adjacency, nets, parts, tally, vertices):
    """Return the pulls on any vertices; `nets` has the nets of all vertices, padded."""
    rows, own, padding = np.arange(len(vertices)), parts[vertices], np.zeros((1, tally.shape[1]))
    nets = nets[vertices]
    if adjacency.kind == NETS:
        n_others = np.append(np.diff(adjacency.pin_start), -1)[:, None] - 1  # padding: never equal
        tally = np.vstack([tally, padding])
        pull = (tally == n_others)[nets].sum(axis=1, dtype=np.float64)
        pull[rows, own] = (tally == n_others + 1)[nets, own[:, None]].sum(axis=1)
        return pull
    amounts, mass = np.vstack([tally, padding])[nets], adjacency.mass
    if has_integers(mass):
        pull = amounts.sum(axis=1)
    else:
        pull = np.add.accumulate(amounts, axis=1)[:, -1].copy()
    pull[rows, own] -= np.diff(adjacency.start)[vertices] * mass[vertices]
    pull *= mass[vertices, None]
    return pull
