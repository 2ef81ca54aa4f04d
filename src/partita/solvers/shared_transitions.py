"""One low-rank transition matrix behind several noisy ones, and clusters of its random walk."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from partita.config import report_progress
from partita.solvers.shared_low_rank import SharedMatrix, shrink_rank
from partita.solvers.simplex_rows import project_rows
from partita.solvers.spectral import top_eigenvectors
from partita.solvers.view_errors import ViewErrors, largest_row_sum

__all__ = ["fit_transitions", "stationary_distribution", "walk_embedding"]

Matrix = NDArray[np.float64]

_LARGEST_PENALTY = 1e10
_ROWS = 256  # rows that are projected at a time
_RESTART = 1e-8  # probability that the walk restarts at a random sample


def fit_transitions(
    transitions: Sequence[Matrix],
    weights: NDArray[np.float64],
    *,
    lam: float,
    mu: float,
    growth: float,
    max_iter: int,
    tol: float,
    task: str,
) -> SharedMatrix:
    """Solve min ‖P‖_* + lam Σ_i ‖E_i‖₁, T_i = P + E_i, P >= 0, P 1 = 1.

    The nuclear norm is that of a copy Q of P. Every iteration of the augmented Lagrangian updates
    P, Q, all E_i and all multipliers, then raises the penalty mu.

    Parameters
    ----------
    transitions : sequence of arrays of shape (n, n)
        T_i: rows are distributions over samples, Σ_b weights_b T_ab = 1. Entries that are not
        known are NaN; E_i is free there. A matrix is read once per iteration, not changed, and may
        be computed when it is read.
    weights : array of shape (n,)
        Weights of the rows; ones if a row is a sample.
    lam : float
        Weight of the errors.
    mu : float
        Initial penalty.
    growth : float
        Factor of mu from one iteration to the next.
    max_iter : int
        Largest number of iterations.
    tol : float
        Stop when no row of P + E_i - T_i and of P - Q has absolute entries with a larger sum.
    task : str
        Name for progress.

    Returns
    -------
    SharedMatrix
        P, the rank and the norm of Q, and ‖T_i - P‖₁. Cost O(m n² + n³) an iteration, and 8 n²
        bytes per matrix T_i besides those that are passed.
    """
    root = np.sqrt(weights)
    measure = partial(largest_row_sum, weights=weights)
    errors = ViewErrors(transitions, weights, lam, "l1", measure)
    m = errors.n_views
    target = errors.mean_view()
    target *= m / (m + 1)  # Q, Z, E and all multipliers start at 0
    Z = np.zeros_like(target)
    history: list[float] = []
    converged = False
    while True:
        P = target
        for start in range(0, len(P), _ROWS):
            rows = slice(start, start + _ROWS)
            P[rows] = project_rows(P[rows], weights)
        Q = Z / mu
        Q += P
        Q, sigma = shrink_rank(Q, root, 1.0 / mu)
        next_mu = min(growth * mu, _LARGEST_PENALTY)
        target, residual = errors.update(P, mu, next_mu)
        target += m * P
        target += Q
        np.subtract(P, Q, out=Q)
        residual = max(residual, measure(Q))
        Q *= mu
        Z += Q
        mu = next_mu
        np.divide(Z, mu, out=Q)
        target -= Q
        del Q
        target /= m + 1
        history.append(residual)
        report_progress(task, len(history), max_iter)
        converged = residual < tol
        if converged or len(history) == max_iter:
            break
    del target
    return SharedMatrix(
        P, len(sigma), float(sigma.sum()), errors.penalties(P), np.asarray(history), converged
    )


def stationary_distribution(P: Matrix, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability of every sample after many steps from a random sample.

    If the walk can get to all samples from everywhere, this is the only distribution with π = π P.
    Otherwise π depends on where the walk starts, and some of its entries are 0; with probability
    1e-8 a step goes to a random sample instead, so that π is positive and unique.

    Parameters
    ----------
    P : array of shape (n, n)
        Transition matrix over samples, Σ_b weights_b P_ab = 1.
    weights : array of shape (n,)
        Weights of the rows.

    Returns
    -------
    array of shape (n,)
        π of each sample of a row, Σ_a weights_a π_a = 1.
    """
    uniform = 1.0 / weights.sum()
    # The unknowns are the probabilities weights * π of the rows. The matrix then has columns that
    # sum to _RESTART, and its condition does not depend on the weights.
    system = P.T * (_RESTART - 1.0)
    system *= weights[:, None]
    system[np.diag_indices_from(system)] += 1.0
    start = _RESTART * uniform * weights
    q = scipy.linalg.solve(system, start, overwrite_a=True, overwrite_b=True, check_finite=False)
    pi = q / weights
    pi = np.maximum(pi, _RESTART * uniform)  # holds but for rounding
    return np.asarray(pi / (weights @ pi))


def walk_embedding(P: Matrix, weights: NDArray[np.float64], n_components: int) -> Matrix:
    """Return the leading eigenvectors of (Π^½ P Π^-½ + Π^-½ Pᵀ Π^½)/2, Π = diag(π).

    This is the normalized affinity of a directed graph whose random walk is P.

    Parameters
    ----------
    P : array of shape (n, n)
        Transition matrix over samples, Σ_b weights_b P_ab = 1.
    weights : array of shape (n,)
        Weights of the rows.
    n_components : int
        Number of eigenvectors.

    Returns
    -------
    array of shape (n, n_components)
        Entries that each sample of a row has in the eigenvectors over all samples.
    """
    root = np.sqrt(weights)
    scale = np.sqrt(stationary_distribution(P, weights))
    A = P * (scale * root)[:, None]
    A *= root / scale
    A += A.T.copy()
    A /= 2.0
    _, vectors = top_eigenvectors(A, n_components)
    return vectors / root[:, None]
