"""Rows of a Dask array, or of a store that the workers of a cluster read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._memory import require_memory
from partita.config import config_context
from partita.ensemble import Ensemble, LabelLayout
from partita.io.positioned_file import checksum
from partita.io.store import LabelStore
from partita.scale._dask_labels import CodedBlocks, tree
from partita.scale._dask_workers import Workers
from partita.scale._progress import report_rows
from partita.scale._rows import AddChunk, Chunk, Rows, Totals

__all__ = ["DaskRows"]

_BLOCK_BYTES = 1 << 26  # bytes of a store that one task reads
_STAGES = 16  # progress reports per pass


class DaskRows(Rows):
    """Rows on the workers of a Dask cluster.

    A pass sends its function to the workers once. Each worker applies it to the blocks that it
    holds or reads. Totals are added up on the workers, a few at a time, and one total comes back.
    Workers keep no state between passes, so that a worker can be lost at any time: another one
    makes or reads its blocks again, with the same result.
    """

    keeps_state = False
    has_integer_weights = True

    def __init__(
        self,
        sources: Sequence[Any],
        bounds: Sequence[tuple[int, int]],
        layout: LabelLayout,
        workers: Workers,
        *,
        store: LabelStore | None = None,
    ) -> None:
        self.sources = sources
        self.bounds = bounds
        self.workers = workers
        self.store = store
        self.layout = layout
        self.n_rows = bounds[-1][1]

    @classmethod
    def of_array(cls, array: Any, noise: str, client: Any = None) -> DaskRows:
        """Return the rows of a Dask array of numbers; NaN is missing, and -1 as `noise` says."""
        workers = Workers(client)
        coded = CodedBlocks.of(array, noise, workers)
        ends = np.cumsum(coded.lengths).tolist()
        bounds = list(zip([0, *ends[:-1]], ends, strict=True))
        return cls(coded.blocks, bounds, coded.layout, workers)

    @classmethod
    def of_store(cls, store: LabelStore, client: Any) -> DaskRows:
        """Return the rows of a store, which every worker opens by its path."""
        import dask

        store.require_complete()
        workers = Workers(client)
        n_rows = _BLOCK_BYTES // (store.n_partitions * store.dtype.itemsize)
        bounds = store.blocks(max(1, n_rows // store.rows_per_chunk) * store.rows_per_chunk)
        # each worker opens the store once, and verifies the checksum of a chunk only once
        (opened,) = workers.keep([dask.delayed(_identity, pure=False)(store)])
        sources = [opened] * len(bounds)
        return cls(sources, bounds, store.layout, workers, store=store)

    @cached_property
    def complete(self) -> bool:
        """Whether no label is missing."""
        n_missing = np.zeros(1, np.int64)
        self.accumulate(partial(_count, code=self.missing_code), (n_missing,))
        return not n_missing[0]

    @property
    def fingerprint(self) -> str:
        if self.store is not None:
            return self.store.fingerprint
        return f"{checksum(np.asarray(list(self.collect(_checksum)))):08x}"

    def accumulate(self, add: AddChunk, totals: Totals, *, keep_state: bool = False) -> None:
        shapes = [(array.shape, array.dtype.str) for array in totals]
        sums = self._tasks(_sums, (add, shapes))
        size = -(-len(sums) // _STAGES)
        firsts = range(0, len(sums), size)
        stages = [tree(_added, sums[first : first + size]) for first in firsts]
        ends = [self.bounds[min(first + size, len(sums)) - 1][1] for first in firsts]
        lengths = np.diff([0, *ends]).tolist()
        started, n_done = perf_counter(), 0

        def report_stage(stage: int) -> None:
            nonlocal n_done
            n_done += lengths[stage]
            report_rows(n_done, self.n_rows, started)

        contributions = self.workers.run(tree(_added, stages), stages, report_stage)
        for total, contribution in zip(totals, contributions, strict=True):
            total += contribution

    def collect(
        self, function: Callable[[Chunk], Any], *, keep_state: bool = False
    ) -> Iterator[Any]:
        return self.workers.stream(self._tasks(_result, function))

    def reset_state(self) -> None:
        """Do nothing: workers keep no state."""

    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        import dask

        task = dask.delayed(_take, pure=False)
        taken = np.empty((len(rows), self.n_partitions), self.dtype)
        positions, tasks = [], []
        for source, (start, stop) in zip(self.sources, self.bounds, strict=True):
            position = np.flatnonzero((rows >= start) & (rows < stop))
            if len(position):
                positions.append(position)
                tasks.append(task(source, start, stop, rows[position] - start))
        for position, codes in zip(positions, self.workers.stream(tasks), strict=True):
            taken[position] = codes
        return taken

    def to_ensemble(self) -> Ensemble:
        """Return all rows in memory, if they fit the memory budget."""
        if self.store is not None:
            return self.store.to_ensemble()
        require_memory(
            self.n_rows * (self.n_partitions * self.dtype.itemsize + 8),
            f"Reading {self.n_rows} samples of {self.n_partitions} partitions into memory",
        )
        codes = np.empty((self.n_rows, self.n_partitions), self.dtype)
        blocks = self.workers.stream(self.sources)
        for (start, stop), block in zip(self.bounds, blocks, strict=True):
            codes[start:stop] = block
        return Ensemble.from_codes(codes, self.layout)

    def _tasks(self, function: Callable[..., Any], message: Any) -> list[Any]:
        """Return a task per block; `message` is sent to the scheduler once."""
        import cloudpickle
        import dask

        # as bytes: arrays are writable after unpickling, the type that kernels are compiled for
        sent = dask.delayed(_identity, pure=False)(cloudpickle.dumps(message))
        task = dask.delayed(function, pure=False)
        return [
            task(sent, source, start, stop)
            for source, (start, stop) in zip(self.sources, self.bounds, strict=True)
        ]


# -- on the workers --------------------------------------------------------------------------


def _identity(value: Any) -> Any:
    return value


def _codes(source: Any, start: int, stop: int) -> NDArray[Any]:
    codes = source.read(start, stop) if isinstance(source, LabelStore) else source
    codes = np.ascontiguousarray(codes).view()
    codes.flags.writeable = False  # like the codes of an ensemble: kernels compile once
    return codes


def _chunk(source: Any, start: int, stop: int) -> Chunk:
    return Chunk(start, _codes(source, start, stop), np.ones(stop - start))


def _sums(message: bytes, source: Any, start: int, stop: int) -> Totals:
    """Return what one block adds to the totals; one thread, as every core has a task."""
    import cloudpickle

    add, shapes = cloudpickle.loads(message)
    totals = tuple(np.zeros(shape, dtype) for shape, dtype in shapes)
    with config_context(n_threads=1):
        add(_chunk(source, start, stop), totals)
    return totals


def _added(parts: list[Totals]) -> Totals:
    totals = tuple(array.copy() for array in parts[0])
    for part in parts[1:]:
        for total, array in zip(totals, part, strict=True):
            total += array
    return totals


def _result(message: bytes, source: Any, start: int, stop: int) -> Any:
    import cloudpickle

    function = cloudpickle.loads(message)
    with config_context(n_threads=1):
        return function(_chunk(source, start, stop))


def _take(source: Any, start: int, stop: int, rows: NDArray[np.int64]) -> NDArray[Any]:
    return _codes(source, start, stop)[rows]


def _count(chunk: Chunk, totals: Totals, code: int) -> None:
    totals[0][0] += np.count_nonzero(chunk.codes == code)


def _checksum(chunk: Chunk) -> int:
    return checksum(chunk.codes)
