"""Quadratic problems over the simplex of weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["simplex_quadratic"]

_TOLERANCE = 1e-12  # of the gradient, relative to the largest entry of the problem


def simplex_quadratic(G: NDArray[np.float64], g: NDArray[np.float64]) -> NDArray[np.float64]:
    """argmin wᵀ G w - 2 gᵀ w over w >= 0, Σ w = 1.

    Active set: weights leave zero one at a time, the steepest first, and those that a step would
    turn negative go back to it. Exact after finitely many steps.

    Parameters
    ----------
    G : array of shape (m, m), symmetric positive semidefinite
    g : array of shape (m,)
        In the range of G, as the products of m things and one other with those m things are.

    Returns
    -------
    array of shape (m,)
        Where G is singular the minimizer need not be unique; one is returned.
    """
    scale = max(float(np.abs(G).max()), float(np.abs(g).max()), np.finfo(float).tiny)
    G, g = G / scale, g / scale
    w = np.zeros(len(g))
    w[np.argmin(np.diag(G) - 2.0 * g)] = 1.0
    free = w > 0
    for _ in range(50 * len(g)):
        slope = G @ w - g
        slope -= w @ slope  # what moving weight to each entry changes
        steepest = int(np.argmin(np.where(free, np.inf, slope)))
        if free.all() or slope[steepest] >= -_TOLERANCE:
            return w
        free[steepest] = True
        while True:
            target = _on_the_plane(G, g, free)
            if target[free].min() > 0:
                w = target
                break
            # as far towards the target as no weight turns negative; the first to reach 0 is out
            falling = np.flatnonzero(free & (target <= 0))
            room = w[falling] / (w[falling] - target[falling] + np.finfo(float).tiny)
            w = np.maximum(w + room.min() * (target - w), 0.0)
            w[falling[room <= room.min()]] = 0.0
            free[falling[room <= room.min()]] = False
    raise ArithmeticError(
        "the weights did not settle: G is not positive semidefinite or g not in its range"
    )


def _on_the_plane(
    G: NDArray[np.float64], g: NDArray[np.float64], free: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """The minimizer with Σ w = 1 and zeros where not free, signs as they come."""
    k = int(free.sum())
    system = np.ones((k + 1, k + 1))
    system[:k, :k] = G[np.ix_(free, free)]
    system[k, k] = 0.0
    solution = np.linalg.lstsq(system, np.append(g[free], 1.0), rcond=None)[0]
    w = np.zeros(len(g))
    w[free] = solution[:k]
    return w
