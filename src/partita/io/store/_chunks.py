"""The row-major labels of a store and their checksums, a chunk of rows at a time.

`labels.npy` has its full length from the start; `checksums.bin` holds two numbers per chunk, the
CRC-32 of its bytes and whether it has been written. The labels of a chunk go to the file before
its checksum does, so a chunk that says it is there is whole, or is found out.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._atomic import explained
from partita.exceptions import InvalidStoreError
from partita.io.npy import npy_header
from partita.io.positioned_file import PositionedFile, checksum
from partita.io.store._metadata import StoreMetadata

__all__ = ["LabelChunks"]

_LABELS = "labels.npy"
_CHECKSUMS = "checksums.bin"
_CRC, _WRITTEN = 0, 1


class LabelChunks:
    """Chunks of rows in the files of a store."""

    def __init__(self, folder: Path, metadata: StoreMetadata, *, writable: bool = False) -> None:
        self._metadata = metadata
        self.dtype = metadata.dtype
        self._header = _header(metadata)
        self._row_bytes = metadata.n_partitions * self.dtype.itemsize
        self._labels = PositionedFile(folder / _LABELS, writable=writable)
        self._checksums = PositionedFile(folder / _CHECKSUMS, writable=writable)
        self._check_sizes()
        self.records = np.empty((metadata.n_chunks, 2), "<u4")
        self.reload()

    @staticmethod
    def allocate(folder: Path, metadata: StoreMetadata) -> None:
        """Make both files, of full length and with nothing in them yet."""
        header = _header(metadata)
        n_bytes = metadata.n_samples * metadata.n_partitions * metadata.dtype.itemsize
        with open(folder / _LABELS, "wb") as file:
            file.write(header)
            file.truncate(len(header) + n_bytes)
        with open(folder / _CHECKSUMS, "wb") as file:
            file.truncate(8 * metadata.n_chunks)

    @staticmethod
    def exist(folder: Path) -> bool:
        return (folder / _LABELS).exists()

    def reload(self) -> None:
        """Read the checksums, which other processes may have added to."""
        self._checksums.read(self.records, 0)
        expected = self._metadata.checksums_crc32
        known = np.isin(self.records[:, _WRITTEN], (0, 1)).all()
        if not known or (expected is not None and checksum(self.records) != expected):
            raise InvalidStoreError(
                f"{self._checksums.path} is damaged: it does not match its own checksum. Restore "
                "it from a copy."
            )

    @property
    def written(self) -> NDArray[np.bool_]:
        """Which chunks are there."""
        return self.records[:, _WRITTEN] == 1

    def read_rows(self, start: int, target: NDArray[Any]) -> None:
        """Fill `target` with the rows from `start` on, unchecked."""
        self._labels.read(target, len(self._header) + start * self._row_bytes)

    def check(self, chunk: int, rows: NDArray[Any]) -> None:
        """Refuse the rows of a whole chunk if they are not those that were written."""
        if checksum(rows) != self.records[chunk, _CRC]:
            start, stop = self._metadata.chunk_rows(chunk)
            raise InvalidStoreError(
                f"{self._labels.path} is damaged: rows {start} to {stop - 1} do not match their "
                "checksum. Restore the store from a copy or make it again."
            )

    def write_chunk(self, chunk: int, rows: NDArray[Any]) -> None:
        """Write the rows of a whole chunk, then its checksum."""
        with explained(self._labels.path, "Chunks written before are untouched."):
            start = self._metadata.chunk_rows(chunk)[0]
            self._labels.write(rows, len(self._header) + start * self._row_bytes)
            record = np.asarray([checksum(rows), 1], "<u4")
            self._checksums.write(record, 8 * chunk)
        self.records[chunk] = record

    def settle(self) -> int:
        """Force everything to the disk; returns the checksum of the checksums."""
        with explained(self._labels.path, "Chunks written before are untouched."):
            self._labels.flush_to_disk()
            self._checksums.flush_to_disk()
        return checksum(self.records)

    def close(self) -> None:
        self._labels.close()
        self._checksums.close()

    def _check_sizes(self) -> None:
        expected = len(self._header) + self._metadata.n_samples * self._row_bytes
        for file, size in (
            (self._labels, expected),
            (self._checksums, 8 * self._metadata.n_chunks),
        ):
            if file.size != size:
                what = "truncated" if file.size < size else "longer than it was written"
                raise InvalidStoreError(
                    f"{file.path} is {what}: {file.size} bytes instead of {size}. Restore it from "
                    "a copy."
                )
        found = np.empty(len(self._header), np.uint8)
        self._labels.read(found, 0)
        if found.tobytes() != self._header:
            raise InvalidStoreError(
                f"{self._labels.path} is damaged: its header does not say what {self.dtype} labels "
                f"of shape ({self._metadata.n_samples}, {self._metadata.n_partitions}) have."
            )


def _header(metadata: StoreMetadata) -> bytes:
    return npy_header(metadata.dtype, (metadata.n_samples, metadata.n_partitions))
