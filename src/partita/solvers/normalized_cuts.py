"""Cut a dense graph by the regularized normalized cut and discretization."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita._numbering import number_by_appearance
from partita.solvers.discretization import discretize
from partita.solvers.spectral import top_eigenvectors

__all__ = ["normalized_cut", "normalized_cut_vectors"]

_NO_EDGE = 1e-6  # smaller similarities do not count as edges
_OFFSET = 0.5  # regularization


def normalized_cut_vectors(
    graph: NDArray[np.float64], n_components: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return eigenvalues and generalized eigenvectors of W x = λ D x, with W and D regularized.

    W = graph + ½ I and D = diag(row sums of graph) + I, so that nodes with few edges do not become
    single groups. The eigenvectors have length √n.

    Parameters
    ----------
    graph : array of shape (n, n), symmetric, non-negative
        Similarities. The diagonal counts.
    n_components : int
        Number of eigenvectors.
    """
    W = np.where(graph < _NO_EDGE, 0.0, graph)
    scale = 1.0 / np.sqrt(W.sum(axis=1) + 2 * _OFFSET)
    W[np.diag_indices_from(W)] += _OFFSET
    W *= scale[:, None]
    W *= scale
    values, vectors = top_eigenvectors(W, n_components)
    vectors = scale[:, None] * vectors
    return values, vectors * (np.sqrt(len(W)) / np.linalg.norm(vectors, axis=0))


def normalized_cut(
    graph: NDArray[np.float64], n_groups: int, rng: np.random.Generator, *, n_init: int
) -> NDArray[np.int64]:
    """Return groups of nodes, numbered by first appearance; at most `n_groups`.

    Parameters
    ----------
    graph : array of shape (n, n)
        As in `normalized_cut_vectors`.
    n_groups : int
        Number of groups.
    rng : Generator
        Source of random numbers.
    n_init : int
        Restarts of the discretization.
    """
    _, vectors = normalized_cut_vectors(graph, n_groups)
    groups = discretize(vectors, np.ones(len(graph)), rng, n_init=n_init)
    return number_by_appearance(groups)[0]
