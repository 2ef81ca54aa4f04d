"""Compute the smallest eigenvalues of a graph Laplacian on weighted rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita.solvers.components import connected_components
from partita.solvers.laplacian_eigenvectors import smallest_eigenvectors

__all__ = ["LowSpectrum", "low_spectrum"]

_TIE = 1e-13  # eigenvalues closer than this, relative to the largest degree, count as equal


@dataclass(frozen=True)
class LowSpectrum:
    """The K smallest eigenvalues of the Laplacian and their eigenvectors.

    Attributes
    ----------
    n_components : int
        Number of connected components of the graph.
    component : array of shape (n,)
        Component of every row.
    sum_smallest, sum_with_next : float
        Sum of the K, and of the K + 1, smallest eigenvalues.
    embedding : array of shape (n, p)
        Eigenvectors that are constant on equal samples, with the entries of single samples.
    lift : array of shape (n,)
        Squared length of each sample's component along the other eigenvectors.
    """

    n_components: int
    component: NDArray[np.int64]
    sum_smallest: float
    sum_with_next: float
    embedding: NDArray[np.float64]
    lift: NDArray[np.float64]


def low_spectrum(
    graph: sp.csr_matrix,
    weights: NDArray[np.float64],
    n_smallest: int,
    *,
    equal_edges: NDArray[np.float64] | None = None,
    within_rows: bool = True,
) -> LowSpectrum:
    """Return eigenvalues and eigenvectors of L = D - S, a row of weight r being r equal samples.

    Equal samples of row a are joined by edges of weight e_a. The Laplacian of the samples then has

    - the eigenvalues of diag(d) - diag(q) S diag(q), q = sqrt(r), d_a = Σ_{b != a} r_b S_ab, with
      vectors that are constant on equal samples; they belong to single components of the graph,
      each of which has the eigenvalue 0 with a constant vector;
    - for each row the eigenvalue d_a + e_a r_a, its degree, r_a - 1 times, with vectors that are 0
      outside the samples of the row and sum to 0. They put each of these samples at the squared
      distance 1 - 1/r_a from the origin, each in a different direction.

    Where the K-th eigenvalue is multiple, any vectors of its eigenspace are eigenvectors. Here all
    of them count with the same fraction, so that the squared distances between samples,
    |y_a - y_b|² + lift_a + lift_b, depend only on the graph (this also minimizes tr(YᵀLY), over
    the convex hull of the projections).

    Parameters
    ----------
    graph : sparse matrix of shape (n, n), non-negative
        S above the diagonal, one entry per edge; no stored zeros.
    weights : array of shape (n,)
        Weights r of the rows.
    n_smallest : int
        K, the number of eigenvalues.
    equal_edges : array of shape (n,), optional
        Weights e of the edges between equal samples; 1 by default.
    within_rows : bool, default=True
        Whether the eigenvectors that separate equal samples are included.

    Returns
    -------
    LowSpectrum
        With more than K components all K eigenvalues are 0, and the embedding is empty. Cost: a
        Cholesky factor of each component, sparse if the component has few edges.
    """
    n = len(weights)
    n_components, component = connected_components(graph)
    if n_components > n_smallest:
        return LowSpectrum(n_components, component, 0.0, 0.0, np.empty((n, 0)), np.zeros(n))
    degree = graph @ weights + graph.T @ weights
    times = np.maximum(weights - 1.0, 0.0) if within_rows else np.zeros(n)
    within = degree + (weights if equal_edges is None else equal_edges * weights)
    tie = _TIE * float(np.max(within))
    n_values = n_smallest + 2 - n_components  # all of them may belong to one component
    while True:
        blocks = [
            _block(graph, degree, weights, np.flatnonzero(component == k), n_values)
            for k in range(n_components)
        ]
        values = np.concatenate([block.values for block in blocks] + [within])
        multiplicity = np.concatenate([np.ones(len(values) - n), times])
        taken, cut = _fill(values, multiplicity, n_smallest, tie)
        if all(block.is_complete or block.values[-1] > cut + tie for block in blocks):
            break
        n_values *= 2
    # of dense blocks only, SciPy would make a sparse array
    vectors = sp.block_diag([sp.coo_matrix(block.vectors) for block in blocks], format="csc")
    rows = np.concatenate([block.rows for block in blocks])
    share = taken[:-n]
    chosen = np.flatnonzero(share)
    embedding = np.empty((n, len(chosen)))
    embedding[rows] = vectors[:, chosen].toarray() * np.sqrt(share[chosen])
    lift = taken[-n:] * times / np.maximum(weights, 1.0)
    next_taken, _ = _fill(values, multiplicity, n_smallest + 1, tie)
    return LowSpectrum(
        n_components,
        component,
        float(np.sum(taken * multiplicity * values)),
        float(np.sum(next_taken * multiplicity * values)),
        embedding,
        lift,
    )


@dataclass(frozen=True)
class _Block:
    """Smallest eigenvalues of one component, ascending from 0, and vectors of single samples."""

    rows: NDArray[np.int64]
    values: NDArray[np.float64]
    vectors: NDArray[np.float64]

    @property
    def is_complete(self) -> bool:
        """Whether these are all eigenvalues of the component."""
        return len(self.values) == len(self.rows)


def _block(
    graph: Any,
    degree: NDArray[np.float64],
    weights: NDArray[np.float64],
    rows: NDArray[np.int64],
    n_values: int,
) -> _Block:
    r = weights[rows]
    n_values = min(n_values, len(rows))
    if n_values == 1:
        values, vectors = np.zeros(1), np.empty((len(rows), 1))
    else:
        root = np.sqrt(r)
        part = graph if len(rows) == len(degree) else graph[rows][:, rows]
        values, vectors = smallest_eigenvectors(part, degree[rows], root, n_values)
        values = np.maximum(values, 0.0)
        vectors /= root[:, None]
    values[0] = 0.0
    vectors[:, 0] = 1.0 / np.sqrt(r.sum())
    return _Block(rows, values, vectors)


def _fill(
    values: NDArray[np.float64], multiplicity: NDArray[np.float64], n_smallest: int, tie: float
) -> tuple[NDArray[np.float64], float]:
    """Return the share of every eigenvalue among the smallest, and the largest of these."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(multiplicity[order])
    cut = float(values[order[np.searchsorted(reached, n_smallest)]])
    if cut == 0.0:  # exact zeros, one per component; a small eigenvalue does not tie with them
        tie = 0.0
    below = values < cut - tie
    tied = ~below & (values <= cut + tie)
    room = n_smallest - multiplicity[below].sum()
    taken = below.astype(np.float64)
    taken[tied] = room / multiplicity[tied].sum()
    return taken, cut
