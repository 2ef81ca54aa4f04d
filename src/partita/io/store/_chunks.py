"""The row-major codes of a store and their checksums, a chunk of rows at a time.

`labels.npy` has its full length from the start. `checksums.bin` holds two numbers per chunk: the
CRC-32 of its bytes and whether it has been written. The codes of a chunk are written before its
checksum, so a chunk that is marked as written is complete, or its checksum does not match.
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
_AFTER_FAILURE = "Chunks written before are untouched."


class LabelChunks:
    """Chunks of rows in the files of a store.

    With `checked`, a chunk is compared with its checksum the first time it is read.
    """

    def __init__(
        self,
        folder: Path,
        metadata: StoreMetadata,
        *,
        checked: bool = True,
        writable: bool = False,
    ) -> None:
        self.metadata = metadata
        self._header = _header(metadata)
        self._row_bytes = metadata.n_partitions * metadata.dtype.itemsize
        self._labels = PositionedFile(folder / _LABELS, writable=writable)
        self._checksums = PositionedFile(folder / _CHECKSUMS, writable=writable)
        self._check_sizes()
        self._records = np.empty((metadata.n_chunks, 2), "<u4")
        self.reload()
        self._unchecked = self.written & checked

    @staticmethod
    def allocate(folder: Path, metadata: StoreMetadata) -> None:
        """Make both files in their full length."""
        header = _header(metadata)
        n_bytes = metadata.n_samples * metadata.n_partitions * metadata.dtype.itemsize
        with open(folder / _LABELS, "wb") as file:
            file.write(header)
            file.truncate(len(header) + n_bytes)
        with open(folder / _CHECKSUMS, "wb") as file:
            file.truncate(8 * metadata.n_chunks)

    @staticmethod
    def exist(folder: Path) -> bool:
        """Return whether the files are there."""
        return (folder / _LABELS).exists()

    def reload(self) -> None:
        """Read the checksums again; other processes may have written chunks."""
        self._checksums.read(self._records, 0)
        expected = self.metadata.checksums_crc32
        is_valid = np.isin(self._records[:, _WRITTEN], (0, 1)).all()
        if not is_valid or (expected is not None and checksum(self._records) != expected):
            raise InvalidStoreError(
                f"{self._checksums.path} is damaged: it does not match its own checksum. Restore "
                "it from a copy."
            )

    @property
    def written(self) -> NDArray[np.bool_]:
        """Which chunks have been written."""
        return self._records[:, _WRITTEN] == 1

    def read(self, start: int, rows: NDArray[Any]) -> None:
        """Fill `rows` with the rows from `start` on; rows not written yet are missing."""
        stop = start + len(rows)
        if start == stop:
            return
        self._read_rows(start, rows)
        per_chunk = self.metadata.rows_per_chunk
        for chunk in range(start // per_chunk, (stop - 1) // per_chunk + 1):
            low, high = self.metadata.chunk_rows(chunk)
            part = rows[max(low, start) - start : min(high, stop) - start]
            if not self.written[chunk]:
                part[...] = np.iinfo(rows.dtype).max
            elif self._unchecked[chunk]:
                whole = part
                if len(part) < high - low:
                    whole = np.empty((high - low, *rows.shape[1:]), rows.dtype)
                    self._read_rows(low, whole)
                self._check(chunk, whole)
                if whole is not part:  # return the bytes that were checked
                    first = max(low, start) - low
                    part[...] = whole[first : first + len(part)]
                self._unchecked[chunk] = False

    def _read_rows(self, start: int, rows: NDArray[Any]) -> None:
        self._labels.read(rows, len(self._header) + start * self._row_bytes)

    def _check(self, chunk: int, rows: NDArray[Any]) -> None:
        if checksum(rows) != self._records[chunk, _CRC]:
            start, stop = self.metadata.chunk_rows(chunk)
            raise InvalidStoreError(
                f"{self._labels.path} is damaged: rows {start} to {stop - 1} do not match their "
                "checksum. Restore the store from a copy or make it again."
            )

    def absent(self) -> str:
        """Return a description of what has not been written; "" if nothing is absent."""
        absent = np.flatnonzero(~self.written).tolist()
        if not absent:
            return ""
        bounds = [self.metadata.chunk_rows(chunk) for chunk in absent]
        n_rows = sum(stop - start for start, stop in bounds)
        return (
            f"{n_rows} of {self.metadata.n_samples} rows have not been written "
            f"(first: {bounds[0][0]})"
        )

    def write_chunk(self, chunk: int, rows: NDArray[Any]) -> None:
        """Write the rows of a whole chunk, then its checksum."""
        with explained(self._labels.path, _AFTER_FAILURE):
            start = self.metadata.chunk_rows(chunk)[0]
            self._labels.write(rows, len(self._header) + start * self._row_bytes)
            record = np.asarray([checksum(rows), 1], "<u4")
            self._checksums.write(record, 8 * chunk)
        self._records[chunk] = record

    def flush(self) -> int:
        """Force everything to the disk and return the checksum of the checksums."""
        with explained(self._labels.path, _AFTER_FAILURE):
            self._labels.flush_to_disk()
            self._checksums.flush_to_disk()
        return checksum(self._records)

    def close(self) -> None:
        """Close the files."""
        self._labels.close()
        self._checksums.close()

    def _check_sizes(self) -> None:
        metadata = self.metadata
        n_bytes = len(self._header) + metadata.n_samples * self._row_bytes
        for file, size in ((self._labels, n_bytes), (self._checksums, 8 * metadata.n_chunks)):
            if file.size != size:
                what = "truncated" if file.size < size else "longer than it was written"
                raise InvalidStoreError(
                    f"{file.path} is {what}: {file.size} bytes instead of {size}. Restore it from "
                    "a copy."
                )
        header = np.empty(len(self._header), np.uint8)
        self._labels.read(header, 0)
        if header.tobytes() != self._header:
            raise InvalidStoreError(
                f"{self._labels.path} is damaged: its header is not that of {metadata.dtype} "
                f"labels of shape ({metadata.n_samples}, {metadata.n_partitions})."
            )


def _header(metadata: StoreMetadata) -> bytes:
    return npy_header(metadata.dtype, (metadata.n_samples, metadata.n_partitions))
