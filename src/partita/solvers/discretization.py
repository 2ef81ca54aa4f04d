"""Discretize eigenvectors after Yu and Shi: find the partition nearest to a rotation of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita._linalg import svd
from partita.solvers.spectral import normalize_rows

__all__ = ["discretize"]

_MAX_ITER = 20


def discretize(
    vectors: NDArray[np.float64],
    weights: NDArray[np.float64],
    rng: np.random.Generator,
    *,
    n_init: int = 10,
) -> NDArray[np.int64]:
    """Return labels by alternating between a one-hot matrix Y and the rotation R nearest to it.

    The initialization is a random row, drawn by weight, followed by the rows most orthogonal to
    those chosen. Of `n_init` restarts the one with the largest tr(Σ) wins, where
    Yᵀ diag(r) X̃ = U Σ Vᵀ and X̃ has the rows of `vectors` in unit length.

    Parameters
    ----------
    vectors : array of shape (n, K)
        Eigenvectors.
    weights : array of shape (n,)
        Weights r of the rows.
    rng : Generator
        Source of random numbers.
    n_init : int, default=10
        Number of restarts.

    References
    ----------
    S. X. Yu, J. Shi. Multiclass spectral clustering. ICCV 2003.
    https://doi.org/10.1109/ICCV.2003.1238361
    """
    X = normalize_rows(vectors)
    best_labels, best_fit = np.zeros(len(X), np.int64), -np.inf
    for _ in range(n_init):
        labels, fit = _discretize_once(X, weights, rng)
        if fit > best_fit * (1 + 1e-12):
            best_labels, best_fit = labels, fit
    return best_labels


def _discretize_once(
    X: NDArray[np.float64], weights: NDArray[np.float64], rng: np.random.Generator
) -> tuple[NDArray[np.int64], float]:
    n, k = X.shape
    R = np.zeros((k, k))
    # A row of zeros (a sample in none of the leading components) has no direction to start from.
    start = np.where(X.any(axis=1), weights, 0.0)
    R[:, 0] = X[rng.choice(n, p=start / start.sum())]
    alignment = np.where(start > 0, 0.0, np.inf)
    for j in range(1, k):
        alignment += np.abs(X @ R[:, j - 1])
        R[:, j] = X[np.argmin(alignment)]
    previous = -np.inf
    for _ in range(_MAX_ITER):
        labels = np.argmax(X @ R, axis=1)
        YX = np.zeros((k, k))
        np.add.at(YX, labels, weights[:, None] * X)
        U, sigma, Vt = svd(YX)
        fit = float(sigma.sum())
        if abs(fit - previous) < np.finfo(float).eps * max(1.0, fit):
            break
        previous = fit
        R = Vt.T @ U.T
    return labels, fit
