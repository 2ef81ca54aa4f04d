"""Errors of a self-representation S = S Z + E, with their multipliers, in a basis of S.

S = P diag(values) Pᵀ. All products of an iteration need E and its multiplier Y only as PᵀE and PᵀY.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._threads import run_blocks

__all__ = ["ColumnErrors", "EntryErrors", "Errors", "all_below", "largest_entry"]

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

_ROWS = 256  # rows of an n x n matrix per block
_COLUMNS = 512  # columns of such a block at a time, which stay in the cache
_LONGEST = 32  # columns of a product that are computed before the others


@dataclass
class Errors(ABC):
    """E and Y, entry (a, b) multiplied by root_a root_b, and their product with Pᵀ.

    Attributes
    ----------
    basis : array of shape (n, p)
        P, orthonormal columns.
    root : array of shape (n,)
        Roots of the weights of the rows.
    error, multiplier : arrays of shape (p, n)
        PᵀE and PᵀY.
    """

    basis: Matrix
    root: Vector

    def __post_init__(self) -> None:
        n, p = self.basis.shape
        self.error, self.multiplier = np.zeros((p, n)), np.zeros((p, n))

    @abstractmethod
    def update(self, misfit: Matrix, mu: float) -> float:
        """Update E = argmin g(E)/mu + ½ ‖S - S Z + Y/mu - E‖², then Y += mu (S - S Z - E).

        `misfit` is Pᵀ(S - S Z) and is overwritten. Returns ‖S - S Z - E‖.
        """

    @abstractmethod
    def residual_below(self, tol: float) -> bool:
        """Return whether all entries of S - S Z - E, over samples, are below `tol`."""

    @abstractmethod
    def largest_residual(self) -> float:
        """Return the largest absolute entry of S - S Z - E over samples."""

    @abstractmethod
    def sizes(self) -> NDArray[np.float64]:
        """Return the sizes of the errors that g penalizes, as between single samples."""

    @abstractmethod
    def total(self, values: NDArray[np.float64]) -> float:
        """Return the sum over all samples of values in the form of `sizes`."""


class ColumnErrors(Errors):
    """Errors with the penalty g(E) = Σ_j threshold_j ‖E_j‖ on whole columns.

    The columns of E are multiples of those of S - S Z + Y/mu, so that E and Y lie in the span of P
    and nothing else is stored. A column is root_j times as long as each of the r_j columns it
    stands for, so that its threshold is `weight` root_j, times its entry in `factors`.
    """

    def __init__(
        self, basis: Matrix, root: Vector, weight: float, factors: Vector | None = None
    ) -> None:
        super().__init__(basis, root)
        self.thresholds = weight * root
        if factors is not None:
            self.thresholds = self.thresholds * factors
        self._residual = np.zeros_like(self.error)

    def update(self, misfit: Matrix, mu: float) -> float:
        self.multiplier /= mu
        np.add(misfit, self.multiplier, out=self.error)
        self.error *= shrink_factors(self.error, self.thresholds / mu)
        misfit -= self.error
        self._residual = misfit
        self.multiplier += misfit
        self.multiplier *= mu
        return float(np.linalg.norm(misfit))

    def residual_below(self, tol: float) -> bool:
        return all_below(self.basis, self._residual, self.root, tol)

    def largest_residual(self) -> float:
        return largest_entry(self.basis, self._residual, self.root)

    def sizes(self) -> Vector:
        return _lengths(self.error) / self.root

    def total(self, values: NDArray[np.float64]) -> float:
        return float(self.root**2 @ values)


class EntryErrors(Errors):
    """Errors with the penalty g(E) = Σ threshold_ab |E_ab| on single entries.

    The threshold of a pair is `weight` root_a root_b, times its entry in `factors`.

    Attributes
    ----------
    matrix : array of shape (n, n)
        E.
    """

    def __init__(
        self, basis: Matrix, root: Vector, weight: float, factors: Matrix | None = None
    ) -> None:
        super().__init__(basis, root)
        n = len(basis)
        self.weight, self.factors = weight, factors
        self.matrix, self._full_multiplier = np.zeros((n, n)), np.zeros((n, n))
        self._largest = np.inf
        self._is_plain = bool(np.all(root == 1.0))  # every row stands for one sample

    def update(self, misfit: Matrix, mu: float) -> float:
        """Update by blocks: with Q = S - S Z + Y/mu, the new Y is mu Q clipped at thresholds."""
        n = len(self.basis)
        squares, largest = np.zeros(n), np.zeros(n)  # by the first column of a block
        product = np.zeros_like(self.multiplier)
        for start in range(0, n, _ROWS):
            rows = slice(start, start + _ROWS)
            Y, E = self._full_multiplier[rows], self.matrix[rows]
            np.matmul(self.basis[rows], misfit, out=E)

            def update(
                first: int, last: int, rows: slice = rows, Y: Matrix = Y, E: Matrix = E
            ) -> None:
                y, e = Y[:, first:last], E[:, first:last]
                change = y.copy()
                e *= mu
                e += y
                limit = self._thresholds(rows, slice(first, last))
                np.clip(e, -limit, limit, out=y)
                e -= y
                e /= mu
                np.subtract(y, change, out=change)  # mu (S - S Z - E)
                squares[first] += np.vdot(change, change)
                if not self._is_plain:
                    change /= self.root[rows, None]
                    change /= self.root[first:last]
                largest[first] = max(largest[first], change.max(), -change.min())

            run_blocks(update, n, _COLUMNS)
            product += self.basis[rows].T @ Y
        self._largest = float(largest.max()) / mu
        # PᵀE = Pᵀ(S - S Z) - Pᵀ(S - S Z - E)
        np.subtract(self.multiplier, product, out=self.error)
        self.error /= mu
        self.error += misfit
        self.multiplier = product
        return float(np.sqrt(squares.sum())) / mu

    def _thresholds(self, rows: slice, columns: slice) -> Any:
        """Return the thresholds of a block of pairs; a number if all are equal."""
        limit: Any = self.weight
        if not self._is_plain:
            limit = limit * np.outer(self.root[rows], self.root[columns])
        return limit if self.factors is None else limit * self.factors[rows, columns]

    def residual_below(self, tol: float) -> bool:
        return self._largest < tol

    def largest_residual(self) -> float:
        return self._largest

    def sizes(self) -> Matrix:
        sizes = np.abs(self.matrix)
        sizes /= self.root[:, None]
        sizes /= self.root
        return np.asarray(sizes)

    def total(self, values: NDArray[np.float64]) -> float:
        weights = self.root**2  # an entry stands for r_a r_b pairs of samples
        return float(weights @ values @ weights)


def shrink_factors(matrix: Matrix, thresholds: Vector) -> Vector:
    """Return factors that shorten every column by its threshold, to at least 0.

    `matrix` times the factors is argmin_E Σ_j threshold_j ‖E_j‖ + ½ ‖E - matrix‖²_F.
    """
    length = _lengths(matrix)
    is_kept = length > thresholds
    return np.where(is_kept, 1.0 - thresholds / np.where(is_kept, length, 1.0), 0.0)


def all_below(basis: Matrix, coefficients: Matrix, root: Vector, tol: float) -> bool:
    """Return whether all entries of B C, divided by root_a root_b, are below `tol`.

    The lengths of the columns bound the largest entry from both sides and mostly decide. Otherwise
    the product is computed: first its longest columns, which mostly have an entry above `tol`, then
    the others that may have one. B has orthonormal columns.
    """
    lengths = _lengths(coefficients) / root
    if lengths.max() >= tol * np.linalg.norm(root):  # ‖column‖² = Σ_a r_a (entry_a / root_a)²
        return False
    # an entry of a column is at most its length
    open_columns = np.flatnonzero(lengths >= tol * root.min())
    by_length = open_columns[np.argsort(-lengths[open_columns], kind="stable")]
    return all(
        largest_entry(basis, coefficients[:, columns], root, columns) < tol
        for columns in (by_length[:_LONGEST], by_length[_LONGEST:])
        if len(columns)
    )


def largest_entry(
    basis: Matrix, coefficients: Matrix, root: Vector, columns: NDArray[np.intp] | None = None
) -> float:
    """Return the largest absolute entry of B C, divided by root_a root_b.

    `columns` are the numbers b of the columns of C; by default C has all of them.
    """
    column_root = root if columns is None else root[columns]
    largest = 0.0
    for start in range(0, len(basis), _ROWS):
        rows = slice(start, start + _ROWS)
        entries = np.abs(basis[rows] @ coefficients)
        entries /= column_root
        entries /= root[rows, None]
        largest = max(largest, float(entries.max()))
    return largest


def _lengths(matrix: Matrix) -> Vector:
    return np.asarray(np.sqrt(np.einsum("ij,ij->j", matrix, matrix)))
