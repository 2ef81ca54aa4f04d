"""The graph or hypergraph that is cut, and the cost of a cut."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita import _kernels
from partita._threads import run_blocks

__all__ = ["CLIQUES", "EDGES", "NETS", "Adjacency", "is_complete_faster"]

EDGES, CLIQUES, NETS = 0, 1, 2  # as in the kernels
_VERTICES_PER_BLOCK = 1024
_COMPLETE = 2000  # vertices up to which all pairs may be written down
_COMPLETE_ALWAYS = 500
_COMPLETE_PER_NET = 10  # vertices for each net of a vertex up to which that is faster
_EXACT = 1 << 24  # integers up to which are exact in 32 bits
# Elementary operations of a refinement, from measurements: moves, each with a choice among all
# vertices and parts, and visits of all edges, or of all pins and parts
_MOVES, _PER_MOVE, _PER_CHOICE, _PER_EDGE, _PER_PIN = 300, 50_000, 3, 120, 15


def is_complete_faster(n_vertices: int, n_nets: float) -> bool:
    """Return whether vertices with so many nets each are cut as a complete graph."""
    return n_vertices <= min(_COMPLETE, max(_COMPLETE_ALWAYS, _COMPLETE_PER_NET * n_nets))


class Adjacency(NamedTuple):
    """Edges between vertices, or nets, each of which joins several vertices (its pins).

    Attributes
    ----------
    kind : int
        EDGES: the cut is the weight of the edges between parts. CLIQUES: a net stands for an edge
        between each pair of its pins. NETS: the cut is the number of nets with pins in several
        parts.
    start, other : arrays
        CSR structure: `other[start[v]:start[v + 1]]` are the neighbors of vertex v, or its nets.
    value : array
        Weights of the edges; empty for nets.
    pin_start, pin : arrays
        CSR structure of the pins of every net; empty for edges.
    mass : array of shape (n_vertices,)
        CLIQUES: the edge between two pins weighs the product of their masses.
    """

    kind: int
    start: NDArray[np.int64]
    other: NDArray[np.int32]
    value: NDArray[np.float64]
    pin_start: NDArray[np.int64]
    pin: NDArray[np.int32]
    mass: NDArray[np.float64]

    @classmethod
    def of_edges(cls, graph: Any) -> Adjacency:
        """Read a symmetric non-negative matrix, dense or sparse; its diagonal is ignored."""
        matrix = sp.coo_matrix(graph)
        is_edge = (matrix.row != matrix.col) & (matrix.data != 0)
        edges = matrix.data[is_edge], (matrix.row[is_edge], matrix.col[is_edge])
        matrix = sp.csr_matrix(edges, shape=matrix.shape)
        none = np.zeros(1, np.int64)
        start, other = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
        mass = np.ones(matrix.shape[0])
        return cls(EDGES, start, other, matrix.data, none, none[:0].astype(np.int32), mass)

    @classmethod
    def of_nets(cls, incidence: Any, mass: NDArray[np.float64], kind: int) -> Adjacency:
        """Read a 0/1 matrix of vertices and nets; `kind` is CLIQUES or NETS."""
        rows, columns = sp.csr_matrix(incidence), sp.csc_matrix(incidence)
        start, other = rows.indptr.astype(np.int64), rows.indices.astype(np.int32)
        pin_start, pin = columns.indptr.astype(np.int64), columns.indices.astype(np.int32)
        return cls(kind, start, other, np.empty(0), pin_start, pin, mass)

    @classmethod
    def of_pairs(cls, incidence: Any, mass: NDArray[np.float64]) -> Adjacency | None:
        """Write all pairs of CLIQUES down as a complete graph of EDGES; pulls are then fast.

        Return None if there are so many vertices that pins are faster, or sums of 32 bits inexact.
        """
        n = incidence.shape[0]
        if not is_complete_faster(n, incidence.nnz / n) or (mass != np.floor(mass)).any():
            return None
        masses = (sp.diags(mass) @ incidence).astype(np.float32).tocsr()
        value = (masses @ masses.T).toarray()
        np.fill_diagonal(value, 0.0)
        if value.sum(axis=1, dtype=np.float64).max() >= _EXACT:
            return None
        start, other = np.arange(n + 1) * n, np.tile(np.arange(n, dtype=np.int32), n)
        none = np.zeros(1, np.int64)
        pin = none[:0].astype(np.int32)
        return cls(EDGES, start, other, value.reshape(-1), none, pin, np.ones(n))

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return len(self.start) - 1

    @property
    def is_complete(self) -> bool:
        """Whether all pairs are written down. Their weights are integers, whose sums are exact."""
        return self.kind == EDGES and len(self.other) == self.n_vertices**2

    def work(self, n_parts: int, n_refinements: int) -> float:
        """Return about how many elementary operations some refinements need."""
        visits = len(self.other) * (_PER_EDGE if self.kind == EDGES else _PER_PIN * n_parts)
        moves = _MOVES * (_PER_MOVE + _PER_CHOICE * self.n_vertices * n_parts)
        return float(n_refinements * (visits + moves))

    def tally(
        self, parts: NDArray[np.int64], n_parts: int, work: float = 0.0
    ) -> NDArray[np.float64]:
        """Return the mass (NETS: the number) of the pins of every net in every part.

        `work`, here and below, is that of the whole task, by which a kernel's form is chosen.
        """
        tally = np.empty((len(self.pin_start) - 1, n_parts))
        _kernels.graph_cut.count_pins.at(work)(self, parts, tally)
        return tally

    def cut(self, parts: NDArray[np.int64], n_parts: int, work: float = 0.0) -> float:
        """Return the cost of a partition: what lies between its parts, as `kind` says."""
        if self.kind == EDGES:
            return float(_kernels.graph_cut.edges_cut.at(work)(self, parts))
        tally = self.tally(parts, n_parts, work)
        if self.kind == NETS:
            return float(np.count_nonzero(np.count_nonzero(tally, axis=1) > 1))
        return float((tally.sum(axis=1) ** 2 - (tally**2).sum(axis=1)).sum() / 2)

    def pulls(
        self,
        parts: NDArray[np.int64],
        tally: NDArray[np.float64],
        n_parts: int,
        work: float = 0.0,
    ) -> NDArray[np.float64]:
        """Return the pull of every part on every vertex, shape (n_vertices, n_parts).

        Moving v from its part to part k lowers the cut by pull(v, k) - pull(v, own part).
        """
        out = np.empty((self.n_vertices, n_parts))
        fill = _kernels.graph_cut.pulls.at(work)
        run_blocks(
            lambda first, last: fill(self, parts, tally, first, last, out),
            self.n_vertices,
            _VERTICES_PER_BLOCK,
        )
        return out

    def correct_pulls(
        self, before: NDArray[np.int64], after: NDArray[np.int64], pull: NDArray[np.float64]
    ) -> None:
        """Update `pull` in place: the parts of some vertices of a complete graph have changed."""
        moved = np.flatnonzero(before != after)
        change = np.zeros((pull.shape[1], len(moved)), self.value.dtype)
        change[after[moved], np.arange(len(moved))] = 1
        change[before[moved], np.arange(len(moved))] = -1
        pull += (change @ self.value.reshape(self.n_vertices, -1)[moved]).T

    def move_cost(self, n_parts: int) -> float:
        """Return the mean number of look-ups to choose a move and to correct the pulls."""
        pins = np.diff(self.pin_start).astype(np.float64)
        touched = len(self.other) if self.kind == EDGES else float(pins @ pins)
        return self.n_vertices * n_parts + touched / self.n_vertices

    def matrix(self) -> sp.csr_matrix:
        """Return the weights of all edges (not NETS) without a diagonal, in arrays of its own."""
        n = self.n_vertices
        if self.kind == EDGES:
            graph = sp.csr_matrix((self.value, self.other, self.start), (n, n), copy=True)
            graph.eliminate_zeros()  # those of a complete graph
            return graph.astype(np.float64, copy=False)
        shape = (n, len(self.pin_start) - 1)
        B = sp.csr_matrix(
            (np.repeat(self.mass, np.diff(self.start)), self.other, self.start), shape
        )
        graph = (B @ B.T).tocsr()
        graph.setdiag(0.0)
        graph.eliminate_zeros()
        return graph
