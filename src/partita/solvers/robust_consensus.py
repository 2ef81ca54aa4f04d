"""Fit a consensus matrix to noisy 0/1 or soft matrices over weighted rows.

Entry (p, q) of each of m matrices A⁽ⁱ⁾ is the probability, often 0 or 1, that rows p and q belong
together. A consensus A is fitted to these matrices minus sparse errors E⁽ⁱ⁾:

    Σ_i Σ_pq KL(A_pq, A⁽ⁱ⁾_pq - E⁽ⁱ⁾_pq) + λ |E⁽ⁱ⁾_pq|.

`remove_errors` computes the errors for fixed A, `update_consensus` improves A for fixed errors,
with an optional nuclear-norm term.
"""

from __future__ import annotations

import numpy as np

from partita._threads import run_blocks
from partita.solvers.evidence import Evidence, Matrix, rows_per_block
from partita.solvers.inverse_root import InverseRoot

__all__ = ["divergence", "remove_errors", "update_consensus"]

_PRODUCT_ROWS = 128  # rows of D⁺A and D⁻A in memory at a time; more are not faster
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


def update_consensus(
    evidence: Evidence, A: Matrix, C: Matrix, S: InverseRoot | None, rank_penalty: float
) -> tuple[Matrix, float]:
    """Update A once for fixed errors and S, by an auxiliary function: the objective never rises.

    Parameters
    ----------
    evidence : Evidence
        The matrices that A is fitted to.
    A : array of shape (n, n)
        Consensus.
    C : array of shape (n, n)
        As `remove_errors` returns it.
    S : InverseRoot or None
        Adds rank_penalty * tr(Aᵀ S^-1 A) to the objective.
    rank_penalty : float
        Weight of that term.

    Returns
    -------
    matrix : array of shape (n, n)
        The new A.
    energy : float
        `divergence` plus the term of S, at the old A.
    """
    out, energy = np.empty_like(A), np.empty(len(A))
    for first in range(0, len(A), _PRODUCT_ROWS):
        last = min(first + _PRODUCT_ROWS, len(A))
        plus, minus = _signed_products(S, rank_penalty, A, first, last)

        def update(
            start: int, stop: int, first: int = first, plus: Matrix = plus, minus: Matrix = minus
        ) -> None:
            rows = slice(first + start, first + stop)
            out[rows], share = _update_rows(
                evidence, rows, A[rows], C[rows], plus[start:stop], minus[start:stop]
            )
            energy[rows] = share @ evidence.weights

        run_blocks(update, last - first, rows_per_block(len(A)))
        del plus, minus, update  # before the next ones are computed
    return out, float(energy @ evidence.weights)


def _update_rows(
    evidence: Evidence, rows: slice, x: Matrix, c: Matrix, plus: Matrix, minus: Matrix
) -> tuple[Matrix, Matrix]:
    """Return some rows of the next A, and the terms of the energy at the old one.

    A term is x (DA)_ab + m (x log x + (1 - x) log(1 - x)) + x C_ab with m = seen[a, b], the last
    two parts for free pairs only. The next x is the root of g x² + f x = h.
    """
    m, free = evidence.seen[rows].astype(np.float64), evidence.free[rows]
    low, high, log_low, log_high = _logarithms(x)
    share = m * (x * log_low + (1.0 - x) * log_high) + x * c
    share = np.where(free, share, 0.0) + x * (plus - minus)
    slope = 2.0 * m / high
    g = (2.0 * m + np.maximum(c, 0.0) + 2.0 * plus) / low + slope
    h = (np.maximum(-c, 0.0) + 2.0 * minus) * x
    f = m * (log_low - log_high) - slope  # never positive: no cancellation below
    # g is 0 only for pairs that no matrix has, which are not free
    root = np.divide(np.sqrt(f * f + 4.0 * g * h) - f, 2.0 * g, out=x.copy(), where=free)
    return np.minimum(root, 1.0), share


def _signed_products(
    S: InverseRoot | None, rank_penalty: float, A: Matrix, first: int, last: int
) -> tuple[Matrix, Matrix]:
    """Return rows first..last of D⁺A and D⁻A, D = rank_penalty * S^-1, by one product."""
    n = last - first
    if S is None:
        zeros = np.zeros((n, len(A)))
        return zeros, zeros
    D = np.empty((2 * n, len(A)))
    np.multiply(S.rows[first:last], rank_penalty, out=D[:n])
    np.maximum(-D[:n], 0.0, out=D[n:])
    np.maximum(D[:n], 0.0, out=D[:n])
    D[np.arange(n, 2 * n), np.arange(first, last)] = rank_penalty * S.surplus[first:last]
    product = D @ A
    return product[:n], product[n:]
