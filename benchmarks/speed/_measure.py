"""Seconds, peak memory and ratios. Only the call is timed; compilers are warmed up first."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import psutil


@dataclass(frozen=True)
class Record:
    """One target: what ran, how long, beside what, and what was asked for."""

    name: str
    seconds: float
    reference: str
    reference_seconds: float
    target: float
    peak_mb: float | None = None
    reference_peak_mb: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float:
        return self.reference_seconds / self.seconds

    @property
    def met(self) -> bool:
        return self.ratio >= self.target


def seconds(call: Callable[[], Any], repeats: int = 3) -> float:
    """The fastest of a few runs, after one that does not count (caches, compilers)."""
    call()
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def _child(call: Callable[[], Any], warm: Callable[[], Any], queue: Any) -> None:
    warm()
    process = psutil.Process(os.getpid())
    before = process.memory_info().rss
    peak = before
    running = True

    def watch() -> None:
        nonlocal peak
        while running:
            peak = max(peak, process.memory_info().rss)
            time.sleep(0.002)

    thread = threading.Thread(target=watch)
    thread.start()
    call()
    running = False
    thread.join()
    queue.put((peak - before) / 2**20)


def peak_mb(call: Callable[[], Any], warm: Callable[[], Any] | None = None) -> float:
    """Resident memory a call adds at its peak, in MB, seen from a process of its own.

    `warm` runs first, on small data, so that compiled code and imports do not count.
    """
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=_child, args=(call, warm or (lambda: None), queue))
    process.start()
    result = queue.get()
    process.join()
    return float(result)
