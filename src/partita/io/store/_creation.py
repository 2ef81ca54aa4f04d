"""Make the folder of a new store."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from partita._atomic import explained
from partita.io.store._chunks import LabelChunks
from partita.io.store._metadata import Partition, StoreMetadata

__all__ = ["create_store"]

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
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise FileExistsError(
            f"{str(path)!r} is already there. Remove it, choose another folder, or continue it by "
            "`LabelStore.resume`."
        )
    metadata = StoreMetadata(
        int(n_samples), int(rows_per_chunk), partitions, dict(provenance or {})
    )
    # The folder is made under another name and renamed, so that it appears complete.
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    with explained(path, "Nothing was left behind."):
        try:
            partial.mkdir()
            if metadata.is_declared:
                LabelChunks.allocate(partial, metadata)
            metadata.save(partial)
            if path.is_dir():
                path.rmdir()  # empty; some systems do not rename onto a folder
            os.rename(partial, path)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise
