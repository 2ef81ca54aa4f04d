"""What a store knows of its labels without reading one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._atomic import write_atomically
from partita._input.coding import name_array
from partita._input.table_coding import code_dtype
from partita._json import json_default
from partita.exceptions import InvalidStoreError
from partita.io.store._sealed import seal, unseal

__all__ = ["Partition", "StoreMetadata", "default_rows_per_chunk", "partitions_of"]

_FILE = "store.json"
_KIND = "partita label store"
_VERSION = 1
_CHUNK_BYTES = 1 << 22  # checked as a whole, so small enough to read twice without regret


@dataclass(frozen=True)
class Partition:
    """One base partition: its name, its number of clusters and what they were called.

    `n_clusters` is None until a column says it; `categories` is None where the labels are the
    codes 0..K-1 themselves.
    """

    name: str | None = None
    n_clusters: int | None = None
    categories: list[Any] | None = None
    provenance: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        categories: Any,
        *,
        name: str | None = None,
        provenance: Mapping[str, Any] | None = None,
    ) -> Partition:
        """From the labels of the codes, or only their number."""
        known = dict(provenance or {})
        if isinstance(categories, Integral):
            return cls(name, int(categories), None, known)
        values = [json_default(v) if isinstance(v, np.generic) else v for v in categories]
        is_range = values == list(range(len(values))) and not any(
            isinstance(v, (bool, float)) for v in values
        )
        return cls(name, len(values), None if is_range else values, known)

    def labels(self) -> NDArray[Any]:
        """The original label of every code."""
        if self.categories is None:
            return np.arange(self.n_clusters or 0)
        return name_array(self.categories)


@dataclass(frozen=True)
class StoreMetadata:
    """Shape, partitions and state of a store, as its JSON file holds them."""

    n_samples: int
    rows_per_chunk: int
    partitions: tuple[Partition, ...]
    provenance: dict[str, Any] = field(default_factory=dict)
    is_complete: bool = False
    has_sample_ids: bool = False
    checksums_crc32: int | None = None  # of the file of checksums, once it is final

    @property
    def n_partitions(self) -> int:
        return len(self.partitions)

    @property
    def n_chunks(self) -> int:
        return -(-self.n_samples // self.rows_per_chunk)

    @property
    def is_declared(self) -> bool:
        """Whether the number of clusters of every partition is known."""
        return all(p.n_clusters is not None for p in self.partitions)

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """Narrowest type for the clusters known so far and the missing code."""
        return np.dtype(code_dtype(max(p.n_clusters or 0 for p in self.partitions)))

    def chunk_rows(self, chunk: int) -> tuple[int, int]:
        """First row of a chunk and the row after its last."""
        start = chunk * self.rows_per_chunk
        return start, min(start + self.rows_per_chunk, self.n_samples)

    def save(self, folder: Path) -> None:
        write_atomically(folder / _FILE, seal(_KIND, _VERSION, asdict(self)))

    @classmethod
    def load(cls, folder: Path) -> StoreMetadata:
        path = folder / _FILE
        if not path.is_file():
            raise InvalidStoreError(
                f"{folder} is not a label store: it has no {_FILE}. A store is a folder made by "
                "`LabelStore.create`, `LabelStore.from_partitions` or `partita convert`."
            )
        content = unseal(path.read_bytes(), _KIND, _VERSION, path)
        content["partitions"] = tuple(Partition(**p) for p in content["partitions"])
        return cls(**content)


def default_rows_per_chunk(n_partitions: int) -> int:
    """A power of two of rows that take a few megabytes."""
    rows = max(1, _CHUNK_BYTES // max(1, n_partitions))
    return 1 << (rows.bit_length() - 1)


def partitions_of(
    categories: Sequence[Any] | None,
    n_clusters: Any,
    n_partitions: int | None,
    names: Sequence[str] | None,
) -> tuple[Partition, ...]:
    """Partitions as the caller of `create` declares them."""
    given = [x is not None for x in (categories, n_clusters, n_partitions)]
    if sum(given) != 1:
        raise TypeError("Pass exactly one of categories, n_clusters and n_partitions.")
    if n_partitions is not None:
        count = int(n_partitions)
        partitions = [Partition()] * count
    else:
        values = list(categories if categories is not None else np.ravel(n_clusters))
        count = len(values)
        partitions = [Partition.of(value) for value in values]
    if count < 1 or any(p.n_clusters is not None and p.n_clusters < 1 for p in partitions):
        raise ValueError("Expected at least one partition, of at least one cluster each.")
    if names is None:
        return tuple(partitions)
    if len(names) != count:
        raise ValueError(f"partition_names must name {count} partitions, got {len(names)} names.")
    return tuple(
        Partition(str(name), p.n_clusters, p.categories)
        for name, p in zip(names, partitions, strict=True)
    )
