"""The rows of a Dask array, or of a store that the workers of a cluster read."""

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
from partita.io.store import LabelStore
from partita.io.store._files import checksum
from partita.scale._dask_labels import CodedBlocks, tree
from partita.scale._dask_workers import Workers
from partita.scale._progress import report_rows
from partita.scale.rows import Chunk, Rows, Step, Totals, fresh_memory

__all__ = ["DaskRows"]

_BLOCK_BYTES = 1 << 26  # of a store, per task
_STAGES = 16  # parts of a pass whose ends are reported


class DaskRows(Rows):
    """Rows on the workers of a Dask cluster.

    A pass sends its step to the workers once; each of them applies it to the blocks it has or
    reads, the sums are added up there, few at a time, and one total comes back. Workers remember
    nothing from one pass to the next, so that one can be lost at any time: its blocks are made or
    read again by another, with the same result.
    """

    remembers = False
    whole = True

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
        """The rows of a Dask array of numbers; NaN is missing, and -1 as `noise` says."""
        workers = Workers(client)
        coded = CodedBlocks.of(array, noise, workers)
        ends = np.cumsum(coded.lengths).tolist()
        bounds = list(zip([0, *ends[:-1]], ends, strict=True))
        return cls(coded.blocks, bounds, coded.layout, workers)

    @classmethod
    def of_store(cls, store: LabelStore, client: Any) -> DaskRows:
        """The rows of a store, which every worker opens by its path."""
        import dask

        store.require_complete()
        workers = Workers(client)
        wanted = _BLOCK_BYTES // (store.n_partitions * store.dtype.itemsize)
        bounds = store.blocks(max(1, wanted // store.rows_per_chunk) * store.rows_per_chunk)
        # opened once by each worker, which then knows what it has compared with its checksum
        (opened,) = workers.keep([dask.delayed(_itself, pure=False)(store)])
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
        """What tells these rows from others."""
        if self.store is not None:
            return self.store.fingerprint
        return f"{checksum(np.asarray(list(self.collect(_checksum)))):08x}"

    def accumulate(self, step: Step, totals: Totals, *, memory: bool = False) -> None:
        shapes = [(array.shape, array.dtype.str) for array in totals]
        sums = self._tasks(_sums, (step, shapes))
        size = -(-len(sums) // _STAGES)
        firsts = range(0, len(sums), size)
        stages = [tree(_added, sums[first : first + size]) for first in firsts]
        ends = [self.bounds[min(first + size, len(sums)) - 1][1] for first in firsts]
        lengths = np.diff([0, *ends]).tolist()
        began, done = perf_counter(), 0

        def finished(stage: int) -> None:
            nonlocal done
            done += lengths[stage]
            report_rows(done, self.n_rows, began)

        found = self.workers.run(tree(_added, stages), stages, finished)
        for total, part in zip(totals, found, strict=True):
            total += part

    def collect(self, step: Callable[[Chunk], Any], *, memory: bool = False) -> Iterator[Any]:
        return self.workers.stream(self._tasks(_result, step))

    def forget(self) -> None:
        """Nothing is remembered."""

    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        import dask

        task = dask.delayed(_picked, pure=False)
        taken = np.empty((len(rows), self.n_partitions), self.dtype)
        places, tasks = [], []
        for source, (start, stop) in zip(self.sources, self.bounds, strict=True):
            place = np.flatnonzero((rows >= start) & (rows < stop))
            if len(place):
                places.append(place)
                tasks.append(task(source, start, stop, rows[place] - start))
        for place, labels in zip(places, self.workers.stream(tasks), strict=True):
            taken[place] = labels
        return taken

    def to_ensemble(self) -> Ensemble:
        """All rows in memory, if the budget allows it."""
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
        """A task per block; the message goes to the scheduler once, to a worker when it asks."""
        import cloudpickle
        import dask

        # as bytes: arrays come out writable, as kernels were compiled for, wherever they come out
        sent = dask.delayed(_itself, pure=False)(cloudpickle.dumps(message))
        task = dask.delayed(function, pure=False)
        return [
            task(sent, source, start, stop)
            for source, (start, stop) in zip(self.sources, self.bounds, strict=True)
        ]


# -- on the workers --------------------------------------------------------------------------


def _itself(value: Any) -> Any:
    return value


def _labels(source: Any, start: int, stop: int) -> NDArray[Any]:
    labels = source.read(start, stop) if isinstance(source, LabelStore) else source
    labels = np.ascontiguousarray(labels).view()
    labels.flags.writeable = False  # as an ensemble's: kernels are compiled once for all
    return labels


def _chunk(source: Any, start: int, stop: int) -> Chunk:
    n = stop - start
    return Chunk(start, _labels(source, start, stop), np.ones(n), *fresh_memory(n))


def _sums(message: bytes, source: Any, start: int, stop: int) -> Totals:
    """What one block adds to the totals. One thread: the cluster has a task for every core."""
    import cloudpickle

    step, shapes = cloudpickle.loads(message)
    totals = tuple(np.zeros(shape, dtype) for shape, dtype in shapes)
    with config_context(n_threads=1):
        step(_chunk(source, start, stop), totals)
    return totals


def _added(parts: list[Totals]) -> Totals:
    totals = tuple(array.copy() for array in parts[0])
    for part in parts[1:]:
        for total, array in zip(totals, part, strict=True):
            total += array
    return totals


def _result(message: bytes, source: Any, start: int, stop: int) -> Any:
    import cloudpickle

    step = cloudpickle.loads(message)
    with config_context(n_threads=1):
        return step(_chunk(source, start, stop))


def _picked(source: Any, start: int, stop: int, rows: NDArray[np.int64]) -> NDArray[Any]:
    return _labels(source, start, stop)[rows]


def _count(chunk: Chunk, totals: Totals, code: int) -> None:
    totals[0][0] += np.count_nonzero(chunk.codes == code)


def _checksum(chunk: Chunk) -> int:
    return checksum(chunk.codes)
