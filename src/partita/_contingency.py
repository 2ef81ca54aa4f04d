"""A contingency table by its non-zero cells, and the measures that are functions of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from partita._memory import require_memory

__all__ = [
    "AVERAGES",
    "CrossTable",
    "accuracy_of",
    "adjusted_rand_of",
    "is_dense",
    "nmi_of",
    "pairwise_f_score_of",
    "purity_of",
]

AVERAGES: dict[str, Callable[[float, float], float]] = {
    "geometric": lambda first, second: float(np.sqrt(first * second)),
    "arithmetic": lambda first, second: (first + second) / 2,
    "max": max,
    "min": min,
}
_DENSE_CELLS_PER_SAMPLE = 4


@dataclass(frozen=True)
class CrossTable:
    """Non-zero cells of a contingency table: `counts` samples in (`rows`, `columns`)."""

    counts: NDArray[Any]
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    shape: tuple[int, int]

    @classmethod
    def of(
        cls,
        first: NDArray[Any],
        second: NDArray[Any],
        n_first: int,
        n_second: int,
        weights: NDArray[np.float64] | None = None,
    ) -> CrossTable:
        """Count codes 0..n_first-1 against codes 0..n_second-1."""
        cells = first.astype(np.int64) * n_second + second
        if is_dense((n_first, n_second), len(cells)):
            counts = np.bincount(cells, weights, minlength=n_first * n_second)
            present = np.flatnonzero(counts)
            counts = counts[present]
        else:
            present, inverse = np.unique(cells, return_inverse=True)
            counts = np.bincount(inverse, weights)
        return cls(counts, present // n_second, present % n_second, (n_first, n_second))

    @classmethod
    def of_counts(cls, counts: NDArray[np.float64]) -> CrossTable:
        """The cells of a whole table."""
        rows, columns = np.nonzero(counts)
        return cls(counts[rows, columns], rows, columns, counts.shape)

    @cached_property
    def total(self) -> float:
        return float(self.counts.sum())

    @cached_property
    def row_sums(self) -> NDArray[np.float64]:
        return _sums(self.rows, self.counts, self.shape[0])

    @cached_property
    def column_sums(self) -> NDArray[np.float64]:
        return _sums(self.columns, self.counts, self.shape[1])


def is_dense(shape: tuple[int, int], n_samples: int) -> bool:
    """Whether a table has so few cells that all of them may be held for a while."""
    return shape[0] * shape[1] <= max(_DENSE_CELLS_PER_SAMPLE * n_samples, 1024)


def _sums(groups: NDArray[np.int64], counts: NDArray[Any], length: int) -> NDArray[np.float64]:
    return np.asarray(np.bincount(groups, counts, minlength=length), np.float64)


def accuracy_of(table: CrossTable) -> float:
    n_cells = table.shape[0] * table.shape[1]
    require_memory(8 * n_cells, f"Matching {table.shape[1]} clusters to {table.shape[0]} classes")
    dense = np.zeros(table.shape)
    dense[table.rows, table.columns] = table.counts
    matched = dense[linear_sum_assignment(dense, maximize=True)]
    return float(matched.sum() / table.total)


def nmi_of(table: CrossTable, average: str = "geometric", undivided: float = 1.0) -> float:
    """NMI of a table; `undivided` if neither partition divides the samples."""
    if len(table.counts) == 0:
        return 0.0
    p, p_row, p_column = (
        values / table.total for values in (table.counts, table.row_sums, table.column_sums)
    )
    h_row, h_column = _entropy(p_row), _entropy(p_column)
    if h_row == 0 or h_column == 0:
        return undivided if h_row == h_column else 0.0
    information = float((p * np.log(p / (p_row[table.rows] * p_column[table.columns]))).sum())
    return min(1.0, max(0.0, information / AVERAGES[average](h_row, h_column)))


def _entropy(p: NDArray[np.float64]) -> float:
    p = p[p > 0]
    return 0.0 if len(p) == 1 else float(-(p * np.log(p)).sum())


def _pairs(table: CrossTable, alone: float | None = None) -> tuple[float, float, float, float]:
    """Pairs joined by both partitions, by the rows', by the columns', and all pairs.

    Of a sample with itself there are `alone` in all: as many as samples, unless they have weights.
    """
    itself = table.total if alone is None else alone

    def joined(sizes: Any) -> float:
        return float((np.square(sizes, dtype=np.float64).sum() - itself) / 2)

    return (
        joined(table.counts),
        joined(table.row_sums),
        joined(table.column_sums),
        joined(table.total),
    )


def adjusted_rand_of(table: CrossTable, alone: float | None = None) -> float:
    both, by_rows, by_columns, pairs = _pairs(table, alone)
    if both == by_rows == by_columns:
        return 1.0
    expected = by_rows * by_columns / pairs
    return (both - expected) / ((by_rows + by_columns) / 2 - expected)


def pairwise_f_score_of(table: CrossTable) -> float:
    both, by_rows, by_columns, _ = _pairs(table)
    return 1.0 if by_rows + by_columns == 0 else 2 * both / (by_rows + by_columns)


def purity_of(table: CrossTable) -> float:
    largest = np.zeros(table.shape[1])
    np.maximum.at(largest, table.columns, table.counts)
    return float(largest.sum() / table.total)
