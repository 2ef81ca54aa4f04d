"""Solve quadratic problems over the simplex of weights, and project to it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["project_to_simplex", "simplex_quadratic"]

_TOLERANCE = 1e-12  # on the gradient, relative to the largest entry of the problem


def project_to_simplex(point: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the nearest vector w with w >= 0 and Σ w = 1.

    It is max(point - θ, 0) with the θ for which the sum is 1.

    Parameters
    ----------
    point : array of shape (m,)
        Any vector.
    """
    point = point - point.max()  # θ moves along; large numbers lose no digits
    descending = np.sort(point)[::-1]
    theta = (np.cumsum(descending) - 1.0) / np.arange(1, len(point) + 1)
    n_positive = np.flatnonzero(descending > theta)[-1]
    return np.maximum(point - theta[n_positive], 0.0)


def simplex_quadratic(G: NDArray[np.float64], g: NDArray[np.float64]) -> NDArray[np.float64]:
    """Minimize wᵀ G w - 2 gᵀ w over w >= 0, Σ w = 1, by an active set method.

    One weight at a time becomes free, the one with the steepest descent first. Weights that a step
    would make negative are fixed at zero again. The solution is exact after finitely many steps.

    Parameters
    ----------
    G : array of shape (m, m), symmetric positive semidefinite
        Quadratic term.
    g : array of shape (m,)
        Linear term, in the range of G. Inner products of m vectors with each other (G) and with
        one more vector (g) satisfy this.

    Returns
    -------
    array of shape (m,)
        Where G is singular the minimizer need not be unique; one is returned.
    """
    scale = max(float(np.abs(G).max()), float(np.abs(g).max()), np.finfo(float).tiny)
    G, g = G / scale, g / scale
    w = np.zeros(len(g))
    w[np.argmin(np.diag(G) - 2.0 * g)] = 1.0
    is_free = w > 0
    for _ in range(50 * len(g)):
        slope = G @ w - g
        slope -= w @ slope  # change of the objective per weight moved to each entry
        steepest = int(np.argmin(np.where(is_free, np.inf, slope)))
        if is_free.all() or slope[steepest] >= -_TOLERANCE:
            return w
        is_free[steepest] = True
        while True:
            target = _minimize_on_plane(G, g, is_free)
            if target[is_free].min() > 0:
                w = target
                break
            # Move towards the target until the first weight reaches 0; that one is fixed at 0.
            falling = np.flatnonzero(is_free & (target <= 0))
            room = w[falling] / (w[falling] - target[falling] + np.finfo(float).tiny)
            w = np.maximum(w + room.min() * (target - w), 0.0)
            w[falling[room <= room.min()]] = 0.0
            is_free[falling[room <= room.min()]] = False
    raise ArithmeticError(
        "The weights did not converge: G is not positive semidefinite or g is not in its range."
    )


def _minimize_on_plane(
    G: NDArray[np.float64], g: NDArray[np.float64], is_free: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the minimizer with Σ w = 1 and zeros where not free; weights may be negative."""
    k = int(is_free.sum())
    system = np.ones((k + 1, k + 1))
    system[:k, :k] = G[np.ix_(is_free, is_free)]
    system[k, k] = 0.0
    solution = np.linalg.lstsq(system, np.append(g[is_free], 1.0), rcond=None)[0]
    w = np.zeros(len(g))
    w[is_free] = solution[:k]
    return w
