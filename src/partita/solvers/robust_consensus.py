"""Fit a consensus matrix to noisy 0/1 or soft matrices over weighted rows.

Entry (p, q) of each of m matrices A⁽ⁱ⁾ is the probability, often 0 or 1, that rows p and q belong
together. A consensus A is fitted to these matrices minus sparse errors E⁽ⁱ⁾:

    Σ_i Σ_pq KL(A_pq, A⁽ⁱ⁾_pq - E⁽ⁱ⁾_pq) + λ |E⁽ⁱ⁾_pq|.

`remove_errors` computes the errors for fixed A, `update_consensus` improves A for fixed errors,
with an optional nuclear-norm term.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._threads import run_blocks
from partita.solvers.evidence import Evidence, Matrix, rows_per_block
from partita.solvers.inverse_root import InverseRoot

__all__ = ["RankTerm", "divergence", "remove_errors", "update_consensus"]

_PRODUCT_ROWS = 128  # rows of D⁺ and D⁻ in memory at a time; more are not faster
_LARGE = 1000  # rows from which on changes are multiplied in single precision
_EPS = np.finfo(np.float64).eps


def remove_errors(evidence: Evidence, A: Matrix, penalty: float) -> tuple[Matrix, float]:
    """Return C at the best errors for A, and the cost of the errors over free pairs."""
    C, cost = np.empty_like(A), np.empty(len(A))

    def block(start: int, stop: int) -> None:
        rows = slice(start, stop)
        C[rows], costs = evidence.remove_errors(rows, A[rows] + A[:, rows].T, penalty)
        cost[rows] = np.where(evidence.free[rows], costs, 0.0) @ evidence.weights

    run_blocks(block, len(A), rows_per_block(len(A)))
    return C, float(cost @ evidence.weights)


def divergence(evidence: Evidence, A: Matrix, C: Matrix) -> float:
    """Return the part of the objective that depends on A.

    m (A log A + (1 - A) log(1 - A)) + A C, summed over free pairs.
    """
    energy = np.empty(len(A))

    def block(start: int, stop: int) -> None:
        rows = slice(start, stop)
        x, seen = A[rows], evidence.seen[rows]
        _, _, log_low, log_high = _logarithms(x)
        share = seen * (x * log_low + (1.0 - x) * log_high) + x * C[rows]
        energy[rows] = np.where(evidence.free[rows], share, 0.0) @ evidence.weights

    run_blocks(block, len(A), rows_per_block(len(A)))
    return float(energy @ evidence.weights)


def _logarithms(x: Matrix) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """Return x and 1 - x, not below the rounding unit, and their logarithms."""
    low, high = np.maximum(x, _EPS), np.maximum(1.0 - x, _EPS)
    return low, high, np.log(low), np.log(high)


class RankTerm:
    """The term tr(Aᵀ D A), D = rank_penalty * S^-1, by its signed parts D⁺A and D⁻A.

    They are computed in double precision for the first A. Then the products with the changes of A
    are added. These are small, so that single precision suffices for a large A: rounding errors are
    1e-7 of a change.

    Parameters
    ----------
    S : InverseRoot or None
        None is D = 0.
    rank_penalty : float
        Weight of the term.
    """

    def __init__(self, S: InverseRoot | None, rank_penalty: float) -> None:
        self._S, self._penalty = S, rank_penalty
        self._plus: Matrix | None = None
        self._minus: Matrix | None = None
        self._change: NDArray[Any] | None = None

    def products(self, A: Matrix) -> tuple[Matrix, Matrix] | None:
        """Return D⁺A and D⁻A, None if D is 0; `expect_change` has been called since the last A."""
        if self._S is None:
            return None
        if self._plus is None or self._minus is None:
            self._plus, self._minus = np.zeros_like(A), np.zeros_like(A)
            self._add(self._plus, self._minus, A)
        elif self._change is not None:
            self._add(self._plus, self._minus, self._change)
        return self._plus, self._minus

    def expect_change(self, A: Matrix) -> NDArray[Any] | None:
        """Return an array to fill with the change of A; None if D is 0."""
        if self._S is not None and self._change is None:
            self._change = np.empty(A.shape, np.float32 if len(A) >= _LARGE else np.float64)
        return self._change

    def _add(self, plus: Matrix, minus: Matrix, X: NDArray[Any]) -> None:
        """Add D⁺X and D⁻X, some rows at a time by one product."""
        assert self._S is not None
        rows, surplus = self._S.rows, self._penalty * self._S.surplus
        for first in range(0, len(rows), _PRODUCT_ROWS):
            last = min(first + _PRODUCT_ROWS, len(rows))
            n = last - first
            D = np.empty((2 * n, len(rows)), X.dtype)
            np.multiply(rows[first:last], self._penalty, out=D[:n], casting="same_kind")
            np.maximum(-D[:n], 0.0, out=D[n:])
            np.maximum(D[:n], 0.0, out=D[:n])
            D[np.arange(n, 2 * n), np.arange(first, last)] = surplus[first:last]
            product = D @ X
            plus[first:last] += product[:n]
            minus[first:last] += product[n:]


def update_consensus(evidence: Evidence, A: Matrix, C: Matrix, term: RankTerm) -> float:
    """Update A in place for fixed errors and D by an auxiliary function: the objective never rises.

    Parameters
    ----------
    evidence : Evidence
        The matrices that A is fitted to.
    A : array of shape (n, n)
        Consensus.
    C : array of shape (n, n)
        As `remove_errors` returns it.
    term : RankTerm
        Nuclear-norm term of the objective, of this A from its first value on.

    Returns
    -------
    float
        `divergence` plus the term of D, at the old A.
    """
    products = term.products(A)
    change = term.expect_change(A)
    energy = np.empty(len(A))

    def update(start: int, stop: int) -> None:
        rows = slice(start, stop)
        x = A[rows]
        parts = None if products is None else (products[0][rows], products[1][rows])
        result, share = _update_rows(evidence, rows, x, C[rows], parts)
        energy[rows] = share @ evidence.weights
        if change is not None:
            np.subtract(result, x, out=change[rows], casting="same_kind")
        x[:] = result

    run_blocks(update, len(A), rows_per_block(len(A)))
    return float(energy @ evidence.weights)


def _update_rows(
    evidence: Evidence, rows: slice, x: Matrix, c: Matrix, products: tuple[Matrix, Matrix] | None
) -> tuple[Matrix, Matrix]:
    """Return some rows of the next A, and the terms of the energy at the old one.

    `products` are these rows of D⁺A and D⁻A; None is 0.

    A term is x (DA)_ab + m (x log x + (1 - x) log(1 - x)) + x C_ab with m = seen[a, b], the last
    two parts for free pairs only. The next x is the root of g x² + f x = h.
    """
    m, free = evidence.seen[rows].astype(np.float64), evidence.free[rows]
    low, high, log_low, log_high = _logarithms(x)
    share = m * (x * log_low + (1.0 - x) * log_high) + x * c
    share = np.where(free, share, 0.0)
    slope = 2.0 * m / high
    g = 2.0 * m + np.maximum(c, 0.0)
    h = np.maximum(-c, 0.0)
    if products is not None:
        plus, minus = products
        share += x * (plus - minus)
        g += 2.0 * plus
        h += 2.0 * minus
    g /= low
    g += slope
    h *= x
    f = m * (log_low - log_high) - slope  # never positive: no cancellation below
    # g is 0 only for pairs that no matrix has, which are not free
    root = np.divide(np.sqrt(f * f + 4.0 * g * h) - f, 2.0 * g, out=x.copy(), where=free)
    return np.minimum(root, 1.0), share
