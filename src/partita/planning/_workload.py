"""`Workload`: size of the labels that a fit is planned for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita._input.table_coding import code_dtype
from partita.consensus import BaseConsensus, Size
from partita.datasets import make_partitions

__all__ = ["Workload"]

_CHUNK_BYTES = 1 << 28  # at most, for two chunks of rows and what is computed from them
_NOISE = 0.2  # share of the synthetic labels that are random


@dataclass(frozen=True)
class Workload:
    """Size of the labels that a fit is planned for.

    Attributes
    ----------
    n_samples, n_partitions, n_clusters : int
        Samples, base partitions, clusters of the consensus.
    n_base_clusters : int
        Clusters of each base partition.
    missing_ratio : float
        Share of the labels that are missing.
    n_distinct : int
        Distinct rows of labels.
    random_state : int
        Seed of the synthetic labels and of the small fits.
    """

    n_samples: int
    n_partitions: int
    n_clusters: int
    n_base_clusters: int
    missing_ratio: float
    n_distinct: int
    random_state: int

    @property
    def bytes_per_label(self) -> int:
        return int(np.dtype(code_dtype(self.n_base_clusters)).itemsize)

    def size(self, n_rows: int) -> Size:
        """Return the size of the problem with so many distinct rows."""
        length = self.n_partitions * self.n_base_clusters
        return Size(n_rows, self.n_partitions, length, self.n_clusters)

    def bytes_in_memory(self, method: type[BaseConsensus]) -> int:
        """Count the labels, a copy of them during compression, and the needs of the method."""
        labels = self.n_samples * (2 * self.n_partitions * self.bytes_per_label + 48)
        return labels + method.info.bytes_needed(self.size(self.n_distinct))

    def bytes_from_store(self, method: type[BaseConsensus]) -> int:
        """Count two chunks of rows, the tables, and the needs of the method without rows."""
        size = self.size(0)
        tables = 8 * 8 * size.n_base_clusters * size.n_clusters
        overlaps = 16 * size.n_base_clusters**2 if method.info.family == "graph" else 0
        return _CHUNK_BYTES + tables + overlaps + method.info.bytes_needed(size)

    @property
    def bytes_on_disk(self) -> int:
        """Labels, k-means state of the rows (groups, bounds, parts) and the result."""
        return self.n_samples * (self.n_partitions * self.bytes_per_label + 12 + 28 + 8)

    def synthetic_partitions(self, n_samples: int) -> NDArray[np.int64]:
        """Return base partitions of this kind for another number of samples."""
        partitions, _ = make_partitions(
            n_samples,
            self.n_partitions,
            self.n_clusters,
            noise=_NOISE,
            missing_ratio=self.missing_ratio,
            k_min=self.n_base_clusters,
            k_max=self.n_base_clusters,
            balanced=True,
            shuffle=True,
            random_state=self.random_state,
        )
        return partitions
