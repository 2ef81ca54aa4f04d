"""Columns that wait to become rows of a store: one file per partition.

Processes that make partitions write different files, each complete or absent, so they need not
communicate, and a partition that was interrupted is simply absent.
"""

from __future__ import annotations

import shutil
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from partita._atomic import write_atomically
from partita.exceptions import InvalidStoreError
from partita.io.positioned_file import PositionedFile, bytes_of, checksum
from partita.io.store._metadata import Partition, StoreMetadata
from partita.io.store._sealed import seal, unseal

__all__ = ["Column", "ColumnRows", "columns_folder", "remove_columns", "written_columns"]

_FOLDER = "columns"
_KIND = "column of a partita label store"
_VERSION = 1
_VERIFIED_ROWS = 1 << 20  # per read


def columns_folder(folder: Path) -> Path:
    """Return the folder of the columns of a store."""
    return folder / _FOLDER


def written_columns(folder: Path) -> list[int]:
    """Return the indices of the partitions whose columns have been written."""
    return sorted(int(path.stem) for path in columns_folder(folder).glob("[0-9]*.column"))


def remove_columns(folder: Path) -> None:
    """Remove the columns of a store."""
    if columns_folder(folder).is_dir():
        shutil.rmtree(columns_folder(folder))


@dataclass(frozen=True)
class Column:
    """The codes of one partition in a file: a sealed line of JSON, then the bytes."""

    path: Path
    partition: Partition
    dtype: np.dtype[Any]
    crc32: int
    offset: int  # of the codes in the file

    @staticmethod
    def write(folder: Path, index: int, codes: NDArray[Any], partition: Partition) -> None:
        """Write the column of partition `index`."""
        head = {
            "n_samples": len(codes),
            "dtype": codes.dtype.newbyteorder("<").str,
            "crc32": checksum(codes),
            "partition": asdict(partition),
        }

        def fill(file: BinaryIO) -> None:
            file.write(seal(_KIND, _VERSION, head))
            file.write(bytes_of(codes))

        columns_folder(folder).mkdir(exist_ok=True)
        write_atomically(_path(folder, index), fill)

    @classmethod
    def open(cls, folder: Path, index: int, n_samples: int) -> Column:
        """Open the column of partition `index`."""
        path = _path(folder, index)
        try:
            with open(path, "rb") as file:
                line = file.readline()
                size = file.seek(0, 2)
        except FileNotFoundError as error:
            raise InvalidStoreError(
                f"{path} is gone: the store has been finished or changed since it was opened. "
                "Open it again."
            ) from error
        head = unseal(line, _KIND, _VERSION, path)
        dtype = np.dtype(head["dtype"])
        if head["n_samples"] != n_samples or size != len(line) + n_samples * dtype.itemsize:
            raise InvalidStoreError(
                f"{path} is damaged: {size} bytes do not hold {n_samples} labels of its type. "
                "Delete it and make this partition again."
            )
        return cls(path, Partition(**head["partition"]), dtype, head["crc32"], len(line))

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Return the codes of some samples, unchecked."""
        codes = np.empty(stop - start, self.dtype)
        file = PositionedFile(self.path)  # not kept open: there may be more columns than handles
        file.read(codes, self.offset + start * self.dtype.itemsize)
        file.close()
        return codes

    def verify(self, n_samples: int) -> None:
        """Raise an error if the codes do not match their checksum."""
        crc32 = 0
        for start in range(0, n_samples, _VERIFIED_ROWS):
            crc32 = checksum(self.read(start, min(start + _VERIFIED_ROWS, n_samples)), crc32)
        if crc32 != self.crc32:
            raise InvalidStoreError(
                f"{self.path} is damaged: its labels do not match their checksum. Delete it and "
                "make this partition again."
            )


class ColumnRows:
    """Rows put together from the columns that have been written when the object is made.

    With `checked`, a column is compared with its checksum the first time it is read.
    """

    def __init__(self, folder: Path, metadata: StoreMetadata, *, checked: bool = True) -> None:
        partitions = list(metadata.partitions)
        self._columns: dict[int, Column] = {}
        for i in written_columns(folder):
            self._columns[i] = Column.open(folder, i, metadata.n_samples)
            partitions[i] = self._columns[i].partition
        self.metadata = replace(metadata, partitions=tuple(partitions))
        self._unchecked = set(self._columns) if checked else set()

    def read(self, start: int, rows: NDArray[Any]) -> None:
        """Fill `rows` with the rows from `start` on; absent columns are missing."""
        missing_code = np.iinfo(rows.dtype).max
        rows[...] = missing_code
        for i, column in self._columns.items():
            if i in self._unchecked:
                column.verify(self.metadata.n_samples)
                self._unchecked.discard(i)
            codes = column.read(start, start + len(rows))
            rows[:, i] = codes
            if codes.dtype != rows.dtype:
                rows[codes == np.iinfo(codes.dtype).max, i] = missing_code

    def absent(self) -> str:
        """Return a description of what has not been written; "" if nothing is absent."""
        absent = [i for i in range(self.metadata.n_partitions) if i not in self._columns]
        if not absent:
            return ""
        return (
            f"{len(absent)} of {self.metadata.n_partitions} partitions have not been written "
            f"(first: {absent[0]})"
        )

    def close(self) -> None:
        """Do nothing: columns are opened for each read."""


def _path(folder: Path, index: int) -> Path:
    return columns_folder(folder) / f"{index:06d}.column"
