"""Inner products of random walks that mix fast, by products instead of an eigendecomposition.

Walks between the clusters of many partitions mix after a few steps: the normalized graph M has a
few large eigenvalues, and the others are near 0. Split off the large ones, M = V Λ Vᵀ + R with
R V = 0. Then Mᵗ = V Λᵗ Vᵀ + Rᵗ, and Rᵗ vanishes quickly.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from partita._linalg import eigh

__all__ = ["cosines_within_blocks"]

_FEW_NODES = 700  # up to this order an eigendecomposition is faster
_VECTORS = 32  # columns of the subspace in which the large eigenvalues are computed
_PRODUCTS = 30  # with that subspace
_EXACT = 1e-11  # residual of an exact eigenvector; also the share of the lengths that is left out
_POWERS = 6  # more powers of R cost as much as an eigendecomposition

Matrix = NDArray[np.float64]


def cosines_within_blocks(
    graph: Matrix, n_steps: int, offsets: NDArray[np.int64]
) -> list[Matrix] | None:
    """Return the cosines of the trajectories of walks of 1 to T steps, for nodes of one block.

    Parameters
    ----------
    graph : array of shape (n, n), symmetric, non-negative
        Edges S. A walk steps from a to b with probability P_ab ∝ S_ab. Overwritten, unless None is
        returned.
    n_steps : int
        Largest number of steps T.
    offsets : array of shape (n_blocks + 1,)
        First node of every block, and n.

    Returns
    -------
    list of arrays, or None
        One array per block. None if the walks do not mix fast, or the graph is small or has a node
        without edges. Cost O(n³): up to six products.
    """
    degree = graph.sum(axis=1)
    if len(graph) <= _FEW_NODES or degree.min() <= 0:
        return None
    scale = 1.0 / np.sqrt(degree)
    values, V, rest = _large_eigenvalues(graph, scale)
    # terms Rᵗ diag(d) Rᵗ beside the first one: ‖R‖^(2t - 2)
    n_powers = int(np.ceil(np.log(_EXACT) / (2.0 * np.log(min(rest, 0.999))))) if rest > 0 else 0
    if min(n_powers, n_steps - 1) > _POWERS:
        return None
    graph *= scale[:, None]
    graph *= scale
    R = graph
    R -= (V * values) @ V.T

    cross = _cross_terms(R, values, V, degree, n_steps)
    products = np.outer(values, values)
    sums = np.ones_like(products)
    for _ in range(n_steps - 1):
        sums = 1.0 + products * sums
    core = (V.T @ (degree[:, None] * V)) * products * sums
    slices = [slice(start, stop) for start, stop in pairwise(offsets)]
    inner = []
    for rows in slices:
        mixed = V[rows] @ cross[:, rows]
        inner.append(V[rows] @ core @ V[rows].T + mixed + mixed.T)
    a = np.sqrt(degree)
    for power in _powers(R, min(n_steps, n_powers + 1)):
        share = 0.0
        for block, rows in zip(inner, slices, strict=True):
            steps = power[rows] * a
            term = steps @ steps.T
            block += term
            share = max(share, float(np.max(np.diag(term) / np.diag(block))))
        if share * rest**2 < _EXACT:  # the next terms are smaller by that factor at least
            break
    return [_cosines(block) for block in inner]


def _large_eigenvalues(graph: Matrix, scale: NDArray[np.float64]) -> tuple[Matrix, Matrix, float]:
    """Return exact eigenvalues and eigenvectors of M, and the size of the largest other one."""
    start = np.random.default_rng(0).standard_normal((len(graph), _VECTORS))
    W = np.linalg.qr(start)[0]
    for _ in range(_PRODUCTS):
        W = np.linalg.qr(scale[:, None] * (graph @ (scale[:, None] * W)))[0]
    image = scale[:, None] * (graph @ (scale[:, None] * W))
    small = W.T @ image
    values, rotation = eigh((small + small.T) / 2, driver="evd")
    V = W @ rotation
    is_exact = np.linalg.norm(image @ rotation - V * values, axis=0) < _EXACT
    rest = np.abs(values[~is_exact]).max(initial=0.0) if not is_exact.all() else 1.0
    is_exact &= np.abs(values) > rest
    return values[is_exact], V[:, is_exact], float(rest)


def _cross_terms(
    R: Matrix, values: NDArray[np.float64], V: Matrix, degree: NDArray[np.float64], n_steps: int
) -> Matrix:
    """Return Σ_t Λᵗ Vᵀ diag(d) Rᵗ, of shape (n_values, n)."""
    term = V.T * degree
    total = np.zeros_like(term)
    for _ in range(n_steps):
        term = values[:, None] * (term @ R)
        total += term
    return total


def _powers(R: Matrix, n_powers: int) -> Iterator[Matrix]:
    """Yield R, R², ... for symmetric R; an even power is a symmetric product, half of the work."""
    power, lower = R, {1: R}
    for t in range(1, n_powers + 1):
        if t % 2 == 0:
            half = lower.pop(t // 2)
            power = half @ half.T
            del half
        elif t > 1:
            power = power @ R
        if 2 * t <= n_powers:
            lower[t] = power
        yield power


def _cosines(inner: Matrix) -> Matrix:
    """Divide inner products by the lengths; exactly symmetric, as agglomeration requires."""
    inner = inner + inner.T
    length = np.sqrt(np.diag(inner))
    return inner / np.outer(length, length)
