"""Bytes at a place in a file, and the header that makes raw labels a `.npy` file."""

from __future__ import annotations

import io
import os
import threading
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.exceptions import InvalidStoreError

__all__ = ["PlacedFile", "bytes_of", "checksum", "npy_header"]


def npy_header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """The header NumPy writes before a row-major array of this type and shape."""
    buffer = io.BytesIO()
    fields = {"descr": dtype.newbyteorder("<").str, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, fields)
    return buffer.getvalue()


def bytes_of(array: NDArray[Any]) -> memoryview:
    """The bytes of a contiguous array, not copied."""
    return array.reshape(-1).view(np.uint8).data


def checksum(array: NDArray[Any], so_far: int = 0) -> int:
    """CRC-32 of a contiguous array; at 3 GB/s it keeps up with reading from memory."""
    return zlib.crc32(bytes_of(array), so_far)


class PlacedFile:
    """A file that several threads and processes read and write at places of their own."""

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
        """Fill a contiguous array with the bytes at `offset`; refuses a file that ends before."""
        rest = bytes_of(target)
        while len(rest):
            got = self._read_some(rest, offset)
            if got == 0:
                raise InvalidStoreError(
                    f"{self.path} ends at byte {offset} where {len(rest)} more were expected: it "
                    "is truncated. Restore it from a copy."
                )
            rest, offset = rest[got:], offset + got

    def write(self, source: NDArray[Any], offset: int) -> None:
        """Put the bytes of a contiguous array at `offset`."""
        rest = bytes_of(source)
        while len(rest):
            put = self._write_some(rest, offset)
            rest, offset = rest[put:], offset + put

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

    else:  # a system without positioned access: threads take turns

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
