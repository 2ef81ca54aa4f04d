"""The rows of a store, a chunk at a time; what is remembered of them lies in a file too."""

from __future__ import annotations

import tempfile
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
from partita.io.store import LabelStore
from partita.io.store._files import PlacedFile
from partita.scale._progress import report_rows
from partita.scale.rows import Chunk, RowParts, Rows, Step, Totals, fresh_memory

__all__ = ["StoreRows"]

_CHUNK_BYTES = 1 << 25
_MEMORY_BYTES = 12  # per row: its group and two bounds
_PARTS_BYTES = 28  # per row: three doubles and a number of labels


class StoreRows(Rows):
    """The rows of a label store.

    Memory holds two chunks, the one that is worked on and the one that is read meanwhile, however
    many rows there are. Groups, bounds and parts are kept in temporary files, which go with the
    object.
    """

    remembers = True
    whole = True

    def __init__(self, store: LabelStore, chunk_rows: int | None = None) -> None:
        store.require_complete()
        self.store = store
        self.n_rows = store.n_samples
        self.layout = store.layout
        if chunk_rows is None:  # whole chunks of the store, which are read without a detour
            wanted = _CHUNK_BYTES // (store.n_partitions * store.dtype.itemsize)
            chunk_rows = max(1, wanted // store.rows_per_chunk) * store.rows_per_chunk
        self.bounds = store.blocks(chunk_rows)
        self._folder = tempfile.TemporaryDirectory(prefix="partita-")
        self._memory, self._parts = (self._scratch(name) for name in ("memory", "parts"))
        self._geometry: Any = None  # the one whose parts of the rows are in the file
        self._fresh = True

    def _scratch(self, name: str) -> PlacedFile:
        file = Path(self._folder.name, name)
        file.touch()
        return PlacedFile(file, writable=True)

    @cached_property
    def complete(self) -> bool:
        """Whether no label is missing; reads until the first that is."""
        return not any(
            bool((self.store.read(*bound) == self.missing_code).any()) for bound in self.bounds
        )

    @property
    def fingerprint(self) -> str:
        """What tells these rows from others."""
        return self.store.fingerprint

    def accumulate(self, step: Step, totals: Totals, *, memory: bool = False) -> None:
        for chunk in self._chunks(memory):
            step(chunk, totals)

    def collect(self, step: Callable[[Chunk], Any], *, memory: bool = False) -> Iterator[Any]:
        for chunk in self._chunks(memory):
            yield step(chunk)

    def forget(self) -> None:
        self._fresh = True

    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        if len(rows) == self.n_rows:
            return self.store.read(0, self.n_rows)[rows]
        return self.store.take(rows)

    def to_ensemble(self) -> Ensemble:
        """All rows in memory, if the budget allows it."""
        return self.store.to_ensemble()

    def _chunks(self, memory: bool) -> Iterator[Chunk]:
        """Chunks in order, read and put away by another thread while others are worked on."""
        began = perf_counter()
        report_rows(0, self.n_rows, began)
        # two for a whole pass: fresh memory takes longer to get than to fill
        buffers = [_Buffer(self), _Buffer(self)]
        with ThreadPoolExecutor(1) as clerk:
            coming = clerk.submit(self._read, self.bounds[0], memory, buffers[0])
            going: Future[None] | None = None
            for i, (_, stop) in enumerate(self.bounds):
                chunk = coming.result()
                if i + 1 < len(self.bounds):
                    free = buffers[(i + 1) % 2]
                    coming = clerk.submit(self._read, self.bounds[i + 1], memory, free)
                yield chunk
                if going is not None:
                    going.result()
                if memory:
                    going = clerk.submit(self._keep, chunk)
                report_rows(stop, self.n_rows, began)
            if going is not None:
                going.result()
        if memory:
            self._fresh = False
            self._geometry = None if chunk.parts is None else chunk.parts[0]

    def _read(self, bound: tuple[int, int], memory: bool, buffer: _Buffer) -> Chunk:
        start, stop = bound
        codes = self.store.read(start, stop, buffer.codes)
        codes.flags.writeable = False  # as an ensemble's: kernels are compiled once for both
        known = self._recall(start, stop) if memory and not self._fresh else None
        parts = None
        if memory and self._geometry is not None:
            parts = self._recall_parts(start, stop, buffer.parts)
        weights = buffer.weights[: stop - start]
        return Chunk(start, codes, weights, *(known or fresh_memory(stop - start)), parts)

    # -- what is remembered ------------------------------------------------------------------

    def _recall(
        self, start: int, stop: int
    ) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.float32]]:
        n = stop - start
        record = np.empty(3 * n, np.int32)
        self._memory.read(record, start * _MEMORY_BYTES)
        return record[:n], record[n : 2 * n].view(np.float32), record[2 * n :].view(np.float32)

    def _keep(self, chunk: Chunk) -> None:
        known = chunk.groups, chunk.upper.view(np.int32), chunk.lower.view(np.int32)
        with explained(self._memory.path, "Nothing that was there before is changed."):
            self._memory.write(np.concatenate(known), chunk.start * _MEMORY_BYTES)
        self._keep_parts(chunk)

    def _recall_parts(
        self, start: int, stop: int, buffer: NDArray[np.uint8]
    ) -> tuple[Any, RowParts]:
        n = stop - start
        record = buffer[: _PARTS_BYTES * n]
        self._parts.read(record, start * _PARTS_BYTES)
        numbers = record[: 24 * n].view(np.float64).reshape(3, n)
        constant, scale, mass = numbers[0], numbers[1], numbers[2]
        counts = record[24 * n :].view(np.int32)
        return self._geometry, RowParts(constant, scale, mass, counts)

    def _keep_parts(self, chunk: Chunk) -> None:
        """Parts that were computed in this pass are there for the next ones."""
        if chunk.parts is None or chunk.parts[0] is self._geometry:
            return
        record = np.concatenate([array.view(np.uint8) for array in chunk.parts[1]])
        with explained(self._parts.path, "Nothing that was there before is changed."):
            self._parts.write(record, chunk.start * _PARTS_BYTES)


class _Buffer:
    """Memory that a chunk is read into."""

    def __init__(self, rows: StoreRows) -> None:
        n = max(stop - start for start, stop in rows.bounds)
        self.codes = np.empty((n, rows.n_partitions), rows.dtype)
        self.parts = np.empty(_PARTS_BYTES * n, np.uint8)
        self.weights = np.ones(n)
