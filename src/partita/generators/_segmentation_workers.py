"""Make the partitions of a row segmentation in several processes."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.connection import wait
from typing import Any

from partita.config import report_progress
from partita.generators._segmentation_task import SegmentationTask, make_partition

__all__ = ["open_workers", "run_task"]


@contextmanager
def open_workers(client: Any, n_jobs: int) -> Iterator[Any]:
    """Yield the user's client, a pool of `n_jobs` processes, or None for the calling process."""
    if client is not None or n_jobs <= 1:
        lost = getattr(sys.modules.get("distributed"), "KilledWorker", ())
        try:
            yield client
        except lost as error:
            raise ChildProcessError(
                f"Workers of the Dask cluster died while they made a partition: {error} Finished "
                "partitions are kept; the same call continues from there. If memory ran out, give "
                "the workers more of it (memory_limit) or lower the number of rows."
            ) from error
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(n_jobs, context, _exit_with_parent) as pool:
        try:
            yield pool
        except BrokenProcessPool as error:
            raise ChildProcessError(
                "A process died while it made a partition. Finished partitions are kept; the same "
                "call continues from there. If memory ran out, lower n_jobs or the number of rows. "
                'In a script, call segment under `if __name__ == "__main__":` or with n_jobs=1.'
            ) from error
        finally:
            pool.shutdown(cancel_futures=True)


def run_task(task: SegmentationTask, indices: list[int], n_partitions: int, workers: Any) -> None:
    """Make the partitions with these indices and report the progress among `n_partitions`."""
    n_done = n_partitions - len(indices)
    report_progress("segment", n_done, n_partitions)
    if workers is None:
        results: Iterator[Any] = (make_partition(task, i) for i in indices)
    else:
        # By default Dask returns the result of an earlier equal call, even if the store is gone.
        is_dask = type(workers).__module__.startswith("distributed")
        options = {"pure": False} if is_dask else {}
        futures = [workers.submit(make_partition, task, i, **options) for i in indices]
        results = (future.result() for future in futures)
    for _ in results:
        n_done += 1
        report_progress("segment", n_done, n_partitions)


def _exit_with_parent() -> None:
    """End this worker when the process that started it ends, for whatever reason."""

    def watch() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            wait([parent.sentinel])
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
