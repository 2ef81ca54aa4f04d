"""`LabelStore`: an ensemble in a folder, whose rows are never all in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from partita._memory import describe_bytes
from partita._validation import name_array
from partita.exceptions import InvalidStoreError
from partita.store._metadata import StoreMetadata
from partita.store._sample_ids import has_sample_ids, read_sample_ids
from partita.store._sources import source_of
from partita.store.label_writer import LabelWriter

__all__ = ["LabelStore"]

_IDS_AT_ONCE = 1 << 16
_BYTES_PER_CALL = 1 << 15  # that are read in the time of a call


class LabelStore:
    """Labels of many samples in many partitions, in a folder on disk.

    Rows are read a block at a time into memory that is used again; the file is not mapped, so that
    memory stays the same however many rows there are. Every chunk of rows is compared with its
    checksum the first time it is read, and a file that was cut, extended or altered raises
    `InvalidStoreError`. Reading is safe from several threads, and a pickled store opens itself
    again by its path, in another process too.

    Parameters
    ----------
    path : folder
    checked : bool, default=True
        Whether checksums are compared. False saves a third of a second per gigabyte.

    Attributes
    ----------
    path : Path
    n_samples, n_partitions : int
    n_clusters : int64 array of shape (n_partitions,)
        K_i; 0 for a partition nothing is known of yet.
    offsets : int64 array of shape (n_partitions + 1,)
        Where each partition's clusters start when all are numbered through.
    dtype, missing
        Type of the codes, and the code that stands for "no label".
    is_complete : bool
        What has not been written reads as missing; open the store again to see more of it.

    Examples
    --------
    >>> import tempfile
    >>> from partita import LabelStore
    >>> folder = tempfile.mkdtemp() + "/labels"
    >>> writer = LabelStore.create(folder, n_samples=4, categories=[["a", "b"], [7, 8, 9]])
    >>> writer.write(0, [[0, 0], [0, 1]])
    >>> writer.write(2, [[1, 2], [1, -1]])
    >>> writer.finish()
    >>> store = LabelStore.open(folder)
    >>> store
    LabelStore(4 samples, 2 partitions, 2 to 3 clusters each, 8 bytes of uint8)
    >>> store.read(1, 4)
    array([[  0,   1],
           [  1,   2],
           [  1, 255]], dtype=uint8)
    """

    def __init__(self, path: str | Path, *, checked: bool = True) -> None:
        self.path = Path(path).absolute()
        self.checked = checked
        stored = StoreMetadata.load(self.path)
        self._source = source_of(self.path, stored, checked=checked)
        self._metadata = self._source.metadata

    @classmethod
    def open(cls, path: str | Path, *, checked: bool = True) -> Self:
        """Open a store, complete or not."""
        return cls(path, checked=checked)

    @classmethod
    def create(
        cls,
        path: str | Path,
        n_samples: int,
        categories: Sequence[Any] | None = None,
        *,
        n_clusters: Any = None,
        n_partitions: int | None = None,
        partition_names: Sequence[str] | None = None,
        provenance: Mapping[str, Any] | None = None,
        rows_per_chunk: int | None = None,
    ) -> LabelWriter:
        """Make a new store and return its writer.

        Pass one of `categories`, `n_clusters` and `n_partitions`.

        Parameters
        ----------
        path : folder
            Must not exist, or be empty; its parent must exist.
        n_samples : int
        categories : sequence of arrays, optional
            The label that every code 0..K_i-1 stands for, per partition.
        n_clusters : sequence of int, optional
            K_i, where the labels are the codes themselves.
        n_partitions : int, optional
            Only their number: `write_column` will say the rest.
        partition_names : sequence of str, optional
        provenance : mapping, optional
            Where the labels come from, in words.
        rows_per_chunk : int, optional
            Rows that share a checksum; by default about four megabytes of them.
        """
        return LabelWriter.create(
            path,
            n_samples,
            categories,
            n_clusters=n_clusters,
            n_partitions=n_partitions,
            partition_names=partition_names,
            provenance=provenance,
            rows_per_chunk=rows_per_chunk,
        )

    @classmethod
    def resume(cls, path: str | Path) -> LabelWriter:
        """A writer that goes on with an incomplete store."""
        return LabelWriter(path)

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self.path, self.checked, self._metadata)

    # -- shape -------------------------------------------------------------------------------

    @property
    def n_samples(self) -> int:
        return self._metadata.n_samples

    @property
    def n_partitions(self) -> int:
        return self._metadata.n_partitions

    @property
    def rows_per_chunk(self) -> int:
        """Rows that share a checksum: blocks of a multiple of it are read without a detour."""
        return self._metadata.rows_per_chunk

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._metadata.dtype

    @property
    def missing(self) -> int:
        """The code that stands for "no label"."""
        return int(np.iinfo(self.dtype).max)

    @property
    def is_complete(self) -> bool:
        return self._metadata.is_complete

    @property
    def fingerprint(self) -> str:
        """The checksum of all checksums of a complete store, in hexadecimal."""
        self.require_complete()
        return f"{self._metadata.checksums_crc32:08x}"

    @cached_property
    def n_clusters(self) -> NDArray[np.int64]:
        """Clusters in each partition, K_i."""
        return np.asarray([p.n_clusters or 0 for p in self._metadata.partitions], np.int64)

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where each partition's clusters start when all are numbered through; last: their sum."""
        return np.concatenate([[0], np.cumsum(self.n_clusters)])

    @property
    def n_all_clusters(self) -> int:
        """Clusters in all partitions together, L."""
        return int(self.offsets[-1])

    # -- names -------------------------------------------------------------------------------

    @cached_property
    def categories(self) -> tuple[NDArray[Any], ...]:
        """The original label of every code, per partition."""
        return tuple(p.labels() for p in self._metadata.partitions)

    @cached_property
    def partition_names(self) -> NDArray[Any] | None:
        names = [p.name for p in self._metadata.partitions]
        return None if None in names else np.asarray(names, dtype=object)

    @property
    def provenance(self) -> dict[str, Any]:
        """Where the labels come from, in words."""
        return dict(self._metadata.provenance)

    @property
    def partition_provenance(self) -> list[dict[str, Any]]:
        """Where each partition comes from, in words."""
        return [dict(p.provenance) for p in self._metadata.partitions]

    @property
    def has_sample_ids(self) -> bool:
        return self._metadata.has_sample_ids or (not self.is_complete and has_sample_ids(self.path))

    @cached_property
    def sample_ids(self) -> NDArray[Any] | None:
        """Names of the samples, read when first asked for; they are then all in memory."""
        if not self.has_sample_ids:
            return None
        return name_array([name for names in self.iter_sample_ids() for name in names])

    def iter_sample_ids(self, at_once: int = _IDS_AT_ONCE) -> Iterator[list[Any]]:
        """Names of the samples in order, at most `at_once` in memory."""
        return read_sample_ids(self.path, self.n_samples, at_once)

    # -- rows --------------------------------------------------------------------------------

    def blocks(self, rows: int | None = None) -> list[tuple[int, int]]:
        """(start, stop) of blocks of `rows` rows that cover all; by default a chunk each."""
        rows = self.rows_per_chunk if rows is None else rows
        if rows < 1:
            raise ValueError(f"Blocks must have at least one row, got rows={rows}.")
        return [(i, min(i + rows, self.n_samples)) for i in range(0, self.n_samples, rows)]

    def read(self, start: int, stop: int, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Rows start..stop-1, shape (stop - start, n_partitions).

        Parameters
        ----------
        start, stop : int
        out : array, optional
            Contiguous, of the store's `dtype`, with `n_partitions` columns and at least as many
            rows: they are read into it and a view of its first rows is returned.
        """
        if not 0 <= start <= stop <= self.n_samples:
            raise IndexError(f"No rows {start}:{stop} in a store of {self.n_samples} rows.")
        shape = (stop - start, self.n_partitions)
        if out is None:
            out = np.empty(shape, self.dtype)
        elif (
            out.dtype != self.dtype
            or out.ndim != 2
            or out.shape[1] != shape[1]
            or len(out) < shape[0]
            or not out.flags.c_contiguous
        ):
            raise ValueError(
                f"out must be a contiguous {self.dtype} array of at least {shape[0]} rows and "
                f"{shape[1]} columns, got {out.dtype} of shape {out.shape}."
            )
        rows = out[: shape[0]]
        self._source.read(start, rows)
        return rows

    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Some rows by number, in the order asked for."""
        taken = np.empty((len(rows), self.n_partitions), self.dtype)
        if not len(rows):
            return taken
        order = np.argsort(rows, kind="stable")
        chunks = rows[order] // self.rows_per_chunk
        row_bytes = self.n_partitions * self.dtype.itemsize
        for places in np.split(order, np.flatnonzero(np.diff(chunks)) + 1):
            first, last = int(rows[places[0]]), int(rows[places[-1]])
            if (last - first) * row_bytes <= _BYTES_PER_CALL * len(places):
                taken[places] = self.read(first, last + 1)[rows[places] - first]
            else:
                for place in places.tolist():
                    row = int(rows[place])
                    self.read(row, row + 1, taken[place : place + 1])
        return taken

    def verify(self) -> None:
        """Compare everything with its checksum, whatever has been read before."""
        fresh = LabelStore(self.path)
        out = np.empty((fresh.rows_per_chunk, fresh.n_partitions), fresh.dtype)
        for start, stop in fresh.blocks():
            fresh.read(start, stop, out)
        if fresh.has_sample_ids:
            for _ in fresh.iter_sample_ids():
                pass

    def require_complete(self) -> None:
        """Raise `InvalidStoreError` if something has not been written yet."""
        if not self.is_complete:
            absent = self._source.absent() or "all labels are there, but `finish` has not run"
            raise InvalidStoreError(
                f"The store {self.path} is not complete: {absent}. Finish writing it first."
            )

    def close(self) -> None:
        """Give file handles back; the store cannot be read from afterwards."""
        self._source.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return self.n_samples

    def __repr__(self) -> str:
        low, high = int(self.n_clusters.min()), int(self.n_clusters.max())
        size = self.n_samples * self.n_partitions * self.dtype.itemsize
        parts = [
            f"{self.n_samples} samples",
            f"{self.n_partitions} partition{'s' * (self.n_partitions != 1)}",
            f"{low if low == high else f'{low} to {high}'} clusters each",
            f"{describe_bytes(size)} of {self.dtype}",
        ]
        if not self.is_complete:
            parts.append("not complete")
        return f"LabelStore({', '.join(parts)})"


def _reopen(path: Path, checked: bool, expected: StoreMetadata) -> LabelStore:
    store = LabelStore(path, checked=checked)
    if expected.is_complete and store._metadata != expected:
        raise InvalidStoreError(
            f"The store {path} is not the one that was pickled: it has been replaced since."
        )
    return store
