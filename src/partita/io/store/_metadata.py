"""The description of a store, which its JSON file holds: shape, partitions and state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._atomic import write_atomically
from partita._input.columns import name_array
from partita._input.table_coding import code_dtype
from partita._json import json_default
from partita.ensemble import LabelLayout
from partita.exceptions import InvalidStoreError
from partita.io.store._sealed import seal, unseal

__all__ = ["Partition", "StoreMetadata", "declare_partitions"]

_FILE = "store.json"
_KIND = "partita label store"
_VERSION = 1


@dataclass(frozen=True)
class Partition:
    """One base partition of a store."""

    name: str | None = None
    n_clusters: int | None = None  # None until a column is written
    categories: list[Any] | None = None  # None: the labels are the codes 0..K-1 themselves
    provenance: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        categories: Any,
        *,
        name: str | None = None,
        provenance: Mapping[str, Any] | None = None,
    ) -> Partition:
        """Describe a partition by the labels of its codes, or by their number."""
        origin = dict(provenance or {})
        if isinstance(categories, Integral):
            return cls(name, int(categories), None, origin)
        values = [json_default(v) if isinstance(v, np.generic) else v for v in categories]
        is_range = values == list(range(len(values))) and not any(
            isinstance(v, (bool, float)) for v in values
        )
        return cls(name, len(values), None if is_range else values, origin)

    def labels(self) -> NDArray[Any]:
        """Return the label of every code."""
        if self.categories is None:
            return np.arange(self.n_clusters or 0)
        return name_array(self.categories)

    def select(self, codes: NDArray[Any]) -> NDArray[Any]:
        """Return the labels of some codes."""
        return codes if self.categories is None else self.labels()[codes]


@dataclass(frozen=True)
class StoreMetadata:
    """Shape, partitions and state of a store."""

    n_samples: int
    rows_per_chunk: int
    partitions: tuple[Partition, ...]
    provenance: dict[str, Any] = field(default_factory=dict)
    is_complete: bool = False
    has_sample_ids: bool = False
    checksums_crc32: int | None = None  # of the file of checksums, once the store is complete

    @property
    def n_partitions(self) -> int:
        return len(self.partitions)

    @property
    def n_chunks(self) -> int:
        return -(-self.n_samples // self.rows_per_chunk)

    @property
    def is_declared(self) -> bool:
        """Whether every partition has a number of clusters."""
        return all(p.n_clusters is not None for p in self.partitions)

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """Narrowest type for the clusters declared so far and the missing code."""
        return np.dtype(code_dtype(max(p.n_clusters or 0 for p in self.partitions)))

    def layout(self) -> LabelLayout:
        """Return how to read the codes."""
        labels = tuple(p.labels() for p in self.partitions)
        return LabelLayout(self.dtype, labels, self.partition_names)

    @property
    def partition_names(self) -> NDArray[Any] | None:
        names = [p.name for p in self.partitions]
        return None if None in names else np.asarray(names, object)

    def chunk_rows(self, chunk: int) -> tuple[int, int]:
        """Return the first row of a chunk and the row after its last."""
        start = chunk * self.rows_per_chunk
        return start, min(start + self.rows_per_chunk, self.n_samples)

    def save(self, folder: Path) -> None:
        """Write the JSON file of a store."""
        write_atomically(folder / _FILE, seal(_KIND, _VERSION, asdict(self)))

    @staticmethod
    def state(folder: Path) -> tuple[int, int]:
        """Return two numbers that change when the JSON file is replaced."""
        status = (folder / _FILE).stat()
        return status.st_ino, status.st_mtime_ns

    @classmethod
    def load(cls, folder: Path) -> StoreMetadata:
        """Read the JSON file of a store."""
        path = folder / _FILE
        if not path.is_file():
            raise InvalidStoreError(
                f"{folder} is not a label store: it has no {_FILE}. A store is a folder made by "
                "`LabelStore.create`, `LabelStore.from_partitions` or `partita convert`."
            )
        content = unseal(path.read_bytes(), _KIND, _VERSION, path)
        content["partitions"] = tuple(Partition(**p) for p in content["partitions"])
        return cls(**content)


def declare_partitions(
    categories: Sequence[Any] | None,
    n_clusters: Any,
    n_partitions: int | None,
    names: Sequence[str] | None,
) -> tuple[Partition, ...]:
    """Return the partitions of a new store; parameters as in `LabelStore.create`."""
    if sum(x is not None for x in (categories, n_clusters, n_partitions)) != 1:
        raise TypeError("Pass exactly one of categories, n_clusters and n_partitions.")
    if n_partitions is not None:
        partitions = [Partition()] * int(n_partitions)
    else:
        values = categories if categories is not None else np.ravel(n_clusters)
        partitions = [Partition.of(value) for value in values]
    if not partitions or any(p.n_clusters is not None and p.n_clusters < 1 for p in partitions):
        raise ValueError("Expected at least one partition, of at least one cluster each.")
    if names is None:
        return tuple(partitions)
    if len(names) != len(partitions):
        raise ValueError(
            f"partition_names must name {len(partitions)} partitions, got {len(names)} names."
        )
    return tuple(replace(p, name=str(name)) for p, name in zip(partitions, names, strict=True))
