"""`LabelStore`: an ensemble in a folder, whose rows are never all in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from partita._atomic import atomic_folder
from partita._memory import require_memory
from partita.ensemble import Ensemble, LabelLayout, as_ensemble
from partita.ensemble.layout import MAX_UNUSED, dense_codes
from partita.exceptions import InvalidEnsembleError, InvalidStoreError
from partita.io.store._chunks import LabelChunks
from partita.io.store._columns import ColumnRows, columns_folder
from partita.io.store._creation import create_store, require_new_folder
from partita.io.store._description import StoreDescription
from partita.io.store._label_writer import LabelWriter
from partita.io.store._metadata import StoreMetadata, declare_partitions

__all__ = ["LabelStore"]

_BLOCK_ROWS = 1 << 16
_BYTES_PER_CALL = 1 << 15  # reading so many bytes takes about as long as the call itself


class LabelStore(StoreDescription):
    """Labels of many samples in many partitions, in a folder on disk.

    Rows are read in blocks, into memory that may be used again. The file is not mapped, so memory
    does not grow with the number of rows. Every chunk of rows is compared with its checksum the
    first time it is read; a file that was cut, extended or altered raises `InvalidStoreError`.
    Several threads may read at the same time. A pickled store is opened again by its path, also in
    another process.

    Parameters
    ----------
    path : folder
        The folder of the store.
    checked : bool, default=True
        Whether chunks are compared with their checksums. False saves a third of a second per
        gigabyte.

    Attributes
    ----------
    path : Path
        The folder.
    n_samples, n_partitions : int
        Number of samples and of partitions.
    n_clusters : int64 array of shape (n_partitions,)
        K_i; 0 for a partition that has not been declared yet.
    offsets : int64 array of shape (n_partitions + 1,)
        Index of the first base cluster of each partition, and L at the end.
    layout : LabelLayout
        How to read the codes.
    dtype, missing_code
        Integer type of the codes, and the code of a missing label.
    is_complete : bool
        Rows and partitions that have not been written read as missing. A store that was opened
        before they were written must be opened again to see them.

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
        metadata = StoreMetadata.load(self.path)
        has_columns = columns_folder(self.path).is_dir() or not LabelChunks.exist(self.path)
        kind = ColumnRows if has_columns and not metadata.is_complete else LabelChunks
        self._rows: LabelChunks | ColumnRows = kind(self.path, metadata, checked=checked)
        self._metadata = self._rows.metadata

    @cached_property
    def layout(self) -> LabelLayout:  # type: ignore[override]
        numbers = [p.n_clusters or 0 for p in self._metadata.partitions if p.categories is None]
        require_memory(8 * sum(numbers), f"The labels of {sum(numbers)} clusters of a store")
        return self._metadata.layout()

    # -- construction ------------------------------------------------------------------------

    @classmethod
    def open(cls, path: str | Path, *, checked: bool = True) -> Self:
        """Open a store, complete or not. The parameters are those of the class."""
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

        Pass exactly one of `categories`, `n_clusters` and `n_partitions`.

        Parameters
        ----------
        path : folder
            Must not exist, or be empty; its parent must exist.
        n_samples : int
            Number of samples.
        categories : sequence of arrays, optional
            Per partition, the label that every code 0..K_i-1 stands for.
        n_clusters : sequence of int, optional
            K_i, if the labels are the codes themselves.
        n_partitions : int, optional
            The number of partitions alone: `write_column` declares their clusters later.
        partition_names : sequence of str, optional
            By default the partitions have no names.
        provenance : mapping, optional
            Where the labels come from, as text and numbers. By default nothing.
        rows_per_chunk : int, optional
            Number of rows that share a checksum. By default about four megabytes of them.
        """
        partitions = declare_partitions(categories, n_clusters, n_partitions, partition_names)
        create_store(Path(path).absolute(), n_samples, partitions, provenance, rows_per_chunk)
        return LabelWriter(path)

    @classmethod
    def from_partitions(
        cls, partitions: Any, path: str | Path, *, rows_per_chunk: int | None = None
    ) -> Self:
        """Write a new store with one row per sample and the partitions in the user's order.

        The folder appears when the store is complete.

        Parameters
        ----------
        partitions : table of labels, data frame, list of label vectors, or Ensemble
            Weights are not stored: all samples must have weight 1.
        path, rows_per_chunk
            As in `create`.

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
        names = layout.partition_names
        require_new_folder(Path(path))
        with atomic_folder(path) as partial:
            writer = cls.create(
                partial,
                ensemble.n_samples,
                layout.categories,
                partition_names=None if names is None else list(names),
                provenance=ensemble.provenance,
                rows_per_chunk=rows_per_chunk,
            )
            with writer:
                for start in range(0, ensemble.n_samples, _BLOCK_ROWS):
                    stop = min(start + _BLOCK_ROWS, ensemble.n_samples)
                    rows = np.arange(start, stop) if inverse is None else inverse[start:stop]
                    block = ensemble.codes[rows][:, columns]
                    block[rows < 0] = ensemble.missing_code
                    writer.write(start, block)
                if ensemble.sample_ids is not None:
                    writer.append_sample_ids(ensemble.sample_ids.tolist())
                writer.finish()
        return cls.open(path)

    @classmethod
    def resume(cls, path: str | Path, *, shared: bool = False) -> LabelWriter:
        """Return a writer that continues an incomplete store.

        Parameters
        ----------
        path : folder
            An incomplete store.
        shared : bool, default=False
            Whether other writers that share the store may be open at the same time.
        """
        return LabelWriter(path, shared=shared)

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self.path, self.checked, self._metadata)

    # -- rows --------------------------------------------------------------------------------

    def blocks(self, rows: int | None = None) -> list[tuple[int, int]]:
        """Return (start, stop) of blocks of `rows` rows that cover all; by default a chunk each."""
        rows = self.rows_per_chunk if rows is None else rows
        if rows < 1:
            raise ValueError(f"Blocks must have at least one row, got rows={rows}.")
        return [(i, min(i + rows, self.n_samples)) for i in range(0, self.n_samples, rows)]

    def read(self, start: int, stop: int, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return the codes of rows start..stop-1, shape (stop - start, n_partitions).

        Parameters
        ----------
        start, stop : int
            Indices of the first row and of the row after the last.
        out : array, optional
            Contiguous, of the store's `dtype`, with `n_partitions` columns and at least as many
            rows. The rows are read into it and a view of its first rows is returned. By default a
            new array.
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
        self._rows.read(start, rows)
        return rows

    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Return the codes of rows by index, in any order."""
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
            lambda _: (
                "Fit SEC, KCC, LWGP or CCGP to the store itself: they read its rows in chunks."
            ),
        )
        codes = np.empty(shape, self.dtype)
        for start, stop in self.blocks():
            self.read(start, stop, codes[start:stop])
        partitions = self._metadata.partitions
        if max(p.n_clusters or 0 for p in partitions) > shape[0] + MAX_UNUSED:
            # most clusters are empty: a table of all of them could exceed the memory
            missing_code = np.iinfo(self.dtype).max
            codes, used = dense_codes(codes, missing_code)
            labels = [p.select(old) for p, old in zip(partitions, used, strict=True)]
            layout = LabelLayout.of(labels, self.partition_names)
        else:
            layout = self.layout
        return Ensemble.from_codes(
            codes,
            layout,
            unlabeled=unlabeled,
            sample_ids=self.sample_ids,
            provenance=self.provenance,
        )

    # -- state -------------------------------------------------------------------------------

    @property
    def fingerprint(self) -> str:
        """Checksum of all checksums of a complete store, in hexadecimal."""
        self.require_complete()
        return f"{self._metadata.checksums_crc32:08x}"

    def verify(self) -> None:
        """Compare all files with their checksums, also those that were read before."""
        store = LabelStore(self.path)
        out = np.empty((store.rows_per_chunk, store.n_partitions), store.dtype)
        for start, stop in store.blocks():
            store.read(start, stop, out)
        if store.has_sample_ids:
            for _ in store.iter_sample_ids():
                pass

    def require_complete(self) -> None:
        """Raise `InvalidStoreError` if something has not been written yet."""
        if not self.is_complete:
            absent = self._rows.absent() or "all labels are there, but `finish` has not run"
            raise InvalidStoreError(
                f"The store {self.path} is not complete: {absent}. Finish writing it first."
            )

    def close(self) -> None:
        """Close the files; the store cannot be read afterwards."""
        self._rows.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _reopen(path: Path, checked: bool, expected: StoreMetadata) -> LabelStore:
    """Open a store that was pickled."""
    store = LabelStore(path, checked=checked)
    if expected.is_complete and store._metadata != expected:
        raise InvalidStoreError(
            f"The store {path} is not the one that was pickled: it has been replaced since."
        )
    return store
