"""Solve non-negative least squares for many rows at once by coordinate descent."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["nonnegative_rows"]


def nonnegative_rows(
    rows: NDArray[np.float64],
    gram: NDArray[np.float64],
    products: NDArray[np.float64],
    penalty: float = 0.0,
    *,
    max_iter: int = 500,
    tol: float = 1e-6,
) -> NDArray[np.float64]:
    """Minimize w H wᵀ - 2 w·g + penalty Σ w over w >= 0, for every row g.

    One sweep minimizes over one coordinate after the other,

        w_k = max(0, (g_k - penalty/2 - Σ_{l != k} H_kl w_l) / H_kk),

    for all rows at a time. No step increases the objective. For the least squares problem
    ‖x - w U‖² it is H = U Uᵀ and g = x Uᵀ, so that x may be sparse.

    Parameters
    ----------
    rows : array of shape (n, K)
        Initial w, non-negative.
    gram : array of shape (K, K), symmetric positive semidefinite
        H.
    products : array of shape (n, K)
        g of every row.
    penalty : float, default=0.0
        Weight of the sum of w.
    max_iter : int, default=500
        Largest number of sweeps.
    tol : float, default=1e-6
        Sweeps end when no coordinate moves by more than this share of the largest entry.

    Returns
    -------
    array of shape (n, K)
        A coordinate with H_kk = 0 has no influence on the fit; it becomes 0.
    """
    W = np.array(rows, np.float64, order="F")  # columns are read and written
    products = np.asfortranarray(products)
    diagonal = gram.diagonal()
    W[:, diagonal <= 0] = 0.0
    for _ in range(max_iter):
        largest_step = 0.0
        for k in np.flatnonzero(diagonal > 0):
            slope = products[:, k] - 0.5 * penalty - W @ gram[:, k]
            column = np.maximum(W[:, k] + slope / diagonal[k], 0.0)
            largest_step = max(largest_step, float(np.abs(column - W[:, k]).max(initial=0.0)))
            W[:, k] = column
        if largest_step <= tol * W.max(initial=0.0):
            break
    return np.ascontiguousarray(W)
