"""How many bytes a dense step needs, how many there are, and one error when they do not fit."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Self

import psutil

from partita.config import get_config
from partita.exceptions import MemoryBudgetError

__all__ = ["PeakMemory", "available_bytes", "describe_bytes", "memory_budget", "require_memory"]

_SHARE_OF_FREE = 0.8
_CGROUP = Path("/sys/fs/cgroup")
_CGROUP_V2 = ("memory.max", "memory.current", "memory.stat")
_CGROUP_V1 = tuple(f"memory/memory.{name}" for name in ("limit_in_bytes", "usage_in_bytes", "stat"))
_LOOK_EVERY = 0.005  # seconds


def available_bytes() -> int:
    """Memory this process could still get: what is free, within the container's limit if any."""
    free = int(psutil.virtual_memory().available)
    for names in (_CGROUP_V2, _CGROUP_V1):
        limit, used, statistics = (_CGROUP / name for name in names)
        if limit.is_file() and used.is_file() and (text := limit.read_text().strip()) != "max":
            taken = int(used.read_text()) - _reclaimable(statistics)
            free = min(free, max(0, int(text) - taken))
    return free


def _reclaimable(statistics: Path) -> int:
    """Bytes of cached files that the kernel counts as used and gives up when asked."""
    if not statistics.is_file():
        return 0
    numbers = dict(line.split() for line in statistics.read_text().splitlines())
    return int(numbers.get("total_inactive_file", numbers.get("inactive_file", 0)))


def memory_budget() -> int:
    """The configured budget in bytes, or 80 % of what is free."""
    configured = get_config().memory_budget
    return configured if configured is not None else int(_SHARE_OF_FREE * available_bytes())


def describe_bytes(n: float) -> str:
    """Bytes as a person says them: 1536 -> '1.5 kB'."""
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if n < 1024 or unit == "TB":
            return f"{n:.0f} {unit}" if unit == "bytes" else f"{n:.1f} {unit}"
        n /= 1024
    raise AssertionError("unreachable")


def require_memory(needed: int, what: str, hint: Callable[[int], str] = lambda budget: "") -> None:
    """Raise `MemoryBudgetError` if `needed` bytes exceed the budget; `hint(budget)` says more."""
    budget = memory_budget()
    if needed > budget:
        raise MemoryBudgetError(
            f"{what} needs {describe_bytes(needed)} ({needed} bytes), the memory budget is "
            f"{describe_bytes(budget)}. {hint(budget)}".rstrip()
            + " Raise the budget with partita.set_config(memory_budget=bytes) if you have more."
        )


class PeakMemory:
    """Resident memory this process gains while a `with` block runs, at its peak.

    A thread looks every few milliseconds, which counts what compiled libraries allocate too.
    Memory that the process held before and uses again does not count, and neither does a peak
    shorter than that: read it to a few megabytes.
    """

    def __enter__(self) -> Self:
        self._process = psutil.Process()
        self._before = self._highest = self._resident()
        self._left = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._left.set()
        self._watcher.join()

    @property
    def gained(self) -> int:
        return self._highest - self._before

    def _watch(self) -> None:
        while not self._left.wait(_LOOK_EVERY):
            self._highest = max(self._highest, self._resident())

    def _resident(self) -> int:
        return int(self._process.memory_info().rss)
