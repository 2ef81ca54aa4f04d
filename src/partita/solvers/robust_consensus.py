"""Steps towards a consensus of noisy 0/1 or soft matrices, pair by pair and over weighted rows.

Each of m matrices A⁽ⁱ⁾ says of a pair of rows whether, or how probably, it belongs together. A
consensus A is fitted to what remains of them when errors E⁽ⁱ⁾ of price λ are taken away:

    Σ_i Σ_pq KL(A_pq, A⁽ⁱ⁾_pq - E⁽ⁱ⁾_pq) + λ |E⁽ⁱ⁾_pq|.

`clean` finds the errors, `next_matrix` improves A, with a nuclear-norm term if there is one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._threads import run_blocks
from partita.solvers.inverse_root import InverseRoot

__all__ = [
    "Evidence",
    "Matrix",
    "SoftMatrices",
    "Votes",
    "clean",
    "divergence",
    "error_band",
    "next_matrix",
    "row_blocks",
]

Matrix = NDArray[np.float64]

_EPS = np.finfo(np.float64).eps
_PRODUCT_ROWS = 512  # rows of D⁺A and D⁻A alive at a time
_UNIT = 1 << 17  # pairs per unit of element-wise work: fewer are not worth a thread


# -- evidence --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Evidence(ABC):
    """What the matrices say of every pair of rows.

    Attributes
    ----------
    weights : array of shape (n,)
    seen : array of shape (n, n)
        How many of them speak of a pair.
    free : array of shape (n, n)
        The pairs they do not agree on; the others stay as they are.
    """

    weights: NDArray[np.float64]
    seen: NDArray[Any]
    free: NDArray[np.bool_]

    @abstractmethod
    def start(self) -> Matrix:
        """The mean of the matrices."""

    @abstractmethod
    def clean(self, rows: slice, s: Matrix, price: float) -> tuple[Matrix, Matrix]:
        """C = Σ_i log (1 - Y⁽ⁱ⁾)/Y⁽ⁱ⁾ for these rows, Y⁽ⁱ⁾ = A⁽ⁱ⁾ - E⁽ⁱ⁾ the cleaned matrices, and
        the part of the objective that is free of A: Σ_i λ|E⁽ⁱ⁾| - log(1 - Y⁽ⁱ⁾)."""


@dataclass(frozen=True, eq=False)
class Votes(Evidence):
    """Matrices of 0 and 1, as counts: a pair has one error where it is joined, one where parted."""

    joined: NDArray[Any]

    @classmethod
    def of(
        cls, joined: NDArray[Any], seen: NDArray[Any] | None, m: int, weights: NDArray[np.float64]
    ) -> Votes:
        """From the counts of matrices that join a pair, and that speak of it (None: all m do)."""
        if seen is None:
            seen = np.broadcast_to(joined.dtype.type(m), joined.shape)
        return cls(weights, seen, (joined > 0) & (joined < seen), joined)

    def start(self) -> Matrix:
        """The mean; 0 where no matrix speaks of a pair."""
        return self.joined / np.maximum(self.seen, 1)

    def clean(self, rows: slice, s: Matrix, price: float) -> tuple[Matrix, Matrix]:
        low, not_low, high, not_high = error_band(s, price)
        joined = self.joined[rows].astype(np.float64)
        parted = self.seen[rows] - joined
        log_not = joined * _log(not_high) + parted * _log(not_low)
        pull = log_not - joined * _log(high) - parted * _log(low)
        return pull, price * (joined * not_high + parted * low) - log_not


@dataclass(frozen=True, eq=False)
class SoftMatrices(Evidence):
    """Matrices of probabilities, read one after the other."""

    matrices: Sequence[NDArray[Any]]

    @classmethod
    def of(cls, matrices: Sequence[NDArray[Any]]) -> SoftMatrices:
        m, n = len(matrices), len(matrices[0])
        total = _sum(matrices)
        free = (total > 0) & (total < m)
        np.fill_diagonal(free, False)
        return cls(np.ones(n), np.broadcast_to(np.float64(m), (n, n)), free, matrices)

    def start(self) -> Matrix:
        return np.clip(_sum(self.matrices) / len(self.matrices), 0.0, 1.0)

    def clean(self, rows: slice, s: Matrix, price: float) -> tuple[Matrix, Matrix]:
        low, _, high, _ = error_band(s, price)
        pull, cost = np.zeros_like(s), np.zeros_like(s)
        for matrix in self.matrices:
            given = np.asarray(matrix[rows], np.float64)
            cleaned = np.clip(given, low, high)
            log_not = _log(1.0 - cleaned)
            pull += log_not - _log(cleaned)
            cost += price * np.abs(given - cleaned) - log_not
        return pull, cost

    def error_norms(self, consensus: Matrix, price: float) -> NDArray[np.float64]:
        """Σ|E⁽ⁱ⁾| of each matrix at the best errors for a symmetric consensus."""
        norms = np.zeros(len(self.matrices))
        for rows in row_blocks(len(consensus)):
            low, _, high, _ = error_band(2.0 * consensus[rows], price)
            for i, matrix in enumerate(self.matrices):
                given = np.asarray(matrix[rows], np.float64)
                norms[i] += np.abs(given - np.clip(given, low, high)).sum()
        return norms


def _sum(matrices: Sequence[NDArray[Any]]) -> Matrix:
    total = np.zeros(np.shape(matrices[0]))
    for matrix in matrices:
        total += matrix
    return total


# -- steps -----------------------------------------------------------------------------------


def error_band(s: Matrix, price: float) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """low, 1 - low, high, 1 - high of the band that cleaned entries lie in, s = A_pq + A_qp.

    An entry c inside the band has no error; outside, its error takes it to the nearer end. The ends
    depend on the consensus alone, low <= s/2 <= high, and low(s) = 1 - high(2 - s).
    """
    t = 2.0 - s
    high, not_high = _upper_end(s, t, price)
    not_low, low = _upper_end(t, s, price)
    return low, not_low, high, not_high


def _upper_end(s: Matrix, t: Matrix, price: float) -> tuple[Matrix, Matrix]:
    """high = (λ - 1 + root) / 2λ and 1 - high, written so that nothing cancels; t = 2 - s."""
    root = np.sqrt((1.0 - price) ** 2 + 2.0 * price * s)
    high = s / (root + 1.0 - price) if price < 1 else (root + price - 1.0) / (2.0 * price)
    return high, t / (root + 1.0 + price)


def _log(values: Matrix) -> Matrix:
    return np.log(np.maximum(values, _EPS))


def row_blocks(n: int) -> Iterator[slice]:
    """0..n in slices small enough for a few temporary arrays each."""
    step = _unit_rows(n)
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def _unit_rows(n: int) -> int:
    return _UNIT // n + 1


def clean(evidence: Evidence, A: Matrix, price: float) -> tuple[Matrix, float]:
    """C at the best errors for A, and their part of the objective over free pairs."""
    pull, cost = np.empty_like(A), np.empty(len(A))

    def block(start: int, stop: int) -> None:
        rows = slice(start, stop)
        pull[rows], costs = evidence.clean(rows, A[rows] + A[:, rows].T, price)
        cost[rows] = np.where(evidence.free[rows], costs, 0.0) @ evidence.weights

    run_blocks(block, len(A), _unit_rows(len(A)))
    return pull, float(cost @ evidence.weights)


def divergence(evidence: Evidence, A: Matrix, pull: Matrix) -> float:
    """What A adds to the objective: m (A log A + (1 - A) log(1 - A)) + A C over free pairs."""
    energy = np.empty(len(A))
    kernel = _kernels.consensus_update.divergence_rows
    block = partial(kernel, A, pull, evidence.seen, evidence.free, evidence.weights, energy)
    run_blocks(block, len(A), _unit_rows(len(A)))
    return float(energy.sum())


def next_matrix(
    evidence: Evidence, A: Matrix, pull: Matrix, S: InverseRoot | None, price: float
) -> tuple[Matrix, float]:
    """One update of A with errors and S fixed, by an auxiliary function: no objective rises.

    Parameters
    ----------
    evidence : Evidence
    A, pull : arrays of shape (n, n)
    S : InverseRoot or None
        Adds price * tr(Aᵀ S^-1 A) to the objective.
    price : float

    Returns
    -------
    matrix : array of shape (n, n)
    energy : float
        `divergence` plus the term of S, at the old A.
    """
    out, energy = np.empty_like(A), np.empty(len(A))
    kernel = _kernels.consensus_update.update_rows
    free, seen, weights = evidence.free, evidence.seen, evidence.weights
    for first in range(0, len(A), _PRODUCT_ROWS):
        last = min(first + _PRODUCT_ROWS, len(A))
        plus, minus = _signed_products(S, price, A, first, last)
        block = partial(kernel, A, plus, minus, pull, seen, free, weights, first, out, energy)
        run_blocks(block, last - first, _unit_rows(len(A)))
    return out, float(energy.sum())


def _signed_products(
    S: InverseRoot | None, price: float, A: Matrix, first: int, last: int
) -> tuple[Matrix, Matrix]:
    """Rows first..last of D⁺A and D⁻A, D = price * S^-1, in one product."""
    n = last - first
    if S is None:
        nothing = np.zeros((n, len(A)))
        return nothing, nothing
    D = np.empty((2 * n, len(A)))
    np.multiply(S.rows[first:last], price, out=D[:n])
    np.maximum(-D[:n], 0.0, out=D[n:])
    np.maximum(D[:n], 0.0, out=D[:n])
    D[np.arange(n, 2 * n), np.arange(first, last)] = price * S.surplus[first:last]
    product = D @ A
    return product[:n], product[n:]
