"""Threads for kernels that release the interpreter lock; results do not depend on their number."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from contextvars import copy_context
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

from partita.config import get_config

__all__ = ["blas_threads_for", "run_blocks", "run_shares", "thread_pools"]

_SMALL = 1 << 18  # numbers to read or write: below, a second thread costs more than it saves
_SMALL_ORDER = 2000  # of matrices: up to it, a second thread of BLAS costs more than it saves

_pools: dict[int, ThreadPoolExecutor] = {}  # by number of threads; kept, as starting one is slow
# a forked child inherits the dictionary but not the threads
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pools.clear)


@cache
def thread_pools() -> ThreadpoolController:
    """Return the control of the thread pools of BLAS and OpenMP.

    Finding their libraries takes longer than a small k-means run, so it is done once. What calls
    them is imported first: a library that is loaded later would not be found.
    """
    import scipy.linalg  # noqa: F401
    import sklearn.cluster  # noqa: F401

    return ThreadpoolController()


@cache
def _blas_pools() -> Any:
    """Return the control of the thread pools of BLAS: NumPy and SciPy can have one each."""
    import scipy.linalg  # noqa: F401

    return ThreadpoolController().select(user_api="blas")


def blas_threads_for(order: int) -> AbstractContextManager[Any]:
    """Return a context in which BLAS uses one thread if matrices have a small order.

    NumPy and SciPy have a pool of threads each, and the threads of one wait in a loop for its next
    call while the other one computes: on two cores, 60 iterations of NRSEC on 400 rows took six
    times as long with two threads as with one.
    """
    if order > _SMALL_ORDER:
        return nullcontext()
    limit: AbstractContextManager[Any] = _blas_pools().limit(limits=1)
    return limit


def run_blocks(kernel: Callable[[int, int], object], n: int, block: int) -> None:
    """Call `kernel(start, stop)` for blocks of 0..n of length `block`, on the configured threads.

    The blocks do not depend on the number of threads and must write to different entries, so that
    the result does not depend on it either. The calling thread runs blocks too. When no block is
    left, it waits only for threads that have started. The first exception is raised again.
    """
    bounds = [(start, min(start + block, n)) for start in range(0, n, block)]
    threads = min(get_config().n_threads, len(bounds))
    if threads <= 1:
        for start, stop in bounds:
            kernel(start, stop)
        return
    remaining = iter(bounds)
    lock = Lock()
    failures: list[BaseException] = []

    def work() -> None:
        while not failures:
            with lock:
                bound = next(remaining, None)
            if bound is None:
                return
            try:
                kernel(*bound)
            except BaseException as failure:  # noqa: BLE001 - raised again in the calling thread
                failures.append(failure)

    if threads not in _pools:
        _pools[threads] = ThreadPoolExecutor(threads - 1, "partita")
    futures = [_pools[threads].submit(copy_context().run, work) for _ in range(threads - 1)]
    try:
        work()
        for future in futures:
            if not future.cancel():
                future.result()
    except BaseException as failure:  # an interruption between two blocks
        failures.append(failure)  # the other threads begin no further block
        raise
    if failures:
        raise failures[0]


def run_shares(
    kernel: Callable[[int, int], object], n: int, work: int, per_thread: int = 2
) -> None:
    """Call `kernel(first, last)` for a few shares of 0..n per thread, or once for little work.

    The result must not depend on the bounds of the shares.

    Parameters
    ----------
    kernel : callable
    n : int
    work : int
        About how many numbers all shares read or write.
    per_thread : int, default=2
        Shares per thread. With two, a thread that starts late leaves work to the others; with one,
        work that every share repeats is done less often.
    """
    threads = get_config().n_threads
    shares = per_thread * threads if work > _SMALL and threads > 1 else 1
    run_blocks(kernel, n, max(1, -(-n // shares)))
