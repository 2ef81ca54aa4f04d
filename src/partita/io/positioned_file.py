"""Arrays read from and written to positions of a file."""

from __future__ import annotations

import os
import threading
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.exceptions import InvalidStoreError

__all__ = ["PositionedFile", "bytes_of", "checksum"]


def bytes_of(array: NDArray[Any]) -> memoryview:
    """Return the bytes of a contiguous array, without a copy."""
    return array.reshape(-1).view(np.uint8).data


def checksum(array: NDArray[Any], previous: int = 0) -> int:
    """Return the CRC-32 of a contiguous array; `previous` is that of the data before it."""
    return zlib.crc32(bytes_of(array), previous)


class PositionedFile:
    """A file that several threads and processes may read and write at the same time."""

    def __init__(self, path: Path, *, writable: bool = False) -> None:
        self.path = path
        flags = os.O_RDWR if writable else os.O_RDONLY
        try:
            self._descriptor = os.open(path, flags | getattr(os, "O_BINARY", 0))
        except FileNotFoundError as error:
            raise InvalidStoreError(
                f"{path} is missing: the store is damaged. Restore the file from a copy."
            ) from error
        self._lock = threading.Lock()

    @property
    def size(self) -> int:
        return os.fstat(self._descriptor).st_size

    def read(self, target: NDArray[Any], offset: int) -> None:
        """Fill a contiguous array with the bytes from `offset` on."""
        rest = bytes_of(target)
        while len(rest):
            n_read = self._read_some(rest, offset)
            if n_read == 0:
                raise InvalidStoreError(
                    f"{self.path} ends at byte {offset} where {len(rest)} more were expected: it "
                    "is truncated. Restore it from a copy."
                )
            rest, offset = rest[n_read:], offset + n_read

    def write(self, source: NDArray[Any], offset: int) -> None:
        """Write the bytes of a contiguous array at `offset`."""
        rest = bytes_of(source)
        while len(rest):
            n_written = self._write_some(rest, offset)
            rest, offset = rest[n_written:], offset + n_written

    def flush_to_disk(self) -> None:
        os.fsync(self._descriptor)

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __del__(self) -> None:
        if hasattr(self, "_descriptor"):
            self.close()

    if hasattr(os, "preadv") and hasattr(os, "pwrite"):

        def _read_some(self, target: memoryview, offset: int) -> int:
            return os.preadv(self._descriptor, [target], offset)

        def _write_some(self, source: memoryview, offset: int) -> int:
            return os.pwrite(self._descriptor, source, offset)

    else:  # no positioned access on this system: one thread at a time

        def _read_some(self, target: memoryview, offset: int) -> int:
            with self._lock:
                os.lseek(self._descriptor, offset, os.SEEK_SET)
                data = os.read(self._descriptor, min(len(target), 1 << 24))
            target[: len(data)] = data
            return len(data)

        def _write_some(self, source: memoryview, offset: int) -> int:
            with self._lock:
                os.lseek(self._descriptor, offset, os.SEEK_SET)
                return os.write(self._descriptor, source[: 1 << 24])
