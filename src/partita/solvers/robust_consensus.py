"""Fit a consensus matrix to noisy 0/1 or soft matrices over weighted rows.

Entry (p, q) of each of m matrices A⁽ⁱ⁾ is the probability, often 0 or 1, that rows p and q belong
together. A consensus A is fitted to these matrices minus sparse errors E⁽ⁱ⁾:

    Σ_i Σ_pq KL(A_pq, A⁽ⁱ⁾_pq - E⁽ⁱ⁾_pq) + λ |E⁽ⁱ⁾_pq|.

`remove_errors` computes the errors for fixed A, `update_consensus` improves A for fixed errors,
with an optional nuclear-norm term.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
    "divergence",
    "error_band",
    "remove_errors",
    "row_blocks",
    "update_consensus",
]

Matrix = NDArray[np.float64]

_EPS = np.finfo(np.float64).eps
_PRODUCT_ROWS = 512  # rows of D⁺A and D⁻A in memory at a time
_BLOCK_PAIRS = 1 << 17  # pairs per block of element-wise work: a thread needs that many


# -- evidence --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Evidence(ABC):
    """The matrices A⁽ⁱ⁾ that a consensus is fitted to.

    Attributes
    ----------
    weights : array of shape (n,)
        Weights of the rows.
    seen : array of shape (n, n)
        Number of matrices with an entry for a pair.
    free : array of shape (n, n)
        Pairs on which the matrices disagree; the entries of A for the others do not change.
    """

    weights: NDArray[np.float64]
    seen: NDArray[Any]
    free: NDArray[np.bool_]

    @abstractmethod
    def start(self) -> Matrix:
        """Return the mean of the matrices."""

    @abstractmethod
    def remove_errors(self, rows: slice, s: Matrix, penalty: float) -> tuple[Matrix, Matrix]:
        """Compute the best errors of some rows for a fixed consensus.

        Parameters
        ----------
        rows : slice
            Rows to compute.
        s : array
            A_pq + A_qp for these rows.
        penalty : float
            λ.

        Returns
        -------
        C : array
            Σ_i log (1 - Y⁽ⁱ⁾)/Y⁽ⁱ⁾ with the cleaned matrices Y⁽ⁱ⁾ = A⁽ⁱ⁾ - E⁽ⁱ⁾.
        cost : array
            The part of the objective that does not depend on A: Σ_i λ|E⁽ⁱ⁾| - log(1 - Y⁽ⁱ⁾).
        """


@dataclass(frozen=True, eq=False)
class Votes(Evidence):
    """Matrices of 0 and 1, as counts.

    A pair has one error for all matrices that join it and one for all that separate it.

    Attributes
    ----------
    joined : array of shape (n, n)
        Number of matrices with a 1 for a pair.
    """

    joined: NDArray[Any]

    @classmethod
    def of(
        cls, joined: NDArray[Any], seen: NDArray[Any] | None, m: int, weights: NDArray[np.float64]
    ) -> Votes:
        """Make votes from the numbers of matrices that join a pair and that have an entry for it.

        `seen=None`: all m matrices have one.
        """
        if seen is None:
            seen = np.broadcast_to(joined.dtype.type(m), joined.shape)
        return cls(weights, seen, (joined > 0) & (joined < seen), joined)

    def start(self) -> Matrix:
        """Return the mean; 0 where no matrix has an entry."""
        return self.joined / np.maximum(self.seen, 1)

    def remove_errors(self, rows: slice, s: Matrix, penalty: float) -> tuple[Matrix, Matrix]:
        low, not_low, high, not_high = error_band(s, penalty)
        joined = self.joined[rows].astype(np.float64)
        separated = self.seen[rows] - joined
        log_not = joined * _log(not_high) + separated * _log(not_low)
        C = log_not - joined * _log(high) - separated * _log(low)
        return C, penalty * (joined * not_high + separated * low) - log_not


@dataclass(frozen=True, eq=False)
class SoftMatrices(Evidence):
    """Matrices of probabilities, read one after the other.

    Attributes
    ----------
    matrices : sequence of arrays of shape (n, n)
        Symmetric, entries in [0, 1].
    """

    matrices: Sequence[NDArray[Any]]

    @classmethod
    def of(cls, matrices: Sequence[NDArray[Any]]) -> SoftMatrices:
        """Take matrices of one shape; every row has weight 1."""
        m, n = len(matrices), len(matrices[0])
        total = _sum(matrices)
        free = (total > 0) & (total < m)
        np.fill_diagonal(free, False)
        return cls(np.ones(n), np.broadcast_to(np.float64(m), (n, n)), free, matrices)

    def start(self) -> Matrix:
        return np.clip(_sum(self.matrices) / len(self.matrices), 0.0, 1.0)

    def remove_errors(self, rows: slice, s: Matrix, penalty: float) -> tuple[Matrix, Matrix]:
        low, _, high, _ = error_band(s, penalty)
        C, cost = np.zeros_like(s), np.zeros_like(s)
        for matrix in self.matrices:
            entries = np.asarray(matrix[rows], np.float64)
            cleaned = np.clip(entries, low, high)
            log_not = _log(1.0 - cleaned)
            C += log_not - _log(cleaned)
            cost += penalty * np.abs(entries - cleaned) - log_not
        return C, cost

    def error_norms(self, consensus: Matrix, penalty: float) -> NDArray[np.float64]:
        """Return Σ|E⁽ⁱ⁾| of each matrix at the best errors for a symmetric consensus."""
        norms = np.zeros(len(self.matrices))
        for rows in row_blocks(len(consensus)):
            low, _, high, _ = error_band(2.0 * consensus[rows], penalty)
            for i, matrix in enumerate(self.matrices):
                entries = np.asarray(matrix[rows], np.float64)
                norms[i] += np.abs(entries - np.clip(entries, low, high)).sum()
        return norms


def _sum(matrices: Sequence[NDArray[Any]]) -> Matrix:
    total = np.zeros(np.shape(matrices[0]))
    for matrix in matrices:
        total += matrix
    return total


# -- steps -----------------------------------------------------------------------------------


def error_band(s: Matrix, penalty: float) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """Return low, 1 - low, high and 1 - high of the band of cleaned entries, s = A_pq + A_qp.

    An entry inside the band has no error; the error of an entry outside moves it to the nearer end.
    The ends depend only on the consensus: low <= s/2 <= high, and low(s) = 1 - high(2 - s).
    """
    t = 2.0 - s
    high, not_high = _upper_end(s, t, penalty)
    not_low, low = _upper_end(t, s, penalty)
    return low, not_low, high, not_high


def _upper_end(s: Matrix, t: Matrix, penalty: float) -> tuple[Matrix, Matrix]:
    """Return high = (λ - 1 + root) / 2λ and 1 - high without cancellation; t = 2 - s."""
    root = np.sqrt((1.0 - penalty) ** 2 + 2.0 * penalty * s)
    high = s / (root + 1.0 - penalty) if penalty < 1 else (root + penalty - 1.0) / (2.0 * penalty)
    return high, t / (root + 1.0 + penalty)


def _log(values: Matrix) -> Matrix:
    return np.log(np.maximum(values, _EPS))


def row_blocks(n: int) -> Iterator[slice]:
    """Yield slices of 0..n, small enough for a few temporary arrays each."""
    step = _rows_per_block(n)
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def _rows_per_block(n: int) -> int:
    return _BLOCK_PAIRS // n + 1


def remove_errors(evidence: Evidence, A: Matrix, penalty: float) -> tuple[Matrix, float]:
    """Return C at the best errors for A, and the cost of the errors over free pairs."""
    C, cost = np.empty_like(A), np.empty(len(A))

    def block(start: int, stop: int) -> None:
        rows = slice(start, stop)
        C[rows], costs = evidence.remove_errors(rows, A[rows] + A[:, rows].T, penalty)
        cost[rows] = np.where(evidence.free[rows], costs, 0.0) @ evidence.weights

    run_blocks(block, len(A), _rows_per_block(len(A)))
    return C, float(cost @ evidence.weights)


def divergence(evidence: Evidence, A: Matrix, C: Matrix) -> float:
    """Return the part of the objective that depends on A.

    m (A log A + (1 - A) log(1 - A)) + A C, summed over free pairs.
    """
    energy = np.empty(len(A))
    kernel = _kernels.consensus_update.divergence_rows
    record = evidence.seen, evidence.free, evidence.weights
    run_blocks(
        lambda start, stop: kernel(A, C, record, start, stop, energy),
        len(A),
        _rows_per_block(len(A)),
    )
    return float(energy.sum())


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
    kernel = _kernels.consensus_update.update_rows
    record = evidence.seen, evidence.free, evidence.weights
    for first in range(0, len(A), _PRODUCT_ROWS):
        last = min(first + _PRODUCT_ROWS, len(A))
        products = _signed_products(S, rank_penalty, A, first, last)

        def update(
            start: int, stop: int, products: tuple[Matrix, Matrix] = products, first: int = first
        ) -> None:
            kernel(A, products, C, record, first, start, stop, out, energy)

        run_blocks(update, last - first, _rows_per_block(len(A)))
    return out, float(energy.sum())


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
