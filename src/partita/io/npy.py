"""`.npy` files: rows at any place of a file, and labels block by block."""

from __future__ import annotations

import io
import mmap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._warn import warn_user
from partita.exceptions import InvalidEnsembleError
from partita.io._blocks import Block, Selection, TableBlocks, TableHeader

__all__ = ["NpyRows", "npy_header", "read_blocks", "write_blocks"]

_MAX_READ_BYTES = 1 << 23
_MAX_GAP_BYTES = 1 << 16  # between two rows: reading so much is cheaper than skipping it


@dataclass(frozen=True)
class NpyRows:
    """A two-dimensional array in a file.

    Rows are read, not mapped, so memory does not grow with the part of the file that was visited.
    """

    path: Path
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    offset: int  # of the first entry in the file, in bytes
    by_columns: bool = False  # whether the array is in Fortran order

    @classmethod
    def of(
        cls,
        source: str | Path | np.memmap[Any, Any],
        *,
        vector_as_column: bool = False,
        start: int = 0,
    ) -> NpyRows:
        """Open a path, or a whole array that `np.load(path, mmap_mode="r")` mapped.

        A one-dimensional array is an error unless `vector_as_column` is true. In the file of a
        path, the array begins at byte `start`.
        """
        if isinstance(source, np.memmap):
            whole: Any = source.base  # the base of a slice is the mapped array, not the map
            if not isinstance(whole, mmap.mmap):
                raise ValueError(
                    "Expected a whole memory-mapped file, got a part of one. Pass the file's path."
                )
            by_columns = not source.flags.c_contiguous
            file: Any = source.filename
            rows = cls(Path(file), source.dtype, source.shape, int(source.offset), by_columns)
        else:
            rows = cls._from_header(Path(source).absolute(), start)
        if vector_as_column and len(rows.shape) == 1:
            rows = replace(rows, shape=(rows.shape[0], 1))
        if len(rows.shape) != 2 or 0 in rows.shape:
            raise ValueError(
                f"Expected a two-dimensional array with rows and columns in {str(rows.path)!r}, "
                f"got shape {rows.shape}."
            )
        n_bytes = rows.offset + rows.shape[0] * rows.shape[1] * rows.dtype.itemsize
        if rows.path.stat().st_size < n_bytes:
            raise ValueError(
                f"{str(rows.path)!r} is truncated: {rows.path.stat().st_size} bytes instead of "
                f"{n_bytes}."
            )
        return rows

    @classmethod
    def _from_header(cls, path: Path, start: int) -> NpyRows:
        with open(path, "rb") as file:
            file.seek(start)
            try:
                version = np.lib.format.read_magic(file)
                read = (
                    np.lib.format.read_array_header_1_0
                    if version == (1, 0)
                    else np.lib.format.read_array_header_2_0
                )
                shape, by_columns, dtype = read(file)
            except ValueError as error:
                raise ValueError(
                    f"{str(path)!r} is not a .npy file: {error}. Other files, such as a pickle, "
                    "are never opened."
                ) from error
            if dtype.hasobject:
                raise ValueError(
                    f"{str(path)!r} holds Python objects (a pickle), which could run any program "
                    "when read and is therefore never opened. Save numbers or text: "
                    "np.save(path, labels.astype(str))."
                )
            return cls(path, dtype, shape, file.tell(), by_columns)

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Return rows start..stop-1."""
        n, width = self.shape
        if not self.by_columns:
            return self._read_entries(start * width, (stop - start) * width).reshape(-1, width)
        rows = np.empty((stop - start, width), self.dtype)
        for i in range(width):
            rows[:, i] = self._read_entries(i * n + start, stop - start)
        return rows

    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Return rows by index, which must ascend; small gaps between them are read too."""
        taken = np.empty((len(rows), self.shape[1]), self.dtype)
        row_bytes = self.shape[1] * self.dtype.itemsize
        max_rows = max(1, _MAX_READ_BYTES // row_bytes)
        breaks = np.flatnonzero(np.diff(rows) > max(1, _MAX_GAP_BYTES // row_bytes)) + 1
        for first, last in zip([0, *breaks], [*breaks, len(rows)], strict=True):
            done = int(first)
            while done < last:
                start = int(rows[done])
                end = done + int(np.searchsorted(rows[done:last], start + max_rows))
                taken[done:end] = self.read(start, int(rows[end - 1]) + 1)[rows[done:end] - start]
                done = end
        return taken

    def _read_entries(self, first: int, count: int) -> NDArray[Any]:
        offset = self.offset + first * self.dtype.itemsize
        entries = np.fromfile(self.path, self.dtype, count, offset=offset)
        if len(entries) < count:
            raise ValueError(f"{str(self.path)!r} has become shorter while it was read.")
        return entries


@contextmanager
def read_blocks(
    path: Path, selection: Selection, cells_per_block: int | None = None
) -> Iterator[TableBlocks]:
    """Open a matrix or a vector; its columns are called partition_0, partition_1, ..."""
    try:
        rows = NpyRows.of(path, vector_as_column=True)
    except ValueError as error:
        raise InvalidEnsembleError(str(error)) from error
    n_samples, width = rows.shape
    all_names = [f"partition_{i}" for i in range(width)]
    names = selection.choose(all_names, str(path))
    place_of = {name: place for place, name in enumerate(all_names)}
    places = [place_of[name] for name in names]
    id_place = None if selection.id_column is None else place_of[selection.id_column]
    step = n_samples if cells_per_block is None else max(1, cells_per_block // width)

    def blocks() -> Iterator[Block]:
        for start in range(0, n_samples, step):
            block = rows.read(start, min(start + step, n_samples))
            ids = None if id_place is None else block[:, id_place].tolist()
            yield Block([block[:, place] for place in places], ids)

    yield TableBlocks(names, blocks(), selection.id_column, n_samples)


def write_blocks(path: Path, header: TableHeader, blocks: Iterable[Block]) -> None:
    """Write a matrix, or a vector if there is one column.

    The entries are whole numbers with -1 for a missing one, floats with NaN, or text with "".
    """
    if header.id_name is not None:
        warn_user(
            "An .npy file holds neither sample ids nor names of columns; a store, .npz, parquet "
            "and CSV do."
        )
    dtype, missing = _entry_type(header.values)
    width = len(header.names)
    shape = (header.n_samples,) if width == 1 else (header.n_samples, width)
    with open(path, "wb") as file:
        file.write(npy_header(dtype, shape))
        for block in blocks:
            columns = [_filled(column, dtype, missing) for column in block.columns]
            file.write(np.column_stack(columns).tobytes())


def _entry_type(columns: list[NDArray[Any]]) -> tuple[np.dtype[Any], Any]:
    """Return a type for the values of all columns, and what stands for a missing one."""
    kinds = {column.dtype.kind for column in columns}
    if kinds <= {"i", "u", "f"}:
        numbers = [np.ma.compressed(column) for column in columns]
        if "f" in kinds or any((n == -1).any() for n in numbers):
            return np.dtype(np.float64), np.nan
        ends = [int(end) for n in numbers if len(n) for end in (n.min(), n.max())]
        largest = max(map(abs, ends), default=0)
        if largest < 2**63:
            return np.dtype(np.int32 if largest < 2**31 else np.int64), -1
    texts = {str(v) for column in columns for v in column.tolist() if v is not None}
    if "" in texts:
        raise InvalidEnsembleError(
            "A cluster is called '', which a matrix of text needs for missing labels. Write a "
            "store or parquet instead."
        )
    return np.dtype(f"<U{max(map(len, texts), default=1)}"), ""


def _filled(column: NDArray[Any], dtype: np.dtype[Any], missing: Any) -> NDArray[Any]:
    if dtype.kind == "U":
        return np.asarray(["" if v is None else str(v) for v in column.tolist()], dtype)
    if isinstance(column, np.ma.MaskedArray):
        return np.ma.filled(column.astype(dtype), missing)
    return column.astype(dtype)


def npy_header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """Return the header that NumPy writes before a row-major array of this type and shape."""
    buffer = io.BytesIO()
    fields = {"descr": dtype.newbyteorder("<").str, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, fields)
    return buffer.getvalue()
