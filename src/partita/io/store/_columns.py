"""Columns on their way into a store: one file per partition until all are there.

Processes that make partitions write different files, each whole or not at all, so they need not
know of each other, and a partition that was interrupted is simply not there yet.
"""

from __future__ import annotations

import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from partita._atomic import write_atomically
from partita.exceptions import InvalidStoreError
from partita.io.positioned_file import PositionedFile, bytes_of, checksum
from partita.io.store._metadata import Partition
from partita.io.store._sealed import seal, unseal

__all__ = ["Column", "columns_folder", "remove_columns", "written_columns"]

_FOLDER = "columns"
_KIND = "column of a partita label store"
_VERSION = 1
_VERIFIED_AT_ONCE = 1 << 20


def columns_folder(folder: Path) -> Path:
    return folder / _FOLDER


def written_columns(folder: Path) -> list[int]:
    """Numbers of the partitions whose columns are there."""
    return sorted(int(path.stem) for path in columns_folder(folder).glob("[0-9]*.column"))


def remove_columns(folder: Path) -> None:
    if columns_folder(folder).is_dir():
        shutil.rmtree(columns_folder(folder))


@dataclass(frozen=True)
class Column:
    """The codes of one partition in a file: a sealed line of JSON, then the bytes."""

    path: Path
    partition: Partition
    dtype: np.dtype[Any]
    crc32: int
    start: int  # of the codes in the file

    @staticmethod
    def write(folder: Path, index: int, codes: NDArray[Any], partition: Partition) -> None:
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

    @property
    def missing(self) -> int:
        return int(np.iinfo(self.dtype).max)

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Codes of some samples, unchecked."""
        codes = np.empty(stop - start, self.dtype)
        file = PositionedFile(self.path)  # opened each time: there may be more columns than handles
        file.read(codes, self.start + start * self.dtype.itemsize)
        file.close()
        return codes

    def verify(self, n_samples: int) -> None:
        """Refuse the column if a byte of its codes has changed."""
        found = 0
        for start in range(0, n_samples, _VERIFIED_AT_ONCE):
            found = checksum(self.read(start, min(start + _VERIFIED_AT_ONCE, n_samples)), found)
        if found != self.crc32:
            raise InvalidStoreError(
                f"{self.path} is damaged: its labels do not match their checksum. Delete it and "
                "make this partition again."
            )


def _path(folder: Path, index: int) -> Path:
    return columns_folder(folder) / f"{index:06d}.column"
