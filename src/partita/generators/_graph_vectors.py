"""The leading eigenvectors of a sparse normalized graph."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu

from partita._linalg import eigh

__all__ = ["LeadingVectors", "graph_components"]

_WEAK = 1e-12  # weaker normalized edges do not connect nodes numerically
_DENSE = 300  # up to this number of nodes LAPACK is as fast as Lanczos
_RESIDUAL = 1e-7  # of Lanczos, relative to the eigenvalue
_RESTARTS = 30  # of Lanczos, usually three; beyond 30 LAPACK is faster for a thousand nodes
_SPARSE = 15  # entries per row up to which sparse factors take less time than Lanczos
_SHIFT = 1e-4  # of the largest eigenvalue, so that the shifted graph can be factorized

Double = NDArray[np.float64]


def graph_components(matrix: Any) -> NDArray[np.int32]:
    """Remove weak edges from a normalized sparse graph; return the component of every node."""
    matrix.data[matrix.data < _WEAK] = 0
    matrix.eliminate_zeros()
    labels: NDArray[np.int32] = connected_components(matrix, directed=False)[1]
    return labels


class LeadingVectors:
    """The leading eigenvectors of a normalized graph.

    Every connected component has an eigenvector of eigenvalue 1 in closed form. Lanczos only
    computes the others, because it misses copies of a multiple eigenvalue. They are computed once,
    when they are first needed, for any number of clusters: the vectors do not depend on which
    thread asks for how many of them.

    Parameters
    ----------
    matrix : sparse matrix of shape (n, n), symmetric
        The graph, normalized so that D^½ 1 is an eigenvector of eigenvalue 1, the largest.
    degrees : array of shape (n,)
        Degrees D, positive.
    components : array of shape (n,)
        Connected component of every node.
    most : int
        Largest number of eigenvectors that will be needed.
    """

    def __init__(
        self, matrix: Any, degrees: Double, components: NDArray[np.int32], most: int
    ) -> None:
        n = len(degrees)
        first = np.zeros((n, int(components.max()) + 1))
        first[np.arange(n), components] = np.sqrt(degrees)
        self._matrix, self._first = matrix, first / np.linalg.norm(first, axis=0)
        self._most = max(min(most, n) - self._first.shape[1], 0)
        self._others: Double | None = None  # by ascending eigenvalue
        self._lock = Lock()

    def leading(self, k: int) -> Double:
        """Return k eigenvectors, one per column, and those of all components if there are more."""
        count = max(k - self._first.shape[1], 0)
        if count == 0:
            return self._first
        with self._lock:
            if self._others is None:
                self._others = _orthogonal_vectors(self._matrix, self._first, self._most)
        return np.hstack([self._first, self._others[:, self._most - count :]])


def _orthogonal_vectors(matrix: Any, first: Double, count: int) -> Double:
    """Return the leading eigenvectors that are orthogonal to the first ones.

    Lanczos needs many steps where many eigenvalues are close to 1, as in graphs of thin clusters.
    The inverse of (1 + shift) I - G has the same eigenvectors, and these eigenvalues far apart. Its
    factors are sparse where samples have few dimensions, at least locally.
    """
    n = len(first)
    if n > _DENSE and 8 * count < n:
        is_sparse = matrix.nnz <= _SPARSE * n
        vectors = _lanczos(_shifted_inverse(matrix) if is_sparse else matrix.dot, first, count)
        if vectors is not None:
            return vectors
    remainder = matrix.toarray() - first @ first.T
    return np.asarray(eigh(remainder, subset_by_index=(n - count, n - 1), overwrite=True)[1])


def _lanczos(multiply: Callable[[Double], Double], first: Double, count: int) -> Double | None:
    """Return leading eigenvectors orthogonal to the first ones, None if Lanczos is too slow."""
    n = len(first)

    def multiply_rest(v: Double) -> Double:
        product = multiply(v - first @ (first.T @ v))
        return np.asarray(product - first @ (first.T @ product))

    operator = LinearOperator((n, n), matvec=multiply_rest, dtype=np.float64)
    start = np.random.default_rng(0).uniform(-1, 1, n)
    options = {"which": "LA", "v0": start, "tol": _RESIDUAL, "maxiter": _RESTARTS}
    try:
        return np.asarray(eigsh(operator, count, **options)[1])
    except ArpackNoConvergence:
        return None


def _shifted_inverse(matrix: Any) -> Callable[[Double], Double]:
    """Return the product with ((1 + shift) I - G)^-1, by sparse factors."""
    shifted = sp.csc_matrix((1 + _SHIFT) * sp.eye(matrix.shape[0]) - matrix)
    factors = splu(
        shifted,
        permc_spec="MMD_AT_PLUS_A",  # for symmetric matrices; positive definite ones need no pivots
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    solve: Callable[[Double], Double] = factors.solve
    return solve
