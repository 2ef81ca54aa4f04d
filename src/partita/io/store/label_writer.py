"""`LabelWriter`: labels on their way into a store, by rows or by columns."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._atomic import explained
from partita._input.table_coding import code_dtype
from partita.config import report_progress
from partita.exceptions import InvalidEnsembleError, InvalidStoreError
from partita.io.store._chunks import LabelChunks
from partita.io.store._codes import as_codes, n_codes
from partita.io.store._columns import Column, columns_folder, remove_columns, written_columns
from partita.io.store._metadata import (
    Partition,
    StoreMetadata,
    default_rows_per_chunk,
    partitions_of,
)
from partita.io.store._sample_ids import SampleIdFile, has_sample_ids
from partita.io.store._sources import ColumnSource

__all__ = ["LabelWriter"]


class LabelWriter:
    """Fills a store that is not complete; made by `LabelStore.create` or `LabelStore.resume`.

    A store is filled either by rows (`write`) or by columns (`write_column`), then `finish` closes
    it. Several processes may write at the same time, each with a writer of its own: different
    columns, or different chunks of `rows_per_chunk` rows. What was written survives the death of
    its process, and writing it again is harmless.

    Labels are codes 0..K_i-1. Missing is any negative number in a signed type, and the largest
    value of an unsigned type, as in `Ensemble.labels`.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).absolute()
        self._metadata = StoreMetadata.load(self.path)
        if self._metadata.is_complete:
            raise InvalidStoreError(f"The store {self.path} is complete: nothing can be added.")
        self._limits = np.asarray([p.n_clusters or 0 for p in self._metadata.partitions], np.int64)
        self._chunks: LabelChunks | None = None
        self._pending: dict[int, _PartialChunk] = {}
        self._ids: SampleIdFile | None = None

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
        """As `LabelStore.create`."""
        partitions = partitions_of(categories, n_clusters, n_partitions, partition_names)
        if rows_per_chunk is None:
            rows_per_chunk = default_rows_per_chunk(len(partitions))
        if n_samples < 1 or rows_per_chunk < 1:
            raise ValueError(
                f"n_samples={n_samples} and rows_per_chunk={rows_per_chunk} must be at least 1."
            )
        metadata = StoreMetadata(
            int(n_samples), int(rows_per_chunk), partitions, dict(provenance or {})
        )
        _make_folder(Path(path).absolute(), metadata)
        return cls(path)

    @property
    def written_columns(self) -> list[int]:
        """Numbers of the partitions that `write_column` has put there, in any process."""
        return written_columns(self.path)

    # -- by rows -----------------------------------------------------------------------------

    def write(self, start: int, labels: Any) -> None:
        """Write the rows from `start` on, labels of shape (n_rows, n_partitions).

        Rows go to the disk when their chunk of `rows_per_chunk` is whole; blocks that are not
        multiples of it wait in memory, so write them in order.
        """
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
                "`write_column`, which says them."
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
        """Write partition `i`, whole or not at all.

        Parameters
        ----------
        i : int
        labels : integer array of shape (n_samples,), or (len(rows),)
        rows : array of distinct row numbers, optional
            The samples that `labels` belong to; the others have no label in this partition.
        categories : array, optional
            What the codes stand for, where `create` was not told.
        provenance : mapping, optional
        """
        if not 0 <= i < self._metadata.n_partitions:
            raise IndexError(
                f"No partition {i} in a store of {self._metadata.n_partitions} partitions."
            )
        if LabelChunks.exist(self.path) and LabelChunks(self.path, self._metadata).written.any():
            raise InvalidStoreError(f"The store {self.path} is being filled by rows.")
        partition = self._declared(i, labels, categories, provenance)
        assert partition.n_clusters is not None
        dtype = np.dtype(code_dtype(partition.n_clusters))
        codes = as_codes(np.asarray(labels), np.int64(partition.n_clusters), dtype)
        missing = np.iinfo(dtype).max
        if rows is not None:
            places = _distinct_rows(rows, len(codes), self._metadata.n_samples)
            column = np.full(self._metadata.n_samples, missing, dtype)
            column[places] = codes
            codes = column
        if codes.shape != (self._metadata.n_samples,):
            raise InvalidEnsembleError(
                f"Partition {i} must have {self._metadata.n_samples} labels, got shape "
                f"{codes.shape}. Pass `rows` for labels of some samples."
            )
        if (codes == missing).all():
            raise InvalidEnsembleError(f"Partition {i} labels no sample. Drop it.")
        Column.write(self.path, i, codes, partition)

    def _declared(
        self, i: int, labels: Any, categories: Any, provenance: Mapping[str, Any] | None
    ) -> Partition:
        known = self._metadata.partitions[i]
        if categories is None and known.n_clusters is None:
            categories = n_codes(np.asarray(labels))
        if categories is None:
            return replace(known, provenance=dict(provenance or known.provenance))
        return Partition.of(categories, name=known.name, provenance=provenance)

    # -- names, end --------------------------------------------------------------------------

    def append_sample_ids(self, ids: Iterable[Any]) -> None:
        """Names of the samples, in order and as many at a time as you like."""
        if self._ids is None:
            self._ids = SampleIdFile(self.path)
        self._ids.append(ids)

    def finish(self) -> None:
        """Close the store: everything is there, on the disk, and sealed by checksums.

        Columns are put together, block by block. Called again after an interruption it starts
        where that left off, and one process calls it.
        """
        metadata = self._metadata
        if columns_folder(self.path).is_dir():
            metadata, chunks = self._merge_columns()
        else:
            chunks = self._open_chunks()
            chunks.reload()  # other processes may have written some
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
            checksums_crc32=chunks.settle(),
        )
        chunks.close()
        sealed.save(self.path)
        remove_columns(self.path)

    def _merge_columns(self) -> tuple[StoreMetadata, LabelChunks]:
        """Put the columns together to rows; the columns stay until the store is sealed."""
        source = ColumnSource(self.path, self._metadata, checked=True)
        if absent := source.absent():
            raise InvalidStoreError(f"The store {self.path} is not complete: {absent}.")
        metadata = source.metadata
        with explained(self.path / "labels.npy", "The columns are untouched."):
            LabelChunks.allocate(self.path, metadata)
        chunks = LabelChunks(self.path, metadata, writable=True)
        rows = np.empty((metadata.rows_per_chunk, metadata.n_partitions), metadata.dtype)
        for chunk in range(metadata.n_chunks):
            start, stop = metadata.chunk_rows(chunk)
            source.read(start, rows[: stop - start])
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
    """Rows of a chunk that wait for the others."""

    def __init__(self, n_rows: int, like: NDArray[Any]) -> None:
        self.rows = np.empty((n_rows, like.shape[1]), like.dtype)
        self._there = np.zeros(n_rows, bool)

    def put(self, first: int, rows: NDArray[Any]) -> None:
        self.rows[first : first + len(rows)] = rows
        self._there[first : first + len(rows)] = True

    @property
    def is_full(self) -> bool:
        return bool(self._there.all())


def _make_folder(path: Path, metadata: StoreMetadata) -> None:
    """A new store appears under its name in one step, or not at all."""
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise FileExistsError(
            f"{str(path)!r} is already there. Remove it, choose another folder, or go on with it "
            "by `LabelStore.resume`."
        )
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    with explained(path, "Nothing was left behind."):
        try:
            partial.mkdir()
            if metadata.is_declared:
                LabelChunks.allocate(partial, metadata)
            metadata.save(partial)
            if path.is_dir():
                path.rmdir()  # empty; not every system renames onto it
            os.rename(partial, path)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise


def _distinct_rows(rows: Any, n_labels: int, n_samples: int) -> NDArray[np.int64]:
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
