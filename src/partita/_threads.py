"""Threads for kernels that release the lock; the result does not depend on their number."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from threading import Lock

from partita.config import get_config

__all__ = ["run_blocks", "run_shares"]

_SMALL = 1 << 18  # numbers to read or write below which a second thread is not worth waking

_helpers: dict[int, ThreadPoolExecutor] = {}  # by number of threads, kept: to start one takes long
# a child of this process has the list but not the threads
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_helpers.clear)


def run_blocks(kernel: Callable[[int, int], object], n: int, block: int) -> None:
    """Call `kernel(start, stop)` over 0..n in blocks of `block`, on the configured threads.

    The blocks do not depend on the number of threads, and every block writes to its own place, so
    neither does the result. The calling thread takes blocks like the others, and does not wait for
    one that has not begun when nothing is left. The first exception reaches the caller.
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

    if threads not in _helpers:
        _helpers[threads] = ThreadPoolExecutor(threads - 1, "partita")
    others = [_helpers[threads].submit(copy_context().run, work) for _ in range(threads - 1)]
    work()
    for other in others:
        if not other.cancel():
            other.result()
    if failures:
        raise failures[0]


def run_shares(
    kernel: Callable[[int, int], object], n: int, work: int, per_thread: int = 2
) -> None:
    """Call `kernel(first, last)` over 0..n in a few shares per thread, in one if it is little work.

    For kernels whose result does not depend on where a share begins. `work` is about how many
    numbers they read or write in all. Of two shares per thread one that comes late leaves the
    others something to do; one is enough where a share must do much for itself.
    """
    threads = get_config().n_threads
    shares = per_thread * threads if work > _SMALL and threads > 1 else 1
    run_blocks(kernel, n, max(1, -(-n // shares)))
