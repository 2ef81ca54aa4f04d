"""How many bytes a dense step needs, how many there are, and one error when they do not fit."""

from __future__ import annotations

from pathlib import Path

import psutil

from partita.config import get_config
from partita.exceptions import MemoryBudgetError

__all__ = ["available_bytes", "describe_bytes", "memory_budget", "require_memory"]

_SHARE_OF_FREE = 0.8
_CGROUP = Path("/sys/fs/cgroup")


def available_bytes() -> int:
    """Memory this process could still get: what is free, within the container's limit if any."""
    free = int(psutil.virtual_memory().available)
    limit, used = _CGROUP / "memory.max", _CGROUP / "memory.current"
    if limit.is_file() and used.is_file():
        text = limit.read_text().strip()
        if text != "max":
            free = min(free, max(0, int(text) - int(used.read_text())))
    return free


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


def require_memory(needed: int, what: str, hint: str = "") -> None:
    """Raise `MemoryBudgetError` if `needed` bytes exceed the budget."""
    budget = memory_budget()
    if needed > budget:
        raise MemoryBudgetError(
            f"{what} needs {describe_bytes(needed)} ({needed} bytes), the memory budget is "
            f"{describe_bytes(budget)}. {hint}".rstrip()
            + " Raise the budget with partita.set_config(memory_budget=bytes) if you have more."
        )
