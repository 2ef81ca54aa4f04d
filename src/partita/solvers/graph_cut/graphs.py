"""Balanced cut of a weighted graph into parts of about equal weight."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita.solvers.graph_cut.capacities import Seats
from partita.solvers.graph_cut.links import EDGES, Links
from partita.solvers.graph_cut.refinement import Cut, Starts, balanced_cut, kmeans_starts
from partita.solvers.spectral import Factored, normalize_rows, spectral_embedding

__all__ = ["METIS_ROWS", "cut_cliques", "cut_graph"]

METIS_ROWS = 500  # "auto" leaves larger graphs to the procedure that never writes the pairs down
_METIS_PER_PART = 4  # and those where a part may be less than four times a single vertex: METIS
# then runs out of vertices to bisect, and says so on standard output
_EDGE_TOTAL = 1e8  # METIS counts in 32-bit integers
_VERTEX_TOTAL = 1e6


def cut_graph(
    graph: Any, weights: NDArray[np.float64], n_parts: int, rng: np.random.Generator, **options: Any
) -> Cut:
    """Parts of about equal weight such that the edges between them weigh little.

    Parameters
    ----------
    graph : array or sparse matrix of shape (n, n), symmetric, non-negative
        Weights of the edges; the diagonal is ignored.
    weights : array of shape (n,)
        Weights of the vertices, which are shared evenly.
    n_parts : int
    rng : Generator
    balance : float
        A part may hold (1 + balance) times its share.
    n_init : int
        Starts, of which the smallest cut is kept.
    partitioner : {"auto", "metis", "builtin"}
        Who makes the starts.
    task : str
        Name for the progress callback.

    Returns
    -------
    Cut
    """
    return _cut(
        Links.of_edges(graph), graph, np.ones(len(weights)), weights, n_parts, rng, **options
    )


def cut_cliques(
    incidence: Any,
    weights: NDArray[np.float64],
    n_parts: int,
    rng: np.random.Generator,
    **options: Any,
) -> Cut:
    """`cut_graph` for B Bᵀ between weighted rows, which is never formed unless METIS wants it.

    Rows a and b are joined by r_a r_b (number of columns they share): the edges between the r_a and
    r_b samples they stand for. Gains come from the weight of every column's rows in every part, so
    that a sweep costs O(nnz(B) K) and memory is O(nnz(B) + n K).

    Parameters
    ----------
    incidence : sparse matrix of shape (n, p), 0/1
    weights : array of shape (n,)
    n_parts, rng, **options
        As in `cut_graph`.
    """
    links = Links.of_nets(incidence, weights, whole=False)
    return _cut(links, Factored(incidence), weights, weights, n_parts, rng, **options)


def _cut(
    links: Links,
    affinity: Any,
    multiplicity: NDArray[np.float64],
    weights: NDArray[np.float64],
    n_parts: int,
    rng: np.random.Generator,
    *,
    balance: float,
    n_init: int,
    **options: Any,
) -> Cut:
    def metis(seats: Seats) -> Iterator[NDArray[np.int64]]:
        return _metis_starts(links, weights, seats, balance, rng, n_init)

    def spectral(seats: Seats) -> Iterator[NDArray[np.int64]]:
        """From the eigenvectors of the normalized cut."""
        _, vectors = spectral_embedding(affinity, multiplicity, n_parts)
        return kmeans_starts(normalize_rows(vectors), multiplicity, n_parts, rng, n_init)

    even = bool(_METIS_PER_PART * weights.max() <= weights.sum() / n_parts)
    return balanced_cut(
        links,
        weights,
        n_parts,
        rng,
        outside=Starts("metis", n_init, metis),
        builtin=Starts("builtin", n_init, spectral),
        fits=even and links.n_vertices <= METIS_ROWS,
        balance=balance,
        **options,
    )


def _metis_starts(
    links: Links,
    weights: NDArray[np.float64],
    seats: Seats,
    balance: float,
    rng: np.random.Generator,
    n_init: int,
) -> Iterator[NDArray[np.int64]]:
    """Recursive multilevel bisection by METIS, from different seeds."""
    import pymetis

    graph = _adjacency(links)
    edges = np.rint(graph.data * (_EDGE_TOTAL / max(graph.data.sum(), 1e-300)))
    graph.data = edges
    graph.eliminate_zeros()
    vertices = np.maximum(1, np.rint(weights * (_VERTEX_TOTAL / weights.sum())))
    for _ in range(n_init):
        options = pymetis.Options(
            seed=int(rng.integers(2**31)), ufactor=max(1, round(1000 * balance))
        )
        _, parts = pymetis.part_graph(
            len(seats.share),
            pymetis.CSRAdjacency(graph.indptr.astype(np.int32), graph.indices.astype(np.int32)),
            eweights=graph.data.astype(np.int32),
            vweights=vertices.astype(np.int32),
            tpwgts=(seats.share / seats.share.sum()).tolist(),
            recursive=True,
            options=options,
        )
        yield np.asarray(parts, np.int64)


def _adjacency(links: Links) -> sp.csr_matrix:
    """The graph written out, without a diagonal, in arrays of its own."""
    n = links.n_vertices
    if links.kind == EDGES:
        return sp.csr_matrix((links.value, links.other, links.start), (n, n), copy=True)
    shape = (n, len(links.pin_start) - 1)
    B = sp.csr_matrix(
        (np.repeat(links.mass, np.diff(links.start)), links.other, links.start), shape
    )
    graph = (B @ B.T).tocsr()
    graph.setdiag(0.0)
    graph.eliminate_zeros()
    return graph
