"""Measure seconds, peak memory and ratios of calls, after compilation."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from partita._memory import PeakMemory


@dataclass(frozen=True)
class Record:
    """One measurement with its reference and the ratio it should reach."""

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
    """Return the fastest of some runs, after one that is not counted (caches, compilation)."""
    (best,) = in_turn(call, repeats=repeats)
    return best


def in_turn(
    *calls: Callable[[], Any], repeats: int = 3, times: tuple[int, ...] | None = None
) -> list[float]:
    """Return the fastest run of each call.

    The calls alternate, each `times` in a row, so that other load on the machine slows all of them.
    """
    for call in calls:
        call()
    best = [float("inf")] * len(calls)
    for _ in range(repeats):
        for i, call in enumerate(calls):
            for _ in range(1 if times is None else times[i]):
                start = time.perf_counter()
                call()
                best[i] = min(best[i], time.perf_counter() - start)
    return best


def peak_mb(call: Callable[[], Any], warm: Callable[[], Any] | None = None) -> float:
    """Return the resident memory that a call adds at its peak, in MB.

    `warm` runs first, on small data, so that compiled code and imports do not count.
    """
    if warm is not None:
        warm()
    gc.collect()
    with PeakMemory() as memory:
        call()
    return memory.gained / 2**20
