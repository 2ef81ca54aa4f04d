"""What joins the vertices that are to be divided, and what a division of them cuts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita import _kernels
from partita._threads import run_blocks

__all__ = ["CLIQUES", "EDGES", "NETS", "Links"]

EDGES, CLIQUES, NETS = 0, 1, 2  # as in the kernels


@dataclass(frozen=True)
class Links:
    """What joins vertices: edges, or nets seen as cliques or as wholes (see the kernels)."""

    kind: int
    start: NDArray[np.int64]
    other: NDArray[np.int32]
    value: NDArray[np.float64]
    pin_start: NDArray[np.int64]
    pin: NDArray[np.int32]
    mass: NDArray[np.float64]

    @classmethod
    def of_edges(cls, graph: Any) -> Links:
        """Edges of a symmetric non-negative matrix, dense or sparse; its diagonal is ignored."""
        matrix = sp.csr_matrix(graph, copy=True)
        matrix.setdiag(0.0)
        matrix.eliminate_zeros()
        none = np.zeros(1, np.int64)
        start, other = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
        mass = np.ones(matrix.shape[0])
        return cls(EDGES, start, other, matrix.data, none, none[:0].astype(np.int32), mass)

    @classmethod
    def of_nets(cls, incidence: Any, mass: NDArray[np.float64], *, whole: bool) -> Links:
        """Nets are the columns of a 0/1 incidence matrix of vertices and nets."""
        rows, columns = sp.csr_matrix(incidence), sp.csc_matrix(incidence)
        start, other = rows.indptr.astype(np.int64), rows.indices.astype(np.int32)
        pin_start, pin = columns.indptr.astype(np.int64), columns.indices.astype(np.int32)
        kind = NETS if whole else CLIQUES
        return cls(kind, start, other, np.empty(0), pin_start, pin, mass)

    @property
    def n_vertices(self) -> int:
        return len(self.start) - 1

    def tally(self, parts: NDArray[np.int64], n_parts: int) -> NDArray[np.float64]:
        """Mass (or number) of the pins of every net in every part."""
        tally = np.empty((len(self.pin_start) - 1, n_parts))
        _kernels.graph_refinement.count(self.kind, self.start, self.other, self.mass, parts, tally)
        return tally

    def cut(self, parts: NDArray[np.int64], n_parts: int) -> float:
        """Weight of the edges, weighted number of the pairs, or number of the nets cut."""
        if self.kind == EDGES:
            return float(
                _kernels.graph_refinement.edges_cut(self.start, self.other, self.value, parts)
            )
        tally = self.tally(parts, n_parts)
        if self.kind == NETS:
            return float(np.count_nonzero(np.count_nonzero(tally, axis=1) > 1))
        return float((tally.sum(axis=1) ** 2 - (tally**2).sum(axis=1)).sum() / 2)

    def pulls(
        self, parts: NDArray[np.int64], tally: NDArray[np.float64], n_parts: int
    ) -> NDArray[np.float64]:
        """What joins every vertex to every part, itself left out, shape (n_vertices, n_parts)."""
        out = np.empty((self.n_vertices, n_parts))
        kernel = _kernels.graph_refinement.pulls
        graph = (self.kind, self.start, self.other, self.value, self.pin_start, self.mass)
        run_blocks(lambda a, b: kernel(*graph, tally, parts, a, b, out), self.n_vertices, 1024)
        return out

    def work_of_a_move(self, n_parts: int) -> float:
        """Look-ups that choosing a move and correcting the pulls takes, on average."""
        pins = np.diff(self.pin_start).astype(np.float64)
        touched = len(self.other) if self.kind == EDGES else float(pins @ pins)
        return self.n_vertices * n_parts + touched / self.n_vertices
