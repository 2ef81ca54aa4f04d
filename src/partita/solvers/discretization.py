"""Yu-Shi discretization: the partition nearest to a rotation of the eigenvectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita._linalg import svd
from partita.solvers.spectral import normalize_rows

__all__ = ["discretize"]

_MAX_ROUNDS = 20


def discretize(
    vectors: NDArray[np.float64],
    weights: NDArray[np.float64],
    rng: np.random.Generator,
    *,
    n_init: int = 10,
) -> NDArray[np.int64]:
    """Labels by alternating between a one-hot matrix Y and the rotation R nearest to it.

    Starts from a random row (drawn by weight) and the rows most orthogonal to those chosen; of
    `n_init` starts the one with the largest tr(Σ) wins, Yᵀ diag(r) X̃ = U Σ Vᵀ.

    Parameters
    ----------
    vectors : array of shape (n, K)
        Eigenvectors; rows are scaled to unit length.
    weights : array of shape (n,)

    References
    ----------
    S. X. Yu, J. Shi. Multiclass spectral clustering. ICCV 2003.
    https://doi.org/10.1109/ICCV.2003.1238361
    """
    X = normalize_rows(vectors)
    best_labels, best_fit = np.zeros(len(X), np.int64), -np.inf
    for _ in range(n_init):
        labels, fit = _from_one_start(X, weights, rng)
        if fit > best_fit * (1 + 1e-12):
            best_labels, best_fit = labels, fit
    return best_labels


def _from_one_start(
    X: NDArray[np.float64], weights: NDArray[np.float64], rng: np.random.Generator
) -> tuple[NDArray[np.int64], float]:
    n, k = X.shape
    R = np.zeros((k, k))
    # rows of zeros (samples in none of the leading components) point nowhere: no start from them
    start = np.where(X.any(axis=1), weights, 0.0)
    R[:, 0] = X[rng.choice(n, p=start / start.sum())]
    alignment = np.where(start > 0, 0.0, np.inf)
    for j in range(1, k):
        alignment += np.abs(X @ R[:, j - 1])
        R[:, j] = X[np.argmin(alignment)]
    previous = -np.inf
    for _ in range(_MAX_ROUNDS):
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
