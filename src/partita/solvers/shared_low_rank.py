"""Split several views of the same samples into one low-rank matrix and sparse errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.config import report_progress
from partita.solvers.low_rank import shrink_eigenvalues, shrink_singular_values
from partita.solvers.view_errors import ViewErrors

__all__ = ["SharedMatrix", "fit_low_rank", "shrink_rank"]

Matrix = NDArray[np.float64]


class SharedMatrix(NamedTuple):
    """A matrix shared by several views, and how the iteration went.

    Attributes
    ----------
    matrix : array of shape (n, n)
        The shared matrix Z.
    rank, nuclear_norm : int, float
        Of the matrix over all samples.
    errors : array of shape (n_views,)
        Norm of S_v - Z of every view.
    history : array of shape (n_iter,)
        Largest residual after every iteration.
    converged : bool
        Whether the residual fell below the tolerance.
    """

    matrix: Matrix
    rank: int
    nuclear_norm: float
    errors: NDArray[np.float64]
    history: NDArray[np.float64]
    converged: bool


def fit_low_rank(
    errors: ViewErrors,
    *,
    mu: float,
    growth: float,
    largest_mu: float,
    max_iter: int,
    tol: float,
    task: str,
    symmetric: bool,
    slope: Callable[[Matrix, int], Matrix] | None = None,
) -> SharedMatrix:
    """Solve min ‖Z‖_* + lam Σ_v g(E_v), S_v = Z + E_v, by an inexact augmented Lagrangian.

    Every iteration updates Z, all E_v and all multipliers, then raises the penalty mu.

    Parameters
    ----------
    errors : ViewErrors
        The views S_v, their errors E_v, lam and g.
    mu : float
        Initial penalty.
    growth : float
        Factor of mu from one iteration to the next.
    largest_mu : float
        Limit of mu.
    max_iter : int
        Largest number of iterations.
    tol : float
        Stop when the residual of every view is smaller.
    task : str
        Name for progress.
    symmetric : bool
        Whether all iterates are symmetric: views are, and g is "l1". Saves work.
    slope : callable, optional
        `slope(Z, rank)` returns the gradient of a further term of the objective, linear in Z.

    Returns
    -------
    SharedMatrix
        O(V n² + n² p) an iteration for V views and Z of rank p, beside one reduction of an n x n
        matrix to tridiagonal form.
    """
    V, root = errors.n_views, np.sqrt(errors.weights)
    target = errors.mean_view()
    history: list[float] = []
    converged = False
    while True:
        Z, sigma = shrink_rank(target, root, 1.0 / (V * mu), symmetric=symmetric)
        next_mu = min(growth * mu, largest_mu)
        target, residual = errors.update(Z, mu, next_mu)
        target /= V
        target += Z
        mu = next_mu
        if slope is not None:
            target -= slope(Z, len(sigma)) / (V * mu)
        history.append(residual)
        report_progress(task, len(history), max_iter)
        converged = residual < tol
        if converged or len(history) == max_iter:
            break
    return SharedMatrix(
        Z, len(sigma), float(sigma.sum()), errors.penalties(Z), np.asarray(history), converged
    )


def shrink_rank(
    matrix: Matrix, root: NDArray[np.float64], threshold: float, *, symmetric: bool = False
) -> tuple[Matrix, NDArray[np.float64]]:
    """Lower the singular values that a matrix has over all samples, to at least 0.

    Parameters
    ----------
    matrix : array of shape (n, n)
        X over weighted rows; overwritten.
    root : array of shape (n,)
        Roots of the weights. diag(root) X diag(root) has the singular values of X over samples.
    threshold : float
        Positive threshold.
    symmetric : bool, default=False
        Whether X equals its transpose.

    Returns
    -------
    matrix : array of shape (n, n)
        The same memory.
    sigma : array
        Singular values above 0.
    """
    matrix *= root[:, None]
    matrix *= root
    if symmetric:
        values, left = shrink_eigenvalues(matrix, threshold)
        sigma, right = np.abs(values), left * values
    else:
        left, sigma, right = shrink_singular_values(matrix, threshold)
        right = right * sigma
    np.matmul(left / root[:, None], (right / root[:, None]).T, out=matrix)
    return matrix, sigma
