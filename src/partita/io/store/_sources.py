"""Where the rows of a store come from: its chunks, or its columns while they are gathered."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from partita.io.store._chunks import LabelChunks
from partita.io.store._columns import Column, columns_folder, written_columns
from partita.io.store._metadata import StoreMetadata

__all__ = ["ChunkSource", "ColumnSource", "Source", "source_of"]


class Source(Protocol):
    """Rows by number; what has not been written yet reads as missing."""

    metadata: StoreMetadata

    def read(self, start: int, rows: NDArray[Any]) -> None:
        """Fill `rows` with the rows from `start` on."""

    def absent(self) -> str:
        """In words, what has not been written; empty when all is there."""

    def close(self) -> None:
        """Give file handles back."""


def source_of(folder: Path, metadata: StoreMetadata, *, checked: bool) -> Source:
    gathering = columns_folder(folder).is_dir() or not LabelChunks.exist(folder)
    if gathering and not metadata.is_complete:
        return ColumnSource(folder, metadata, checked=checked)
    return ChunkSource(folder, metadata, checked=checked)


class ChunkSource:
    """Rows from the row-major file; each chunk is checked the first time it is read."""

    def __init__(self, folder: Path, metadata: StoreMetadata, *, checked: bool) -> None:
        self.metadata = metadata
        self._chunks = LabelChunks(folder, metadata)
        self._to_check = self._chunks.written & checked
        self._missing = np.iinfo(metadata.dtype).max

    def read(self, start: int, rows: NDArray[Any]) -> None:
        stop = start + len(rows)
        if start == stop:
            return
        self._chunks.read_rows(start, rows)
        per_chunk = self.metadata.rows_per_chunk
        for chunk in range(start // per_chunk, (stop - 1) // per_chunk + 1):
            low, high = self.metadata.chunk_rows(chunk)
            inside = rows[max(low, start) - start : min(high, stop) - start]
            if not self._chunks.written[chunk]:
                inside[...] = self._missing
            elif self._to_check[chunk]:
                self._check(chunk, inside, max(low, start) - low, high - low)

    def _check(self, chunk: int, inside: NDArray[Any], first: int, n_rows: int) -> None:
        """Check a whole chunk, of which `inside` holds the rows from the chunk's `first` on."""
        if len(inside) == n_rows:
            self._chunks.check(chunk, inside)
        else:
            whole = np.empty((n_rows, *inside.shape[1:]), inside.dtype)
            self._chunks.read_rows(self.metadata.chunk_rows(chunk)[0], whole)
            self._chunks.check(chunk, whole)
            inside[...] = whole[first : first + len(inside)]
        self._to_check[chunk] = False

    def absent(self) -> str:
        absent = np.flatnonzero(~self._chunks.written).tolist()
        if not absent:
            return ""
        bounds = [self.metadata.chunk_rows(chunk) for chunk in absent]
        n_rows = sum(stop - start for start, stop in bounds)
        return (
            f"{n_rows} of {self.metadata.n_samples} rows have not been written "
            f"(first: {bounds[0][0]})"
        )

    def close(self) -> None:
        self._chunks.close()


class ColumnSource:
    """Rows put together from the columns that are there when it is made."""

    def __init__(self, folder: Path, metadata: StoreMetadata, *, checked: bool) -> None:
        partitions = list(metadata.partitions)
        self._columns: dict[int, Column] = {}
        for i in written_columns(folder):
            column = Column.open(folder, i, metadata.n_samples)
            self._columns[i] = column
            partitions[i] = column.partition
        self.metadata = replace(metadata, partitions=tuple(partitions))
        self._to_check = set(self._columns) if checked else set()

    def read(self, start: int, rows: NDArray[Any]) -> None:
        missing = np.iinfo(rows.dtype).max
        rows[...] = missing
        for i, column in self._columns.items():
            if i in self._to_check:
                column.verify(self.metadata.n_samples)
                self._to_check.discard(i)
            codes = column.read(start, start + len(rows))
            rows[:, i] = codes
            if codes.dtype != rows.dtype:
                rows[codes == column.missing, i] = missing

    def absent(self) -> str:
        without = [i for i in range(self.metadata.n_partitions) if i not in self._columns]
        if not without:
            return ""
        return (
            f"{len(without)} of {self.metadata.n_partitions} partitions have not been written "
            f"(first: {without[0]})"
        )

    def close(self) -> None:
        """Columns are opened for each read."""
