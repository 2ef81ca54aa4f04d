"""Sums over the labels of rows as products of sparse matrices, for the definitions of kernels.

SciPy adds the entries of a row of a sparse matrix one after the other. A row of the incidence lists
the labels in the order of the partitions, so that both forms of a kernel add in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita._kernels.records import CodeTable

__all__ = ["Incidence", "block_sums", "incidences"]

_LABELS = 1 << 16  # labels of a block; its arrays stay in the cache


@dataclass(frozen=True)
class Incidence:
    """Incidence of the rows start..stop of a table of codes.

    clusters : (stop - start, m), numbers of the base clusters; one more than all for a missing
        label
    is_complete : whether no label is missing
    """

    start: int
    stop: int
    clusters: NDArray[np.int32]
    n_clusters: int
    is_complete: bool

    def lookup_sums(self, lookup: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return for every row the sum of the rows of `lookup` of its base clusters."""
        return self._sums(self.clusters, lookup)

    def slope_sums(self, slope: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return for every row the sum of the rows of `slope` of the partitions that label it.

        If no label is missing, the sums are equal, and there is one row of them.
        """
        if self.is_complete or not slope.any():
            return np.cumsum(slope, axis=0)[-1:]
        m = len(slope)
        partitions = np.arange(m, dtype=np.int32)
        return self._sums(np.where(self.clusters < self.n_clusters, partitions, np.int32(m)), slope)

    def rows(self, numbers: NDArray[np.int64]) -> Incidence:
        """Return the incidence of some of the rows."""
        return Incidence(
            self.start, self.stop, self.clusters[numbers], self.n_clusters, self.is_complete
        )

    def _sums(self, numbers: NDArray[np.int32], values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sums of the rows `numbers` of `values`; a missing label adds 0."""
        if not self.is_complete:
            values = np.vstack([values, np.zeros(values.shape[1])])
        n, m = numbers.shape
        ends = np.arange(0, n * m + 1, m, dtype=np.int32)
        return np.asarray(_matrix(numbers.ravel(), ends, len(values)) @ values)


def incidences(table: CodeTable, start: int, stop: int) -> Iterator[Incidence]:
    """Yield the incidence of blocks of the rows start..stop."""
    codes, missing_code, offsets = table
    n_clusters = int(offsets[-1])
    n_rows = max(1, _LABELS // codes.shape[1])
    for top in range(start, stop, n_rows):
        bottom = min(top + n_rows, stop)
        block = codes[top:bottom]
        clusters = (block + offsets[:-1]).astype(np.int32, copy=False)
        is_missing = block == missing_code
        is_complete = not is_missing.any()
        if not is_complete:
            clusters[is_missing] = n_clusters
        yield Incidence(top, bottom, clusters, n_clusters, is_complete)


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
