"""Contingency tables of two clusterings, and the measures computed from them."""

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
    "ContingencyTable",
    "accuracy_of",
    "adjusted_rand_of",
    "binder_loss_of",
    "check_average",
    "is_dense",
    "nesting_of",
    "nmi_of",
    "pairwise_f_score_of",
    "purity_of",
    "variation_of_information_of",
]

_AVERAGES: dict[str, Callable[[float, float], float]] = {
    "geometric": lambda first, second: float(np.sqrt(first * second)),
    "arithmetic": lambda first, second: (first + second) / 2,
    "max": max,
    "min": min,
}
_DENSE_CELLS_PER_SAMPLE = 4  # a table with at most so many cells per sample is small


@dataclass(frozen=True, eq=False)
class ContingencyTable:
    """Non-zero cells of a contingency table.

    Attributes
    ----------
    counts : array of shape (n_cells,)
        Number (or weight) of the samples in each non-zero cell.
    rows, columns : arrays of shape (n_cells,)
        Position of each cell.
    shape : tuple of int
        Number of rows and columns of the table.
    """

    counts: NDArray[Any]
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    shape: tuple[int, int]

    @classmethod
    def from_codes(
        cls,
        first: NDArray[Any],
        second: NDArray[Any],
        n_first: int,
        n_second: int,
        weights: NDArray[np.float64] | None = None,
    ) -> ContingencyTable:
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
    def from_dense(cls, counts: NDArray[np.float64]) -> ContingencyTable:
        """Take the non-zero cells of a dense table."""
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
    """Say whether a table is small enough to be held with all its cells."""
    return shape[0] * shape[1] <= max(_DENSE_CELLS_PER_SAMPLE * n_samples, 1024)


def _sums(groups: NDArray[np.int64], counts: NDArray[Any], length: int) -> NDArray[np.float64]:
    return np.asarray(np.bincount(groups, counts, minlength=length), np.float64)


def check_average(average: str) -> None:
    """Refuse an unknown average of two entropies."""
    if average not in _AVERAGES:
        raise ValueError(f"average must be one of {tuple(_AVERAGES)}, got {average!r}.")


def accuracy_of(table: ContingencyTable) -> float:
    """Return the share of samples in matched cells, under the best one-to-one matching."""
    n_cells = table.shape[0] * table.shape[1]
    require_memory(8 * n_cells, f"Matching {table.shape[1]} clusters to {table.shape[0]} classes")
    # SciPy copies a matrix to maximize, and one with more rows than columns
    first, second = table.rows, table.columns
    if table.shape[0] > table.shape[1]:
        first, second = second, first
    cost = np.zeros((min(table.shape), max(table.shape)))
    cost[first, second] = -table.counts
    matched = cost[linear_sum_assignment(cost)]
    return float(-matched.sum() / table.total)


def nmi_of(table: ContingencyTable, average: str = "geometric", undivided: float = 1.0) -> float:
    """Return the NMI of a table; `undivided` if neither partition divides the samples."""
    if len(table.counts) == 0:
        return 0.0
    p, p_row, p_column = (
        values / table.total for values in (table.counts, table.row_sums, table.column_sums)
    )
    h_row, h_column = _entropy(p_row), _entropy(p_column)
    if h_row == 0 or h_column == 0:
        return undivided if h_row == h_column else 0.0
    information = float((p * np.log(p / (p_row[table.rows] * p_column[table.columns]))).sum())
    return min(1.0, max(0.0, information / _AVERAGES[average](h_row, h_column)))


def _entropy(p: NDArray[np.float64]) -> float:
    p = p[p > 0]
    return 0.0 if len(p) == 1 else float(-(p * np.log(p)).sum())


def _joined_pairs(
    table: ContingencyTable, self_pairs: float | None = None
) -> tuple[float, float, float, float]:
    """Count the pairs joined by both partitions, by the rows, by the columns, and all pairs.

    `self_pairs` is the number of pairs of a sample with itself, which do not count. By default it
    is the number of samples, which is correct if all weights are 1.
    """
    itself = table.total if self_pairs is None else self_pairs

    def joined(sizes: Any) -> float:
        return float((np.square(sizes, dtype=np.float64).sum() - itself) / 2)

    return (
        joined(table.counts),
        joined(table.row_sums),
        joined(table.column_sums),
        joined(table.total),
    )


def adjusted_rand_of(table: ContingencyTable, self_pairs: float | None = None) -> float:
    """Return the adjusted Rand index of a table; for `self_pairs` see `_joined_pairs`."""
    both, by_rows, by_columns, pairs = _joined_pairs(table, self_pairs)
    if both == by_rows == by_columns:
        return 1.0
    expected = by_rows * by_columns / pairs
    return (both - expected) / ((by_rows + by_columns) / 2 - expected)


def nesting_of(table: ContingencyTable, self_pairs: float | None = None) -> float:
    """Return how far one partition of a table refines the other; `self_pairs` as above.

    The value is the adjusted Wallace coefficient of the partition a that joins fewer pairs,

        (P(joined by b | joined by a) - P(joined by b)) / (1 - P(joined by b)):

    1 if each cluster of one partition is inside a cluster of the other, 0 expected by chance.
    """
    both, by_rows, by_columns, pairs = _joined_pairs(table, self_pairs)
    smaller, larger = sorted((by_rows, by_columns))
    if smaller <= 0 or larger >= pairs:
        return 1.0
    return (both / smaller - larger / pairs) / (1 - larger / pairs)


def pairwise_f_score_of(table: ContingencyTable) -> float:
    """Return the pairwise F-score of a table."""
    both, by_rows, by_columns, _ = _joined_pairs(table)
    return 1.0 if by_rows + by_columns == 0 else 2 * both / (by_rows + by_columns)


def purity_of(table: ContingencyTable) -> float:
    """Return the purity of a table whose rows are classes."""
    largest = np.zeros(table.shape[1])
    np.maximum.at(largest, table.columns, table.counts)
    return float(largest.sum() / table.total)


def variation_of_information_of(table: ContingencyTable, a: float = 1.0) -> float:
    """Return a H(columns | rows) + (2 - a) H(rows | columns) of a table, in bits."""
    share = table.counts / table.total
    within_rows = np.log2(table.counts / table.row_sums[table.rows])
    within_columns = np.log2(table.counts / table.column_sums[table.columns])
    return abs(float(share @ (a * within_rows + (2.0 - a) * within_columns)))


def binder_loss_of(table: ContingencyTable, a: float = 1.0) -> float:
    """Return the cost of all pairs over n²: a if only the rows join one, 2 - a if the columns."""
    both = float(np.square(table.counts, dtype=np.float64).sum())
    by_rows, by_columns = (
        float(np.square(sums).sum()) for sums in (table.row_sums, table.column_sums)
    )
    return (a * (by_rows - both) + (2.0 - a) * (by_columns - both)) / table.total**2
