"""The low end of a graph Laplacian's spectrum, on weighted rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita._linalg import eigh
from partita.solvers.components import connected_components

__all__ = ["LowSpectrum", "low_spectrum"]

_TIE = 1e-13  # relative to the largest degree: eigenvalues nearer than this are one


@dataclass(frozen=True)
class LowSpectrum:
    """The K smallest eigenvalues of the Laplacian and their eigenvectors.

    Attributes
    ----------
    n_components : int
    component : array of shape (n,)
    sum_smallest, sum_with_next : float
        Of the K and of the K + 1 smallest eigenvalues.
    embedding : array of shape (n, p)
        Eigenvectors that are constant on equal samples, entries as in the full space.
    lift : array of shape (n,)
        Squared length of each sample's part along the other eigenvectors.
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
    within_rows: bool = True,
) -> LowSpectrum:
    """Eigenvalues and eigenvectors of L = D - S where a row of weight r stands for r equal samples.

    Equal samples are joined with strength 1. The Laplacian of the samples then has

    - the eigenvalues of diag(d) - diag(q) S diag(q), q = sqrt(r), d_a = Σ_{b != a} r_b S_ab, with
      vectors that are constant on equal samples; these split over the components of the graph, of
      which each has the eigenvalue 0 and the vector 1;
    - for each row the eigenvalue d_a + r_a, its degree, r_a - 1 times: vectors that live on the
      row's samples and sum to 0. They put every one of these samples at the squared distance
      1 - 1/r_a from the origin, each in a direction of its own.

    Where the K-th eigenvalue is multiple, a program takes some vectors of its eigenspace; here
    each counts with the same fraction, so that the squared distances between samples,
    |y_a - y_b|² + lift_a + lift_b, depend on nothing but the graph (this too minimizes tr(YᵀLY),
    over the convex hull of the projections).

    Parameters
    ----------
    graph : sparse matrix of shape (n, n), non-negative
        S above the diagonal, one entry per edge; no stored zeros.
    weights : array of shape (n,)
    n_smallest : int
        K.
    within_rows : bool
        Whether vectors that part equal samples take part.

    Returns
    -------
    LowSpectrum
        With more than K components there is no low end to tell apart: the embedding is empty.
        O(size³) for each component.
    """
    n = len(weights)
    n_components, component = connected_components(graph)
    if n_components > n_smallest:
        return LowSpectrum(n_components, component, 0.0, 0.0, np.empty((n, 0)), np.zeros(n))
    degree = graph @ weights + graph.T @ weights
    times = np.maximum(weights - 1.0, 0.0) if within_rows else np.zeros(n)
    tie = _TIE * float(np.max(degree + weights))
    wanted = n_smallest + 2 - n_components  # all of them may lie in one component
    while True:
        blocks = [
            _block(graph, degree, weights, np.flatnonzero(component == k), wanted)
            for k in range(n_components)
        ]
        values = np.concatenate([block.values for block in blocks] + [degree + weights])
        multiplicity = np.concatenate([np.ones(len(values) - n), times])
        taken, cut = _fill(values, multiplicity, n_smallest, tie)
        if all(block.complete or block.values[-1] > cut + tie for block in blocks):
            break
        wanted *= 2
    vectors = sp.block_diag([block.vectors for block in blocks], format="csc")
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
    """Smallest eigenvalues of one component, ascending from 0, and vectors in the full space."""

    rows: NDArray[np.int64]
    values: NDArray[np.float64]
    vectors: NDArray[np.float64]

    @property
    def complete(self) -> bool:
        return len(self.values) == len(self.rows)


def _block(
    graph: Any,
    degree: NDArray[np.float64],
    weights: NDArray[np.float64],
    rows: NDArray[np.int64],
    wanted: int,
) -> _Block:
    r = weights[rows]
    wanted = min(wanted, len(rows))
    if wanted == 1:
        values, vectors = np.zeros(1), np.empty((len(rows), 1))
    else:
        root = np.sqrt(r)
        part = graph if len(rows) == len(degree) else graph[rows][:, rows]
        laplacian = part.toarray()
        laplacian *= root[:, None]
        laplacian *= -root
        np.fill_diagonal(laplacian, degree[rows])
        # the transpose, lower triangle filled, is what LAPACK can overwrite without a copy
        values, vectors = eigh(
            laplacian.T,
            subset_by_index=(0, wanted - 1),
            overwrite=True,
            check_finite=False,
        )
        values = np.maximum(values, 0.0)
        vectors /= root[:, None]
    values[0] = 0.0
    vectors[:, 0] = 1.0 / np.sqrt(r.sum())
    return _Block(rows, values, vectors)


def _fill(
    values: NDArray[np.float64], multiplicity: NDArray[np.float64], n_smallest: int, tie: float
) -> tuple[NDArray[np.float64], float]:
    """The fraction of every eigenvalue that is among the smallest, and the largest of these."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(multiplicity[order])
    cut = float(values[order[np.searchsorted(reached, n_smallest)]])
    if cut == 0.0:  # one for each component, exactly; a small eigenvalue is another matter
        tie = 0.0
    below = values < cut - tie
    tied = ~below & (values <= cut + tie)
    room = n_smallest - multiplicity[below].sum()
    taken = below.astype(np.float64)
    taken[tied] = room / multiplicity[tied].sum()
    return taken, cut
