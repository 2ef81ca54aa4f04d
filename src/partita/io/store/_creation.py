"""Make the folder of a new store."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from partita._atomic import atomic_folder, explained
from partita.io.store._chunks import LabelChunks
from partita.io.store._metadata import Partition, StoreMetadata

__all__ = ["create_store", "require_new_folder"]

_CHUNK_BYTES = 1 << 22  # small, because a chunk is read as a whole to check a part of it


def create_store(
    path: Path,
    n_samples: int,
    partitions: tuple[Partition, ...],
    provenance: Mapping[str, Any] | None,
    rows_per_chunk: int | None,
) -> None:
    """Make a new store without labels; parameters as in `LabelStore.create`."""
    if rows_per_chunk is None:  # the largest power of two of rows of 8-bit codes
        rows = max(1, _CHUNK_BYTES // len(partitions))
        rows_per_chunk = 1 << (rows.bit_length() - 1)
    if n_samples < 1 or rows_per_chunk < 1:
        raise ValueError(
            f"n_samples={n_samples} and rows_per_chunk={rows_per_chunk} must be at least 1."
        )
    require_new_folder(path)
    metadata = StoreMetadata(
        int(n_samples), int(rows_per_chunk), partitions, dict(provenance or {})
    )
    with explained(path, "Nothing was left behind."), atomic_folder(path) as partial:
        partial.mkdir()
        if metadata.is_declared:
            LabelChunks.allocate(partial, metadata)
        metadata.save(partial)


def require_new_folder(path: Path) -> None:
    """Raise if there is something at `path` that is not an empty folder."""
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise FileExistsError(
            f"{str(path)!r} is already there. Remove it, choose another folder, or continue it by "
            "`LabelStore.resume`."
        )
