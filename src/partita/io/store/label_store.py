"""`LabelStore`: an ensemble in a folder, whose rows are never all in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from partita._input.coding import name_array
from partita._memory import describe_bytes, require_memory
from partita.ensemble import Ensemble, LabelLayout, as_ensemble
from partita.exceptions import InvalidEnsembleError, InvalidStoreError
from partita.io.store._metadata import StoreMetadata
from partita.io.store._sample_ids import has_sample_ids, read_sample_ids
from partita.io.store._sources import source_of
from partita.io.store.label_writer import LabelWriter

__all__ = ["LabelStore"]

_IDS_AT_ONCE = 1 << 16
_ROWS_AT_ONCE = 1 << 16
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
    layout : LabelLayout
        How to read the codes.
    dtype, missing_code
        Integer type of the codes, and the code of a missing label.
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
    def from_partitions(
        cls, partitions: Any, path: str | Path, *, rows_per_chunk: int | None = None
    ) -> Self:
        """Write a new store with one row per sample and the partitions in the user's order.

        Parameters
        ----------
        partitions : table of labels, data frame, list of label vectors, or Ensemble
            Weights are not stored: all samples must have weight 1.
        path : folder
            Must not exist, or be empty; its parent must exist.
        rows_per_chunk : int, optional
            Rows that share a checksum; by default about four megabytes of them.

        Examples
        --------
        >>> import tempfile
        >>> from partita import LabelStore
        >>> partitions = [["a", "a", "b"], [1, 1, None]]
        >>> store = LabelStore.from_partitions(partitions, tempfile.mkdtemp() + "/labels")
        >>> store
        LabelStore(3 samples, 2 partitions, 1 to 2 clusters each, 6 bytes of uint8)
        >>> store.to_ensemble()
        Ensemble(3 samples, 2 partitions, 1 to 2 clusters each, 1 label missing)
        """
        ensemble = as_ensemble(partitions)
        inverse = ensemble.inverse
        n_equal = 1 if inverse is None else np.bincount(inverse[inverse >= 0])
        if np.any(ensemble.weights != n_equal):
            raise InvalidEnsembleError("A store keeps no weights, and these are not all 1.")
        columns = np.argsort(ensemble.partition_order)
        layout = ensemble.layout.select(columns)
        writer = cls.create(
            path,
            ensemble.n_samples,
            layout.categories,
            partition_names=None
            if layout.partition_names is None
            else list(layout.partition_names),
            provenance=ensemble.provenance,
            rows_per_chunk=rows_per_chunk,
        )
        for start in range(0, ensemble.n_samples, _ROWS_AT_ONCE):
            stop = min(start + _ROWS_AT_ONCE, ensemble.n_samples)
            rows = np.arange(start, stop) if inverse is None else inverse[start:stop]
            block = ensemble.codes[rows][:, columns]
            block[rows < 0] = ensemble.missing_code
            writer.write(start, block)
        if ensemble.sample_ids is not None:
            writer.append_sample_ids(ensemble.sample_ids.tolist())
        writer.finish()
        return cls.open(path)

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

    @cached_property
    def layout(self) -> LabelLayout:
        """How to read the codes: integer type, categories and names of the partitions."""
        names = [p.name for p in self._metadata.partitions]
        return LabelLayout(
            self.dtype,
            tuple(p.labels() for p in self._metadata.partitions),
            None if None in names else np.asarray(names, dtype=object),
        )

    @property
    def missing_code(self) -> int:
        """The code of a missing label."""
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
    def n_base_clusters(self) -> int:
        """Clusters in all partitions together, L."""
        return int(self.offsets[-1])

    # -- names -------------------------------------------------------------------------------

    @property
    def categories(self) -> tuple[NDArray[Any], ...]:
        """Per partition, the label that every code stands for."""
        return self.layout.categories

    @property
    def partition_names(self) -> NDArray[Any] | None:
        return self.layout.partition_names

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

    def to_ensemble(self, *, unlabeled: str = "error") -> Ensemble:
        """Read all rows into memory, if the memory budget has room for them.

        Clusters that were declared and hold no sample are left out.

        Parameters
        ----------
        unlabeled : {"error", "keep"}, default="error"
            What to do with a sample without any label: raise an error, or keep it and label it -1
            in every result.
        """
        self.require_complete()
        shape = (self.n_samples, self.n_partitions)
        require_memory(
            shape[0] * (shape[1] * self.dtype.itemsize + 8),
            f"Reading {shape[0]} samples of {shape[1]} partitions into memory",
            lambda _: "Fit SEC, KCC or LWGP to the store itself: they read its rows in chunks.",
        )
        codes = np.empty(shape, self.dtype)
        for start, stop in self.blocks():
            self.read(start, stop, codes[start:stop])
        return Ensemble.from_codes(
            codes,
            self.layout,
            unlabeled=unlabeled,
            sample_ids=self.sample_ids,
            provenance=self.provenance,
        )

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
