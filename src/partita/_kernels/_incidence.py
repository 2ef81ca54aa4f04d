"""Sums over the labels of rows as products of sparse matrices, for the definitions of kernels.

SciPy adds the entries of a row of a sparse matrix one after the other. A row of the incidence lists
the labels in the order of the partitions, so that both forms of a kernel add in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita._kernels.records import CodeTable

__all__ = ["CostTables", "Incidence", "block_sums", "incidences"]

_LABELS = 1 << 16  # labels of a block; its arrays stay in the cache


class CostTables:
    """Tables of the costs of rows, arranged so that one product gives both sums of a row.

    lookup : (L, K), slope : (m, K), offsets : of the m partitions
    """

    def __init__(
        self, lookup: NDArray[np.float64], slope: NDArray[np.float64], offsets: NDArray[np.int32]
    ) -> None:
        self.lookup, self.slope, self.offsets = lookup, slope, offsets
        self.has_slopes = bool(slope.any())

    @cached_property
    def all_slopes(self) -> NDArray[np.float64]:
        """The sums of all slopes, shape (1, K), added one after the other."""
        return np.cumsum(self.slope, axis=0)[-1:]

    @cached_property
    def by_label(self) -> NDArray[np.float64]:
        """What a label adds to the sums; the last row, for a missing label, is 0.

        Columns are the look-ups and, unless all are 0, the slopes of its partition.
        """
        n_clusters, n_groups = self.lookup.shape
        terms = np.zeros((n_clusters + 1, 2 * n_groups if self.has_slopes else n_groups))
        terms[:-1, :n_groups] = self.lookup
        if self.has_slopes:
            terms[:-1, n_groups:] = np.repeat(self.slope, np.diff(self.offsets), axis=0)
        return terms


@dataclass(frozen=True)
class Incidence:
    """Incidence of some rows of a table of codes.

    rows : their numbers
    clusters : (len(rows), m), numbers of the base clusters; one more than all for a missing
        label
    is_complete : whether no label is missing
    """

    rows: NDArray[np.int64]
    clusters: NDArray[np.int32]
    is_complete: bool

    def cost_sums(self, costs: CostTables) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return for every row the sums of its look-ups, and of the slopes of its partitions.

        If the sums of the slopes are equal for all rows, there is one row of them.
        """
        if self.is_complete:
            return self._sums(costs.lookup), costs.all_slopes
        sums = self._sums(costs.by_label)
        if not costs.has_slopes:
            return sums, costs.all_slopes
        n_groups = costs.lookup.shape[1]
        return sums[:, :n_groups], sums[:, n_groups:]

    def only(self, places: NDArray[np.int64]) -> Incidence:
        """Return the incidence of the rows at some places."""
        return Incidence(self.rows[places], self.clusters[places], self.is_complete)

    def _sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return for every row the sum of the rows of `values` of its base clusters."""
        n, m = self.clusters.shape
        ends = np.arange(0, n * m + 1, m, dtype=np.int32)
        return np.asarray(_matrix(self.clusters.ravel(), ends, len(values)) @ values)


def incidences(table: CodeTable, rows: NDArray[np.int64]) -> Iterator[Incidence]:
    """Yield the incidence of blocks of some rows."""
    codes, missing_code, offsets = table
    n_clusters = int(offsets[-1])
    n_rows = max(1, _LABELS // codes.shape[1])
    for top in range(0, len(rows), n_rows):
        numbers = rows[top : top + n_rows]
        block = codes[numbers]
        clusters = (block + offsets[:-1]).astype(np.int32, copy=False)
        is_missing = block == missing_code
        is_complete = not is_missing.any()
        if not is_complete:
            np.putmask(clusters, is_missing, n_clusters)
        yield Incidence(numbers, clusters, is_complete)


def block_sums(values: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the sums of the rows of `values` by partition, shape (m, K); values : (L, K)."""
    in_order = np.arange(len(values), dtype=np.int32)
    return np.asarray(_matrix(in_order, offsets.astype(np.int32), len(values)) @ values)


def _matrix(columns: NDArray[np.int32], ends: NDArray[np.int32], width: int) -> sp.csr_array:
    """Return a sparse matrix of ones; `ends` are the ends of its rows in `columns`."""
    return sp.csr_array((_ones(len(columns)), columns, ends), shape=(len(ends) - 1, width))


@lru_cache(maxsize=4)  # most blocks have the same size
def _ones(n: int) -> NDArray[np.float64]:
    return np.ones(n)
