"""Matrices that a robust consensus is fitted to, and their sparse errors.

Entry (p, q) of each of m matrices A⁽ⁱ⁾ is the probability, often 0 or 1, that rows p and q belong
together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Evidence",
    "Matrix",
    "SoftMatrices",
    "Votes",
    "entry_errors",
    "error_band",
    "row_blocks",
    "rows_per_block",
]

Matrix = NDArray[np.float64]

_EPS = np.finfo(np.float64).eps
_BLOCK_PAIRS = 1 << 17  # pairs per block of element-wise work: a thread needs that many


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
        Symmetric, entries in [0, 1]; NaN where a matrix has no entry. Rows are read by slices, so
        that a matrix may be computed when it is read.
    """

    matrices: Sequence[Any]

    @classmethod
    def of(
        cls, matrices: Sequence[Any], weights: NDArray[np.float64] | None = None
    ) -> SoftMatrices:
        """Take matrices of one shape; by default every row has weight 1."""
        m, n = len(matrices), len(matrices[0])
        total = np.zeros((n, n))
        seen = np.zeros((n, n), np.min_scalar_type(m))
        for matrix in map(np.asarray, matrices):
            has_entry = ~np.isnan(matrix)
            np.add(total, matrix, out=total, where=has_entry)
            seen += has_entry
        free = (total > 0) & (total < seen)
        np.fill_diagonal(free, False)
        return cls(np.ones(n) if weights is None else weights, seen, free, matrices)

    def start(self) -> Matrix:
        """Return the mean; 0 where no matrix has an entry."""
        total = np.zeros(self.seen.shape)
        for matrix in map(np.asarray, self.matrices):
            np.add(total, matrix, out=total, where=~np.isnan(matrix))
        total /= np.maximum(self.seen, 1)
        return np.clip(total, 0.0, 1.0, out=total)

    def remove_errors(self, rows: slice, s: Matrix, penalty: float) -> tuple[Matrix, Matrix]:
        low, _, high, _ = error_band(s, penalty)
        C, cost = np.zeros_like(s), np.zeros_like(s)
        for matrix in self.matrices:
            entries = np.asarray(matrix[rows], np.float64)
            has_entry = ~np.isnan(entries)
            cleaned = np.clip(entries, low, high)
            log_not = _log(1.0 - cleaned)
            np.add(C, log_not - _log(cleaned), out=C, where=has_entry)
            cost_of_matrix = penalty * np.abs(entries - cleaned) - log_not
            np.add(cost, cost_of_matrix, out=cost, where=has_entry)
        return C, cost

    def error_norms(self, consensus: Matrix, penalty: float) -> NDArray[np.float64]:
        """Return Σ|E⁽ⁱ⁾| of each matrix at the best errors for a symmetric consensus."""
        norms = np.zeros(len(self.matrices))
        for rows in row_blocks(len(consensus)):
            low, _, high, _ = error_band(2.0 * consensus[rows], penalty)
            for i, matrix in enumerate(self.matrices):
                errors = np.abs(entry_errors(matrix[rows], low, high))
                norms[i] += self.weights[rows] @ errors @ self.weights
        return norms


def entry_errors(entries: NDArray[Any], low: Matrix, high: Matrix) -> Matrix:
    """Return the errors that move entries into the band; 0 for an entry of NaN."""
    values = np.asarray(entries, np.float64)
    return np.nan_to_num(values - np.clip(values, low, high))


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
    step = rows_per_block(n)
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def rows_per_block(n: int) -> int:
    """Return the number of rows of an n x n matrix that one block of work covers."""
    return _BLOCK_PAIRS // n + 1
