"""Names of the samples of a store: one JSON value per line, read and written in blocks.

The last line holds the number of names and their checksum.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from partita._atomic import explained
from partita._json import json_default
from partita.exceptions import InvalidStoreError

__all__ = ["SampleIdFile", "has_sample_ids", "read_sample_ids"]

_FILE = "sample_ids.jsonl"


def has_sample_ids(folder: Path) -> bool:
    """Return whether the names of the samples have been written."""
    return (folder / _FILE).is_file()


class SampleIdFile:
    """A file that names are appended to, in order; it appears under its name with `finish`."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / _FILE
        self._partial = folder / f".{_FILE}.partial"
        with self._explained():
            self._file = open(self._partial, "wb")  # noqa: SIM115 (closed in `finish`)
        self.count = 0
        self._crc = 0

    def append(self, ids: Iterable[Any]) -> None:
        """Write more names."""
        lines = [json.dumps(value, default=json_default) for value in ids]
        data = "".join(f"{line}\n" for line in lines).encode()
        with self._explained():
            self._file.write(data)
        self.count += len(lines)
        self._crc = zlib.crc32(data, self._crc)

    def finish(self) -> None:
        """Write the last line and give the file its name."""
        with self._explained():
            self._file.write(_end(self.count, self._crc))
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            os.replace(self._partial, self._path)

    def _explained(self) -> Any:
        return explained(self._path, "The labels of the store are untouched.")


def read_sample_ids(folder: Path, n_samples: int, block_size: int) -> Iterator[list[Any]]:
    """Iterate over lists of at most `block_size` names; check them at the end."""
    path = folder / _FILE
    if not path.is_file():
        raise InvalidStoreError(f"{path} is missing: the store is damaged.")
    crc = 0
    n_left = n_samples
    with open(path, "rb") as file:
        while n_left:
            lines = list(islice(file, min(block_size, n_left)))
            if not lines:
                raise InvalidStoreError(f"{path} is truncated: {n_left} names are missing.")
            for line in lines:
                crc = zlib.crc32(line, crc)
            n_left -= len(lines)
            yield [_value(line, path) for line in lines]
        end = file.read()
    if end != _end(n_samples, crc):
        raise InvalidStoreError(
            f"{path} is damaged: its {n_samples} names do not match their checksum. Restore it "
            "from a copy."
        )


def _end(count: int, crc32: int) -> bytes:
    return (json.dumps({"count": count, "crc32": crc32}) + "\n").encode()


def _value(line: bytes, path: Path) -> Any:
    try:
        return json.loads(line)
    except ValueError as error:
        raise InvalidStoreError(f"{path} is damaged: {error}.") from error
