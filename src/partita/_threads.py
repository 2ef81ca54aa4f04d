"""Threads for kernels that release the lock; the result does not depend on their number."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from threading import Lock, Thread

from partita.config import get_config

__all__ = ["run_blocks"]


def run_blocks(kernel: Callable[[int, int], object], n: int, block: int) -> None:
    """Call `kernel(start, stop)` over 0..n in blocks of `block`, on the configured threads.

    The blocks do not depend on the number of threads, and every block writes to its own place, so
    neither does the result. The calling thread takes blocks like the others, so that work is never
    left waiting for a thread that the machine does not run. The first exception reaches the caller.
    """
    bounds = [(start, min(start + block, n)) for start in range(0, n, block)]
    threads = min(get_config().n_threads, len(bounds))
    if threads <= 1:
        for start, stop in bounds:
            kernel(start, stop)
        return
    waiting = iter(bounds)
    lock = Lock()
    failures: list[BaseException] = []

    def work() -> None:
        while not failures:
            with lock:
                bound = next(waiting, None)
            if bound is None:
                return
            try:
                kernel(*bound)
            except BaseException as failure:  # noqa: BLE001 - raised again in the calling thread
                failures.append(failure)

    others = [Thread(target=copy_context().run, args=(work,)) for _ in range(threads - 1)]
    for thread in others:
        thread.start()
    work()
    for thread in others:
        thread.join()
    if failures:
        raise failures[0]
