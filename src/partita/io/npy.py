"""Rows of a `.npy` file, read where they lie: nothing is mapped, so memory does not grow."""

from __future__ import annotations

import mmap
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["NpyRows"]

_SPAN = 1 << 23  # bytes read at once
_GAP = 1 << 16  # bytes between two rows that are cheaper to read than to skip


@dataclass(frozen=True)
class NpyRows:
    """A two-dimensional array in a file: where it starts and how it lies. Pickles as that."""

    path: Path
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    offset: int
    by_columns: bool = False  # Fortran order

    @classmethod
    def of(
        cls, source: str | Path | np.memmap[Any, Any], *, vector_as_column: bool = False
    ) -> NpyRows:
        """From a path, or from a whole array that `np.load(path, mmap_mode="r")` mapped."""
        if isinstance(source, np.memmap):
            whole: Any = source.base  # of a part of a mapped array, this is that array
            if not isinstance(whole, mmap.mmap):
                raise ValueError(
                    "Expected a whole memory-mapped file, got a part of one. Pass the file's path."
                )
            by_columns = not source.flags.c_contiguous
            file: Any = source.filename
            found = cls(Path(file), source.dtype, source.shape, int(source.offset), by_columns)
        else:
            found = cls._from_header(Path(source).absolute())
        if vector_as_column and len(found.shape) == 1:
            found = replace(found, shape=(found.shape[0], 1))
        if len(found.shape) != 2 or 0 in found.shape:
            raise ValueError(
                f"Expected a two-dimensional array with rows and columns in {str(found.path)!r}, "
                f"got shape {found.shape}."
            )
        n_bytes = found.offset + found.shape[0] * found.shape[1] * found.dtype.itemsize
        if found.path.stat().st_size < n_bytes:
            raise ValueError(
                f"{str(found.path)!r} is truncated: {found.path.stat().st_size} bytes instead of "
                f"{n_bytes}."
            )
        return found

    @classmethod
    def _from_header(cls, path: Path) -> NpyRows:
        with open(path, "rb") as file:
            try:
                version = np.lib.format.read_magic(file)
                read = (
                    np.lib.format.read_array_header_1_0
                    if version == (1, 0)
                    else np.lib.format.read_array_header_2_0
                )
                shape, by_columns, dtype = read(file)
            except ValueError as error:
                raise ValueError(f"{str(path)!r} is not a .npy file: {error}.") from error
            if dtype.hasobject:
                raise ValueError(
                    f"{str(path)!r} holds Python objects, which are not read from files. Save "
                    "numbers or text."
                )
            return cls(path, dtype, shape, file.tell(), by_columns)

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Rows start..stop-1."""
        n, width = self.shape
        if not self.by_columns:
            rows = np.empty((stop - start, width), self.dtype)
            self._fill(rows, start * width)
            return rows
        columns = np.empty((width, stop - start), self.dtype)
        for i in range(width):
            self._fill(columns[i], i * n + start)
        return np.ascontiguousarray(columns.T)

    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Some rows, whose numbers ascend; what lies between them is read where it is little."""
        taken = np.empty((len(rows), self.shape[1]), self.dtype)
        row_bytes = self.shape[1] * self.dtype.itemsize
        at_most = max(1, _SPAN // row_bytes)
        breaks = np.flatnonzero(np.diff(rows) > max(1, _GAP // row_bytes)) + 1
        for first, last in zip([0, *breaks], [*breaks, len(rows)], strict=True):
            done = int(first)
            while done < last:
                start = int(rows[done])
                end = done + int(np.searchsorted(rows[done:last], start + at_most))
                taken[done:end] = self.read(start, int(rows[end - 1]) + 1)[rows[done:end] - start]
                done = end
        return taken

    def _fill(self, target: NDArray[Any], first: int) -> None:
        with open(self.path, "rb", buffering=0) as file:
            file.seek(self.offset + first * self.dtype.itemsize)
            rest = target.reshape(-1).view(np.uint8).data
            while len(rest):
                got = file.readinto(rest)
                if not got:
                    raise ValueError(f"{str(self.path)!r} has become shorter while it was read.")
                rest = rest[got:]
