"""Available memory, the memory budget, and the error when a step would exceed it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from partita.config import get_config
from partita.exceptions import MemoryBudgetError

__all__ = ["PeakMemory", "available_bytes", "describe_bytes", "memory_budget", "require_memory"]

_SHARE_OF_FREE = 0.8
_NEGLIGIBLE = 1 << 22  # bytes: measuring the free memory takes longer than to fill them
_CGROUP = Path("/sys/fs/cgroup")
_CGROUP_V2 = ("memory.max", "memory.current", "memory.stat")
_CGROUP_V1 = tuple(f"memory/memory.{name}" for name in ("limit_in_bytes", "usage_in_bytes", "stat"))
_INTERVAL = 0.005  # seconds between two measurements
_PROC = Path("/proc")
_ASSUMED_BYTES = 2**30  # available memory where no way to measure it exists, as in a browser


def available_bytes() -> int:
    """Return the memory that this process can still get, within the limit of its container."""
    free = _available_on_machine()
    for names in (_CGROUP_V2, _CGROUP_V1):
        limit, used, statistics = (_CGROUP / name for name in names)
        if limit.is_file() and used.is_file() and (text := limit.read_text().strip()) != "max":
            in_use = int(used.read_text()) - _reclaimable(statistics)
            free = min(free, max(0, int(text) - in_use))
    return free


def _psutil() -> Any:
    """Return the package psutil, or None where it is not installed, as in a browser."""
    try:
        import psutil
    except ImportError:
        return None
    return psutil


def _available_on_machine() -> int:
    """Return the available memory of the machine, 1 GB where it cannot be measured."""
    if psutil := _psutil():
        return int(psutil.virtual_memory().available)
    if (table := _PROC / "meminfo").is_file():
        for line in table.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # not on this system
        return _ASSUMED_BYTES


def _resident_bytes() -> int:
    """Return the resident memory of this process, 0 where it cannot be measured."""
    if psutil := _psutil():
        return int(psutil.Process().memory_info().rss)
    if (statistics := _PROC / "self/statm").is_file():
        return int(statistics.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _reclaimable(statistics: Path) -> int:
    """Return the bytes of cached files, which count as used but can be freed at any time."""
    if not statistics.is_file():
        return 0
    values = dict(line.split() for line in statistics.read_text().splitlines())
    return int(values.get("total_inactive_file", values.get("inactive_file", 0)))


def memory_budget() -> int:
    """Return the configured budget in bytes, by default 80 % of the available memory."""
    configured = get_config().memory_budget
    return configured if configured is not None else int(_SHARE_OF_FREE * available_bytes())


def describe_bytes(n: float) -> str:
    """Return a number of bytes with a unit: 1536 -> '1.5 kB'."""
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if n < 1024 or unit == "TB":
            return f"{n:.0f} {unit}" if unit == "bytes" else f"{n:.1f} {unit}"
        n /= 1024
    raise AssertionError("unreachable")


def require_memory(needed: int, what: str, hint: Callable[[int], str] = lambda budget: "") -> None:
    """Raise `MemoryBudgetError` if `needed` bytes exceed the budget.

    `what` names the step in the message, and `hint(budget)` is added to it.
    """
    if needed <= _NEGLIGIBLE and get_config().memory_budget is None:
        return
    budget = memory_budget()
    if needed > budget:
        raise MemoryBudgetError(
            f"{what} needs {describe_bytes(needed)} ({needed} bytes), the memory budget is "
            f"{describe_bytes(budget)}. {hint(budget)}".rstrip()
            + " Raise the budget with partita.set_config(memory_budget=bytes), on the command line "
            "with `partita --memory 8GB ...`, if you have more."
        )


class PeakMemory:
    """Largest increase of the resident memory of this process during a `with` block.

    A thread measures every 5 milliseconds, so that memory of compiled libraries counts too. Memory
    that the process held before and uses again does not count, and shorter peaks are missed: the
    result is accurate to a few megabytes. Without psutil it is measured on Linux only, and 0
    elsewhere.
    """

    def __enter__(self) -> Self:
        self._before = self._highest = _resident_bytes()
        self._stop = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._watcher.join()

    @property
    def gained(self) -> int:
        """Increase in bytes."""
        return self._highest - self._before

    def _watch(self) -> None:
        while not self._stop.wait(_INTERVAL):
            self._highest = max(self._highest, _resident_bytes())
