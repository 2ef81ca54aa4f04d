"""The late steps of random walks on a sparse graph, from a few eigenvectors.

On a graph that mixes fast, the normalized edges M have a few large eigenvalues. Split them off,
M = V Λ Vᵀ + R with R V = 0. Then Mᵗ = V Λᵗ Vᵀ + Rᵗ, and Rᵗ diag(a²) Rᵗ vanishes after some steps:
only the early steps need products with all columns.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackError, eigsh

__all__ = ["LateSteps", "late_steps"]

_VECTORS = 64  # more save less than they cost
_RESIDUAL = 1e-12  # of an eigenvector
_RESTARTS = 15  # of Lanczos; walks that mix fast need up to nine
_PROBES = 16  # random vectors that measure what is left out
_EXACT = 1e-10  # change of a cosine that may be left out
_UNEVEN = 1e4  # squares a² beside the shortest trajectory: rounding errors stay below 1e-11
_SAVED = 1 / 3  # share of the steps from which it is worth it

Matrix = NDArray[np.float64]


class LateSteps(NamedTuple):
    """The inner products Σ_{t > p} Mᵗ diag(a²) Mᵗ as a product of two thin matrices.

    Attributes
    ----------
    n_early : int
        The number p of steps that are left.
    left, right : arrays of shape (n, n_columns)
        The sum is `left @ right.T`. Without columns if p is the number of all steps.
    """

    n_early: int
    left: Matrix
    right: Matrix

    def diagonal(self) -> NDArray[np.float64]:
        """Return the diagonal of the sum."""
        return np.asarray(np.einsum("ij,ij->i", self.left, self.right))

    def times(self, columns: Any) -> Matrix:
        """Return the sum times a sparse matrix."""
        return np.asarray(self.left @ (columns.T @ self.right).T)


def late_steps(M: Any, squares: NDArray[np.float64], n_steps: int) -> LateSteps:
    """Return the late steps of walks of 1 to T steps.

    All steps are early if they do not become negligible soon, and in two more cases. If two walks
    never meet, their similarity is exactly 0, and what is left out would change that. If the
    lengths of the trajectories are very uneven, rounding errors would change the shortest.

    Parameters
    ----------
    M : sparse matrix of shape (n, n), symmetric, non-negative
        Normalized edges; the largest eigenvalue is 1.
    squares : array of shape (n,)
        The squares a².
    n_steps : int
        Largest number of steps T.
    """
    n = len(squares)
    all_early = LateSteps(n_steps, np.empty((n, 0)), np.empty((n, 0)))
    shortest = M.multiply(M) @ squares  # the first step of the squared lengths of trajectories
    if n < 4 * _VECTORS or squares.max() > _UNEVEN * shortest.min() or not _all_meet(M, n_steps):
        return all_early
    try:
        values, V = eigsh(
            M,
            k=_VECTORS,
            which="LM",
            v0=np.random.default_rng(0).standard_normal(n),
            tol=_RESIDUAL,
            maxiter=_RESTARTS,
        )
    except ArpackError:  # no convergence: the walks mix slowly
        return all_early
    n_early = _early_steps(M, values, V, squares, shortest, n_steps)
    if n_early > (1.0 - _SAVED) * n_steps:
        return all_early
    # With A = Σ Λᵗ Vᵀ diag(a²) V Λᵗ and X = Σ Λᵗ Vᵀ diag(a²) Rᵗ over the late steps,
    # Σ Mᵗ diag(a²) Mᵗ = V A Vᵀ + V X + Xᵀ Vᵀ = V Yᵀ + Y Vᵀ with Y = V A / 2 + Xᵀ.
    products = np.outer(values, values)
    A = (V.T @ (squares[:, None] * V)) * sum(products**t for t in range(n_early + 1, n_steps + 1))
    Y, column = V @ (A / 2.0), squares[:, None] * V
    for t in range(1, n_steps + 1):
        column = _rest(M, values, V, column)
        if t > n_early:
            Y += column * values**t
    return LateSteps(n_early, np.hstack([V, Y]), np.hstack([Y, V]))


def _all_meet(M: Any, n_steps: int) -> bool:
    """Return whether some node is reached from all nodes in the same number of steps, at most T."""
    walk = np.zeros(M.shape[0])
    walk[np.argmax(np.diff(M.indptr))] = 1.0
    for _ in range(n_steps):
        walk = (M @ walk > 0) * 1.0
        if walk.all():
            return True
    return False


def _early_steps(
    M: Any,
    values: NDArray[np.float64],
    V: Matrix,
    squares: NDArray[np.float64],
    shortest: NDArray[np.float64],
    n_steps: int,
) -> int:
    """Return after how many steps Rᵗ diag(a²) Rᵗ changes no cosine.

    By the inequality of Cauchy and Schwarz, the diagonal bounds the change. It has the squared
    lengths of the rows of Rᵗ diag(a), which products with random vectors estimate. They also see
    an eigenvector that Lanczos missed.
    """
    probes = np.random.default_rng(1).standard_normal((len(squares), _PROBES))
    probes *= np.sqrt(squares)[:, None]
    change = np.empty(n_steps)
    for t in range(n_steps):
        probes = _rest(M, values, V, probes)
        change[t] = np.max(np.square(probes).mean(axis=1) / shortest)
    left_out = np.cumsum(change[::-1])[::-1]  # from step t + 1 on
    return int(np.count_nonzero(left_out > _EXACT))


def _rest(M: Any, values: NDArray[np.float64], V: Matrix, columns: Matrix) -> Matrix:
    """Return R times some columns."""
    return np.asarray(M @ columns - V @ (values[:, None] * (V.T @ columns)))
