"""Solve a problem over the simplex for every row of a matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["divide_rows", "project_rows"]

_SUM_ERROR = 1e-6  # rounding alone is far below it, unless weights differ extremely
_MAX_STEPS = 100  # of Newton's method; about 6 are needed
_PRECISION = np.finfo(np.float64).eps


def project_rows(matrix: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the nearest row p >= 0 with Σ_j r_j p_j = 1, for every row b of a matrix.

    A column of weight r stands for r equal columns: the projection minimizes Σ_j r_j (p_j - b_j)².
    It is p = max(b - t, 0), where t makes the sum 1. At first t is computed as if no entry were 0.
    Entries below t are then left out of the sum, which raises t, until none is below it.

    Parameters
    ----------
    matrix : array of shape (n, p)
        The rows b.
    weights : array of shape (p,) or (n, p), not negative
        Weights r of the columns, or of every entry. A row needs a positive weight.

    Returns
    -------
    array of shape (n, p)
        Zeros are exact.

    References
    ----------
    C. Michelot. A finite algorithm for finding the projection of a point onto the canonical simplex
    of Rⁿ. Journal of Optimization Theory and Applications 50, 1986.
    """
    r = np.broadcast_to(weights, matrix.shape)
    stays = r > 0
    # relative to the largest entry, so that rounding never removes that one
    b = matrix - np.max(matrix, axis=1, keepdims=True, where=stays, initial=-np.inf)
    while True:
        kept = np.where(stays, r, 0.0)
        shift = (np.einsum("ij,ij->i", kept, b) - 1.0) / kept.sum(axis=1)
        still = stays & (b > shift[:, None])
        if (still == stays).all():
            return _with_sum_one(np.maximum(b - shift[:, None], 0.0), r)
        stays = still


def _with_sum_one(rows: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale rows whose sum is not 1 because of rounding: weights over many orders of magnitude."""
    total = np.einsum("ij,ij->i", weights, rows)
    is_wrong = np.abs(total - 1.0) > _SUM_ERROR
    rows[is_wrong] /= total[is_wrong, None]
    return rows


def divide_rows(
    matrix: NDArray[np.float64], penalty: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return p = c / (d + θ) with Σ_j r_j p_j = 1, for rows c of a matrix and d of penalties.

    It maximizes Σ_j r_j (c_j ln p_j - d_j p_j) over the simplex. f(θ) = Σ_j r_j c_j / (d_j + θ)
    decreases and 1 / f is concave, so that Newton's method for 1 / f(θ) = 1 approaches the root
    from the left, where it starts: the last column has no penalty, hence θ is at least its part
    r c. The sum of all parts is an upper bound.

    Parameters
    ----------
    matrix : array of shape (n, p), not negative
        The rows c; the last column is positive.
    penalty : array of shape (n, p), not negative
        The rows d; the last column is 0.
    weights : array of shape (n, p), not negative
        Weights r of the entries; positive in the last column.

    Returns
    -------
    array of shape (n, p)
        0 where `matrix` is 0.
    """
    parts = weights * matrix
    theta = parts[:, -1:].copy()
    largest = parts.sum(axis=1, keepdims=True)
    for _ in range(_MAX_STEPS):
        divisor = penalty + theta
        shares = parts / divisor
        total = shares.sum(axis=1, keepdims=True)
        shares /= divisor
        step = total * (total - 1.0) / shares.sum(axis=1, keepdims=True)
        theta = np.clip(theta + step, theta, largest)
        if (step <= _PRECISION * theta).all():
            break
    return np.asarray(matrix / (penalty + theta))
