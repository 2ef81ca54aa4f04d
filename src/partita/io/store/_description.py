"""What a store says about its labels without reading their rows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._input.columns import name_array
from partita._memory import describe_bytes
from partita.ensemble.layout import HasLayout
from partita.io.store._metadata import StoreMetadata
from partita.io.store._sample_ids import has_sample_ids, read_sample_ids

__all__ = ["StoreDescription"]

_IDS_PER_BLOCK = 1 << 16


class StoreDescription(HasLayout):
    """Shape, names and state of a store; `LabelStore` documents the attributes."""

    path: Path
    _metadata: StoreMetadata

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self._metadata.n_samples

    # What follows needs no table of the labels, unlike the layout.

    @property
    def n_partitions(self) -> int:
        """Number of partitions, m."""
        return self._metadata.n_partitions

    @property
    def n_clusters(self) -> NDArray[np.int64]:
        """Number of clusters in each partition, K_i."""
        return np.asarray([p.n_clusters or 0 for p in self._metadata.partitions], np.int64)

    @property
    def partition_names(self) -> NDArray[Any] | None:
        """Names of the partitions, or None."""
        return self._metadata.partition_names

    @property
    def missing_code(self) -> int:
        """The code of a missing label."""
        return int(np.iinfo(self.dtype).max)

    @property
    def rows_per_chunk(self) -> int:
        """Number of rows that share a checksum. Blocks of whole chunks are read fastest."""
        return self._metadata.rows_per_chunk

    @property
    def dtype(self) -> np.dtype[Any]:
        """Integer type of the codes."""
        return self._metadata.dtype

    @property
    def is_complete(self) -> bool:
        """Whether all labels have been written and `LabelWriter.finish` has run."""
        return self._metadata.is_complete

    @property
    def provenance(self) -> dict[str, Any]:
        """Where the labels come from, as text and numbers."""
        return dict(self._metadata.provenance)

    @property
    def partition_provenance(self) -> list[dict[str, Any]]:
        """Where each partition comes from, as text and numbers."""
        return [dict(p.provenance) for p in self._metadata.partitions]

    @property
    def has_sample_ids(self) -> bool:
        """Whether the samples have names."""
        return self._metadata.has_sample_ids or (not self.is_complete and has_sample_ids(self.path))

    @cached_property
    def sample_ids(self) -> NDArray[Any] | None:
        """Names of the samples, or None. They are read at first access and then kept."""
        if not self.has_sample_ids:
            return None
        return name_array([name for names in self.iter_sample_ids() for name in names])

    def iter_sample_ids(self, block_size: int = _IDS_PER_BLOCK) -> Iterator[list[Any]]:
        """Iterate over the names of the samples, `block_size` at a time."""
        return read_sample_ids(self.path, self.n_samples, block_size)

    def __len__(self) -> int:
        return self.n_samples

    def __repr__(self) -> str:
        low, high = int(self.n_clusters.min()), int(self.n_clusters.max())
        size = self.n_samples * self.n_partitions * self.dtype.itemsize
        parts = [
            f"{self.n_samples} samples",
            f"{self.n_partitions} partition{'s' * (self.n_partitions != 1)}",
            f"{low if low == high else f'{low} to {high}'} clusters each",
            f"{describe_bytes(size)} of {self.dtype}",
        ]
        if not self.is_complete:
            parts.append("not complete")
        return f"{type(self).__name__}({', '.join(parts)})"
