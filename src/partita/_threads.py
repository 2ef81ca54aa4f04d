"""Threads for kernels that release the lock; the result does not depend on their number."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from partita.config import get_config

__all__ = ["run_blocks"]


def run_blocks(kernel: Callable[[int, int], object], n: int, block: int) -> None:
    """Call `kernel(start, stop)` over 0..n in blocks of `block`, on the configured threads.

    The blocks do not depend on the number of threads, and every block writes to its own place, so
    neither does the result. Exceptions reach the caller.
    """
    bounds = [(start, min(start + block, n)) for start in range(0, n, block)]
    threads = min(get_config().n_threads, len(bounds))
    if threads <= 1:
        for start, stop in bounds:
            kernel(start, stop)
        return
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(lambda bound: kernel(*bound), bounds):
            pass
