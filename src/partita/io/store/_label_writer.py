"""`LabelWriter`: fill a store by rows or by columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from partita._atomic import explained
from partita._input.table_coding import code_dtype
from partita.config import report_progress
from partita.exceptions import InvalidEnsembleError, InvalidStoreError
from partita.io.store._chunks import LabelChunks
from partita.io.store._codes import as_codes, n_codes
from partita.io.store._columns import (
    Column,
    ColumnRows,
    columns_folder,
    remove_columns,
    written_columns,
)
from partita.io.store._metadata import Partition, StoreMetadata
from partita.io.store._sample_ids import SampleIdFile, has_sample_ids
from partita.io.store._writer_lock import WriterLock

__all__ = ["LabelWriter"]


class LabelWriter:
    """Fill a store that is not complete.

    `LabelStore.create` and `LabelStore.resume` return a writer. A store is filled either by rows
    (`write`) or by columns (`write_column`); `finish` completes it. A second writer is refused as
    long as the first is open (until `finish`, `close`, the end of a `with` block or the end of its
    process). Several processes may fill one store if each opens its writer with `shared=True` and
    writes different columns, or different chunks of `rows_per_chunk` rows. What a process has
    written remains if the process is killed, and may be written again.

    Labels are codes 0..K_i-1. A missing label is any negative number of a signed type, or the
    largest value of an unsigned type, as in `Ensemble.codes`.

    Parameters
    ----------
    path : folder
        An incomplete store.
    shared : bool, default=False
        Whether other writers that share the store may be open at the same time.

    Attributes
    ----------
    path : Path
        The folder.
    """

    def __init__(self, path: str | Path, *, shared: bool = False) -> None:
        self.path = Path(path).absolute()
        self._require_incomplete(StoreMetadata.load(self.path))
        self._lock = WriterLock(self.path, shared=shared)
        # another writer may have completed the store before this one got the lock
        self._state = StoreMetadata.state(self.path)
        self._metadata = StoreMetadata.load(self.path)
        self._require_incomplete(self._metadata)
        self._limits = np.asarray([p.n_clusters or 0 for p in self._metadata.partitions], np.int64)
        self._chunks: LabelChunks | None = None
        self._pending: dict[int, _PartialChunk] = {}
        self._ids: SampleIdFile | None = None

    def _require_incomplete(self, metadata: StoreMetadata) -> None:
        if metadata.is_complete:
            raise InvalidStoreError(f"The store {self.path} is complete: nothing can be added.")

    def _require_open(self) -> None:
        """Raise if this writer is closed, or if another one has completed the store."""
        if not self._lock.release.alive:
            raise InvalidStoreError(f"This writer of the store {self.path} is closed.")
        if StoreMetadata.state(self.path) != self._state:
            self._require_incomplete(StoreMetadata.load(self.path))

    def close(self) -> None:
        """Release the store without completing it; rows of partial chunks are dropped."""
        self._lock.release()
        if self._chunks is not None:
            self._chunks.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def written_columns(self) -> list[int]:
        """Indices of the partitions that `write_column` has written, in any process."""
        return written_columns(self.path)

    # -- by rows -----------------------------------------------------------------------------

    def write(self, start: int, labels: Any) -> None:
        """Write the rows from `start` on, labels of shape (n_rows, n_partitions).

        Rows are written to the disk when their chunk of `rows_per_chunk` rows is complete. Until
        then they are kept in memory, so blocks should be written in order.
        """
        self._require_open()
        chunks = self._open_chunks()
        codes = self._as_rows(start, labels)
        per_chunk = self._metadata.rows_per_chunk
        stop = start + len(codes)
        for chunk in range(start // per_chunk, -(-stop // per_chunk)):
            low, high = self._metadata.chunk_rows(chunk)
            first, last = max(low, start), min(high, stop)
            rows = codes[first - start : last - start]
            if last - first < high - low:
                partial = self._pending.setdefault(chunk, _PartialChunk(high - low, rows))
                partial.put(first - low, rows)
                if not partial.is_full:
                    continue
                rows = partial.rows
            chunks.write_chunk(chunk, rows)
            self._pending.pop(chunk, None)

    def _as_rows(self, start: int, labels: Any) -> NDArray[Any]:
        array = np.asarray(labels)
        m, n = self._metadata.n_partitions, self._metadata.n_samples
        if array.ndim != 2 or array.shape[1] != m:
            raise InvalidEnsembleError(
                f"Expected rows of {m} labels, shape (n_rows, {m}), got shape {array.shape}."
            )
        if not 0 <= start <= start + len(array) <= n:
            raise IndexError(
                f"No rows {start}:{start + len(array)} in a store of {n} rows to write to."
            )
        return as_codes(array, self._limits, self._metadata.dtype, first_row=start)

    def _open_chunks(self) -> LabelChunks:
        if not self._metadata.is_declared:
            raise InvalidStoreError(
                f"The store {self.path} was made without categories or n_clusters: fill it by "
                "`write_column`, which declares them."
            )
        if columns_folder(self.path).is_dir():
            raise InvalidStoreError(f"The store {self.path} is being filled by columns.")
        if self._chunks is None:
            self._chunks = LabelChunks(self.path, self._metadata, writable=True)
        return self._chunks

    # -- by columns --------------------------------------------------------------------------

    def write_column(
        self,
        i: int,
        labels: Any,
        rows: Any = None,
        *,
        categories: Any = None,
        provenance: Mapping[str, Any] | None = None,
    ) -> None:
        """Write one partition; it appears when it is complete.

        Parameters
        ----------
        i : int
            Index of the partition.
        labels : integer array of shape (n_samples,), or (len(rows),)
            Codes of the samples, -1 where a label is missing.
        rows : array of distinct row indices, optional
            The samples that `labels` belong to; the others have no label in this partition. By
            default all samples, in order.
        categories : array, optional
            The label that every code stands for. By default those that `LabelStore.create` was
            given, or else the codes themselves.
        provenance : mapping, optional
            Where the partition comes from, as text and numbers. By default nothing.
        """
        self._require_open()
        if not 0 <= i < self._metadata.n_partitions:
            raise IndexError(
                f"No partition {i} in a store of {self._metadata.n_partitions} partitions."
            )
        if LabelChunks.exist(self.path) and LabelChunks(self.path, self._metadata).written.any():
            raise InvalidStoreError(f"The store {self.path} is being filled by rows.")
        partition = self._describe(i, labels, categories, provenance)
        assert partition.n_clusters is not None
        dtype = np.dtype(code_dtype(partition.n_clusters))
        codes = as_codes(np.asarray(labels), np.int64(partition.n_clusters), dtype)
        missing_code = np.iinfo(dtype).max
        if rows is not None:
            places = _check_rows(rows, len(codes), self._metadata.n_samples)
            column = np.full(self._metadata.n_samples, missing_code, dtype)
            column[places] = codes
            codes = column
        if codes.shape != (self._metadata.n_samples,):
            raise InvalidEnsembleError(
                f"Partition {i} must have {self._metadata.n_samples} labels, got shape "
                f"{codes.shape}. Pass `rows` for labels of some samples."
            )
        if (codes == missing_code).all():
            raise InvalidEnsembleError(f"Partition {i} labels no sample. Drop it.")
        Column.write(self.path, i, codes, partition)

    def _describe(
        self, i: int, labels: Any, categories: Any, provenance: Mapping[str, Any] | None
    ) -> Partition:
        declared = self._metadata.partitions[i]
        if categories is None and declared.n_clusters is None:
            categories = n_codes(np.asarray(labels))
        if categories is None:
            return replace(declared, provenance=dict(provenance or declared.provenance))
        return Partition.of(categories, name=declared.name, provenance=provenance)

    # -- sample ids and completion -----------------------------------------------------------

    def append_sample_ids(self, ids: Iterable[Any]) -> None:
        """Write the names of the next samples, in order; call it as often as needed."""
        self._require_open()
        if self._ids is None:
            self._ids = SampleIdFile(self.path)
        self._ids.append(ids)

    def finish(self) -> None:
        """Complete the store: check that nothing is absent, flush to disk and write checksums.

        Columns become rows, block by block. No other writer may be open. After an interruption it
        may be called again.
        """
        self._require_open()
        self._lock.exclude_others()
        metadata = self._metadata
        if columns_folder(self.path).is_dir():
            metadata, chunks = self._merge_columns()
        else:
            chunks = self._open_chunks()
            chunks.reload()
            if not chunks.written.all():
                first = metadata.chunk_rows(int(np.flatnonzero(~chunks.written)[0]))
                raise InvalidStoreError(
                    f"The store {self.path} is not complete: rows {first[0]} to {first[1] - 1} "
                    "(and perhaps more) have not all been written."
                )
        self._finish_sample_ids()
        sealed = replace(
            metadata,
            is_complete=True,
            has_sample_ids=has_sample_ids(self.path),
            checksums_crc32=chunks.flush(),
        )
        chunks.close()
        sealed.save(self.path)
        remove_columns(self.path)
        self._lock.remove()

    def _merge_columns(self) -> tuple[StoreMetadata, LabelChunks]:
        """Write the columns as rows; `finish` removes the columns when the store is complete."""
        columns = ColumnRows(self.path, self._metadata)
        if absent := columns.absent():
            raise InvalidStoreError(f"The store {self.path} is not complete: {absent}.")
        metadata = columns.metadata
        with explained(self.path / "labels.npy", "The columns are untouched."):
            LabelChunks.allocate(self.path, metadata)
        chunks = LabelChunks(self.path, metadata, writable=True)
        rows = np.empty((metadata.rows_per_chunk, metadata.n_partitions), metadata.dtype)
        for chunk in range(metadata.n_chunks):
            start, stop = metadata.chunk_rows(chunk)
            columns.read(start, rows[: stop - start])
            chunks.write_chunk(chunk, rows[: stop - start])
            report_progress("store", stop, metadata.n_samples)
        return metadata, chunks

    def _finish_sample_ids(self) -> None:
        if self._ids is None:
            return
        if self._ids.count != self._metadata.n_samples:
            raise InvalidEnsembleError(
                f"Expected {self._metadata.n_samples} sample ids, got {self._ids.count}."
            )
        self._ids.finish()
        self._ids = None


class _PartialChunk:
    """A chunk of which only some rows have been written."""

    def __init__(self, n_rows: int, like: NDArray[Any]) -> None:
        self.rows = np.empty((n_rows, like.shape[1]), like.dtype)
        self._is_written = np.zeros(n_rows, bool)

    def put(self, first: int, rows: NDArray[Any]) -> None:
        self.rows[first : first + len(rows)] = rows
        self._is_written[first : first + len(rows)] = True

    @property
    def is_full(self) -> bool:
        return bool(self._is_written.all())


def _check_rows(rows: Any, n_labels: int, n_samples: int) -> NDArray[np.int64]:
    places = np.asarray(rows)
    if places.dtype.kind not in "iu" or places.shape != (n_labels,):
        raise InvalidEnsembleError(
            f"rows must be {n_labels} row numbers, one per label, got {places.dtype} of shape "
            f"{places.shape}."
        )
    in_order = bool((places[1:] > places[:-1]).all())
    if not in_order and len(np.unique(places)) < len(places):
        raise InvalidEnsembleError("rows must be distinct: a sample has one label in a partition.")
    if len(places) and not (places.min() >= 0 and places.max() < n_samples):
        raise IndexError(f"rows must lie between 0 and {n_samples - 1}.")
    return places
