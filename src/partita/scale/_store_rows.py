"""Rows of a store, read chunk by chunk; their state is kept in temporary files."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._atomic import explained
from partita.ensemble import Ensemble
from partita.io.positioned_file import PositionedFile
from partita.io.store import LabelStore
from partita.scale._progress import report_rows
from partita.scale._rows import AddChunk, Chunk, RowArrays, Rows, Totals

__all__ = ["StoreRows"]

_CHUNK_BYTES = 1 << 25


class StoreRows(Rows):
    """Rows of a label store.

    Memory holds two chunks, one in use and one that is read meanwhile, for any number of rows. The
    arrays that solvers keep with the rows are in temporary files, which are deleted with the
    object.
    """

    keeps_state = True
    has_integer_weights = True

    def __init__(self, store: LabelStore, chunk_rows: int | None = None) -> None:
        store.require_complete()
        self.store = store
        self.n_rows = store.n_samples
        self.layout = store.layout
        if chunk_rows is None:  # whole chunks of the store, which are read without a copy
            n_rows = _CHUNK_BYTES // (store.n_partitions * store.dtype.itemsize)
            chunk_rows = max(1, n_rows // store.rows_per_chunk) * store.rows_per_chunk
        self.bounds = store.blocks(chunk_rows)
        self._folder = tempfile.mkdtemp(prefix="partita-")
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._state: dict[Any, _RowFile] = {}
        self._constants: dict[Any, _RowFile] = {}

    @cached_property
    def complete(self) -> bool:
        """Whether no label is missing; reads rows until the first missing label."""
        return not any(
            bool((self.store.read(*bound) == self.missing_code).any()) for bound in self.bounds
        )

    @property
    def fingerprint(self) -> str:
        return self.store.fingerprint

    def accumulate(self, add: AddChunk, totals: Totals, *, keep_state: bool = False) -> None:
        for chunk in self._chunks(keep_state):
            add(chunk, totals)

    def collect(
        self, function: Callable[[Chunk], Any], *, keep_state: bool = False
    ) -> Iterator[Any]:
        for chunk in self._chunks(keep_state):
            yield function(chunk)

    def reset_state(self) -> None:
        for file in self._state.values():
            file.is_complete = False

    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        if len(rows) == self.n_rows:
            return self.store.read(0, self.n_rows)[rows]
        return self.store.take(rows)

    def to_ensemble(self) -> Ensemble:
        """Return all rows in memory, if they fit the memory budget."""
        return self.store.to_ensemble()

    def _chunks(self, keep_state: bool) -> Iterator[Chunk]:
        """Yield the chunks in order; a second thread reads and writes in the meantime."""
        started = perf_counter()
        report_rows(0, self.n_rows, started)
        # two buffers for the whole pass: to allocate memory takes longer than to fill it
        buffers = [_Buffer(self), _Buffer(self)]
        with ThreadPoolExecutor(1) as background:
            reading = background.submit(self._read, self.bounds[0], keep_state, buffers[0])
            writing: Future[None] | None = None
            for i, (_, stop) in enumerate(self.bounds):
                chunk = reading.result()
                if i + 1 < len(self.bounds):
                    free = buffers[(i + 1) % 2]
                    reading = background.submit(self._read, self.bounds[i + 1], keep_state, free)
                yield chunk
                if writing is not None:
                    writing.result()
                if keep_state:
                    writing = background.submit(self._write, chunk)
                report_rows(stop, self.n_rows, started)
            if writing is not None:
                writing.result()
        if keep_state:
            for files, kept in ((self._state, chunk.state), (self._constants, chunk.constants)):
                for key in kept:
                    files[key].is_complete = True

    def _read(self, bound: tuple[int, int], keep_state: bool, buffer: _Buffer) -> Chunk:
        start, stop = bound
        codes = self.store.read(start, stop, buffer.codes)
        codes.flags.writeable = False  # like the codes of an ensemble: kernels compile once
        chunk = Chunk(start, codes, buffer.weights[: stop - start])
        if keep_state:
            chunk.state |= {
                key: file.read(start, stop) for key, file in self._state.items() if file.is_complete
            }
            chunk.constants |= {
                key: file.read(start, stop, buffer.memory(key, file))
                for key, file in self._constants.items()
                if file.is_complete
            }
        return chunk

    def _write(self, chunk: Chunk) -> None:
        """Keep the state of a chunk, and the constants that this pass computed."""
        for files, kept in ((self._state, chunk.state), (self._constants, chunk.constants)):
            for key, arrays in kept.items():
                if key not in files:
                    number = len(self._state) + len(self._constants)
                    files[key] = _RowFile(Path(self._folder, str(number)), arrays)
                if files is self._state or not files[key].is_complete:
                    files[key].write(chunk.start, arrays)


class _RowFile:
    """A file of arrays with one entry per row; the arrays of a chunk follow each other."""

    def __init__(self, path: Path, arrays: RowArrays) -> None:
        path.touch()
        self._file = PositionedFile(path, writable=True)
        self._dtypes = [array.dtype for array in arrays]
        self.bytes_per_row = sum(dtype.itemsize for dtype in self._dtypes)
        self.is_complete = False  # whether a whole pass has written it

    def read(self, start: int, stop: int, memory: NDArray[np.uint8] | None = None) -> RowArrays:
        """Return the arrays of a chunk, in new memory or in the given one."""
        n, n_bytes = stop - start, (stop - start) * self.bytes_per_row
        record = np.empty(n_bytes, np.uint8) if memory is None else memory[:n_bytes]
        self._file.read(record, start * self.bytes_per_row)
        ends = np.cumsum([n * dtype.itemsize for dtype in self._dtypes])[:-1]
        parts = np.split(record, ends)
        return tuple(part.view(dtype) for part, dtype in zip(parts, self._dtypes, strict=True))

    def write(self, start: int, arrays: RowArrays) -> None:
        offset = start * self.bytes_per_row
        with explained(self._file.path, "Files that existed before are unchanged."):
            for array in arrays:
                self._file.write(array, offset)
                offset += array.nbytes


class _Buffer:
    """Memory that a chunk is read into."""

    def __init__(self, rows: StoreRows) -> None:
        self._n = max(stop - start for start, stop in rows.bounds)
        self.codes = np.empty((self._n, rows.n_partitions), rows.dtype)
        self.weights = np.ones(self._n)
        self._memory: dict[Any, NDArray[np.uint8]] = {}

    def memory(self, key: Any, file: _RowFile) -> NDArray[np.uint8]:
        """Return memory for the arrays of a file, allocated once."""
        if key not in self._memory:
            self._memory[key] = np.empty(self._n * file.bytes_per_row, np.uint8)
        return self._memory[key]
