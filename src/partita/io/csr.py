"""Rows of a sparse matrix in a `.npz` file, without reading the others."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita.io.npy import NpyRows

__all__ = ["CsrRows"]

_HEADER_BYTES = 30  # of a member of a zip file, before its name
_HOW_TO_SAVE = "Save it with scipy.sparse.save_npz(path, X.tocsr(), compressed=False)."


@dataclass(frozen=True)
class CsrRows:
    """A sparse matrix by rows in a file that `scipy.sparse.save_npz(..., compressed=False)` wrote.

    Such a file is a zip file of the vectors `indptr`, `indices` and `data`, not compressed. Entry p
    of `indptr` is the place of the first value of row p in the other two, so that single rows can
    be read.

    Attributes
    ----------
    path : Path
        The file.
    shape : tuple of int
        Number of rows and columns.
    indptr, indices, data : NpyRows
        The vectors inside the file.
    """

    path: Path
    shape: tuple[int, int]
    indptr: NpyRows
    indices: NpyRows
    data: NpyRows

    @classmethod
    def of(cls, source: str | Path) -> CsrRows:
        """Open a file; no row is read."""
        path = Path(source).absolute()
        try:
            with zipfile.ZipFile(path) as archive:
                members = {member.filename: member for member in archive.infolist()}
                shape = _check_members(path, archive, members)
        except zipfile.BadZipFile as error:
            raise ValueError(
                f"{str(path)!r} is not a .npz file: {error}. {_HOW_TO_SAVE}"
            ) from error
        indptr, indices, data = (
            NpyRows.of(
                path, vector_as_column=True, start=_content_place(path, members[f"{name}.npy"])
            )
            for name in ("indptr", "indices", "data")
        )
        rows = cls(path, shape, indptr, indices, data)
        n_values = int(indptr.read(shape[0], shape[0] + 1)[0, 0])
        if indptr.shape[0] != shape[0] + 1 or not n_values == indices.shape[0] == data.shape[0]:
            raise ValueError(
                f"{str(path)!r} is damaged: its vectors have {indptr.shape[0]}, {indices.shape[0]} "
                f"and {data.shape[0]} entries, expected {shape[0] + 1}, {n_values} and {n_values}."
            )
        return rows

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""
        return self.data.dtype

    @property
    def row_bytes(self) -> int:
        """Bytes that a row takes in memory while it is read, in the mean."""
        n_values = self.data.shape[0]
        # a value, its column, and its place in the file
        return -(-n_values // self.shape[0]) * (self.dtype.itemsize + 4 + 8) + 8

    def take(self, rows: NDArray[np.int64]) -> Any:
        """Return rows by index, which must ascend, as a CSR matrix without stored zeros."""
        ends = np.unique(np.concatenate([rows, rows + 1]))
        places = self.indptr.take(ends)[:, 0].astype(np.int64)
        starts, stops = (places[np.searchsorted(ends, rows + step)] for step in (0, 1))
        lengths = stops - starts
        if lengths.min() < 0:
            raise ValueError(f"{str(self.path)!r} is damaged: indptr descends.")
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        entries = np.arange(indptr[-1]) + np.repeat(starts - indptr[:-1], lengths)
        columns = self.indices.take(entries)[:, 0]
        if len(columns) and not (columns.min() >= 0 and columns.max() < self.shape[1]):
            raise ValueError(
                f"{str(self.path)!r} is damaged: a column index is not between 0 and "
                f"{self.shape[1] - 1}."
            )
        values = self.data.take(entries)[:, 0]
        # scikit-learn's k-means takes 32-bit indices only
        index_type = np.int32 if max(indptr[-1], self.shape[1]) < 2**31 else np.int64
        vectors = values, columns.astype(index_type), indptr.astype(index_type)
        matrix = sp.csr_matrix(vectors, shape=(len(rows), self.shape[1]))
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        return matrix


def _check_members(
    path: Path, archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo]
) -> tuple[int, int]:
    """Check that the members are those of a sparse matrix by rows, and return its shape."""
    names = [f"{name}.npy" for name in ("indptr", "indices", "data", "shape", "format")]
    missing = [name for name in names if name not in members]
    if missing:
        raise ValueError(
            f"{str(path)!r} does not hold a sparse matrix: {', '.join(missing)} is missing. "
            f"{_HOW_TO_SAVE}"
        )
    shape, layout = (_read_small(archive, name) for name in ("shape.npy", "format.npy"))
    text = layout.item()
    text = text.decode("ascii", "replace") if isinstance(text, bytes) else str(text)
    if text != "csr":
        raise ValueError(
            f"{str(path)!r} holds a sparse matrix in the format {text!r}, expected 'csr', which "
            f"can be read by rows. {_HOW_TO_SAVE}"
        )
    if any(members[name].compress_type != zipfile.ZIP_STORED for name in names[:3]):
        raise ValueError(
            f"{str(path)!r} is compressed, so that single rows cannot be read. {_HOW_TO_SAVE}"
        )
    if len(shape) != 2 or 0 in shape.tolist():
        raise ValueError(
            f"Expected a matrix with rows and columns in {str(path)!r}, got shape "
            f"{tuple(shape.tolist())}."
        )
    return int(shape[0]), int(shape[1])


def _read_small(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    with archive.open(name) as member:
        return np.asarray(np.lib.format.read_array(member, allow_pickle=False))


def _content_place(path: Path, member: zipfile.ZipInfo) -> int:
    """Return the place of the content of a member in the zip file."""
    with open(path, "rb") as file:
        file.seek(member.header_offset)
        header = file.read(_HEADER_BYTES)
    # the lengths of the name and of the extra field, which may differ from the central directory
    lengths = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
    return member.header_offset + _HEADER_BYTES + lengths
