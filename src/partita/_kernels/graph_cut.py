"""Cut of a partition of a graph, and the pulls of its parts on vertices.

`_pulls` describes the three kinds of graph and their records.
"""

from __future__ import annotations

import numpy as np

from partita._kernels._dispatch import kernel
from partita._kernels._labels import row_blocks
from partita._kernels._pulls import (
    CLIQUES,
    EDGES,
    complete_matrix,
    padded_nets,
    pulls_of_edges,
    pulls_of_matrix,
    pulls_of_nets,
)


@kernel
def pulls(adjacency, parts, tally, first, last, out):
    """Fill rows first..last of `out`, shape (n, K), with the pulls of all parts on vertices."""
    matrix = complete_matrix(adjacency)
    if matrix is not None:
        out[first:last] = pulls_of_matrix(matrix[first:last], parts, out.shape[1])
        return
    nets = None if adjacency.kind == EDGES else padded_nets(adjacency)
    width = len(adjacency.other) // len(parts) + 1
    if nets is not None:
        width *= out.shape[1]
    for top, bottom in row_blocks(width, first, last):
        if adjacency.kind == EDGES:
            out[top:bottom] = pulls_of_edges(adjacency, parts, out.shape[1], top, bottom)
        else:
            vertices = np.arange(top, bottom)
            out[top:bottom] = pulls_of_nets(adjacency, nets, parts, tally, vertices)


@kernel
def edges_cut(adjacency, parts):
    """Return the weight of the edges between parts."""
    matrix = complete_matrix(adjacency)
    if matrix is not None:
        pull = pulls_of_matrix(matrix, parts, int(parts.max()) + 1)
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
