"""Balanced cut of a weighted graph into parts of about equal weight."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.solvers.graph_cut._adjacency import CLIQUES, Adjacency, is_complete_faster
from partita.solvers.graph_cut._balanced import (
    Cut,
    Initialization,
    balanced_cut,
    kmeans_groups,
)
from partita.solvers.graph_cut._part_limits import PartLimits
from partita.solvers.graph_cut.metis import as_integers, part_graph
from partita.solvers.spectral import Factored, normalize_rows, spectral_embedding

__all__ = ["METIS_ROWS", "Cut", "cut_cliques", "cut_graph", "is_complete_faster"]

METIS_ROWS = 500  # "auto" uses METIS up to this size: METIS needs all pairs written down
# "auto" does not use METIS where a part may weigh less than four single vertices: METIS then has
# too few vertices to bisect, and prints that to standard output.
_METIS_VERTICES_PER_PART = 4
_EDGE_TOTAL = 1e8  # METIS counts in 32-bit integers
_VERTEX_TOTAL = 1e6


def cut_graph(
    graph: Any, weights: NDArray[np.float64], n_parts: int, rng: np.random.Generator, **options: Any
) -> Cut:
    """Divide a graph into parts of about equal weight so that the edges between them weigh little.

    Parameters
    ----------
    graph : array or sparse matrix of shape (n, n), symmetric, non-negative
        Weights of the edges; the diagonal is ignored.
    weights : array of shape (n,)
        Weights of the vertices, which are balanced between the parts.
    n_parts : int
        Number of parts.
    rng : Generator
        Source of random numbers.
    balance : float
        A part may hold (1 + balance) times its share.
    n_init : int
        Number of initial partitions; the smallest cut is kept.
    partitioner : {"auto", "metis", "builtin"}
        What makes the initial partitions.
    task : str
        Name for the progress callback.

    Returns
    -------
    Cut
    """
    adjacency = Adjacency.of_edges(graph)
    return _cut(adjacency, graph, np.ones(len(weights)), weights, n_parts, rng, **options)


def cut_cliques(
    incidence: Any,
    weights: NDArray[np.float64],
    n_parts: int,
    rng: np.random.Generator,
    **options: Any,
) -> Cut:
    """Cut the graph B Bᵀ of weighted rows, which is formed for METIS and for few rows only.

    Rows a and b are joined by r_a r_b (number of columns they share): the edges between the r_a and
    r_b samples they stand for. Gains come from the weight of every column's rows in every part, so
    that a sweep costs O(nnz(B) K) and memory is O(nnz(B) + n K).

    Parameters
    ----------
    incidence : sparse matrix of shape (n, p), 0/1
        B, rows and columns.
    weights : array of shape (n,)
        Weights r of the rows.
    n_parts, rng, **options
        As in `cut_graph`.
    """
    adjacency = Adjacency.of_pairs(incidence, weights)
    if adjacency is None:
        adjacency = Adjacency.of_nets(incidence, weights, CLIQUES)
    return _cut(adjacency, Factored(incidence), weights, weights, n_parts, rng, **options)


def _cut(
    adjacency: Adjacency,
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
    def metis(limits: PartLimits) -> Iterator[NDArray[np.int64]]:
        return _metis_groups(adjacency, weights, limits, balance, rng, n_init)

    def spectral(limits: PartLimits) -> Iterator[NDArray[np.int64]]:
        """Cluster the eigenvectors of the normalized cut."""
        _, vectors = spectral_embedding(affinity, multiplicity, n_parts)
        return kmeans_groups(normalize_rows(vectors), multiplicity, n_parts, rng, n_init)

    is_even = bool(_METIS_VERTICES_PER_PART * weights.max() <= weights.sum() / n_parts)
    return balanced_cut(
        adjacency,
        weights,
        n_parts,
        rng,
        external=Initialization("metis", n_init, metis),
        builtin=Initialization("builtin", n_init, spectral),
        fits_external=is_even and adjacency.n_vertices <= METIS_ROWS,
        balance=balance,
        **options,
    )


def _metis_groups(
    adjacency: Adjacency,
    weights: NDArray[np.float64],
    limits: PartLimits,
    balance: float,
    rng: np.random.Generator,
    n_init: int,
) -> Iterator[NDArray[np.int64]]:
    """Yield recursive multilevel bisections by METIS, one per seed."""
    graph = adjacency.matrix()
    graph.data = as_integers(graph.data, _EDGE_TOTAL)
    graph.eliminate_zeros()
    vertices = np.maximum(1, as_integers(weights, _VERTEX_TOTAL))
    for _ in range(n_init):
        seed = int(rng.integers(2**31))
        yield part_graph(
            graph, vertices, len(limits.share), seed, shares=limits.share, balance=balance
        )
