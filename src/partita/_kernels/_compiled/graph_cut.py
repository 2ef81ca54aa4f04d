"""Cut of a partition of a graph, and the pulls of its parts on vertices."""

from __future__ import annotations

from partita._kernels._compiled._jit import jit
from partita._kernels._compiled._pulls import CLIQUES, EDGES, fill_pulls


@jit(allocates=False)
def pulls(adjacency, parts, tally, first, last, out):
    kind, start, other, value, pin_start, _, mass = adjacency
    for v in range(first, last):
        fill_pulls(kind, start, other, value, pin_start, mass, parts, tally, v, out[v])


@jit(allocates=False)
def edges_cut(adjacency, parts):
    start, other, value = adjacency.start, adjacency.other, adjacency.value
    twice = 0.0
    for v in range(len(parts)):
        for j in range(start[v], start[v + 1]):
            if parts[other[j]] != parts[v]:
                twice += value[j]
    return twice / 2


@jit(allocates=False)
def count_pins(adjacency, parts, tally):
    kind, start, other, mass = adjacency.kind, adjacency.start, adjacency.other, adjacency.mass
    for e in range(len(tally)):
        for k in range(tally.shape[1]):
            tally[e, k] = 0.0
    if kind == EDGES:
        return
    for v in range(len(parts)):
        for j in range(start[v], start[v + 1]):
            tally[other[j], parts[v]] += mass[v] if kind == CLIQUES else 1.0
