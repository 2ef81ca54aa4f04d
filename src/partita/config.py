"""Settings of the library: memory budget, threads and progress callback.

They are kept in a context variable: a value set in one thread or asynchronous task does not change
another.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from numbers import Integral, Real
from typing import Any

__all__ = ["Config", "Progress", "config_context", "get_config", "report_progress", "set_config"]


@dataclass(frozen=True)
class Progress:
    """One step of a long task, passed to the progress callback.

    Attributes
    ----------
    task : str
        Name of the task.
    done : int
        Number of steps that are done. It starts again from 0 if the task does.
    total : int or None
        Number of steps, None if unknown.
    message : str
        What the task is doing; may be empty.
    seconds : float or None
        Expected seconds of the whole task, measured on a small part of the work. None if the task
        does not measure them.
    """

    task: str
    done: int
    total: int | None = None
    message: str = ""
    seconds: float | None = None


def _cores() -> int:
    """Return how many cores this process may use; in a container, fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


@dataclass(frozen=True)
class Config:
    """Settings of the library.

    Attributes
    ----------
    memory_budget : int or None
        Number of bytes that the arrays of one step may take. By default the environment variable
        `PARTITA_MEMORY_BUDGET`; None, if that is not set, means 80 % of the memory that is free
        when a step starts.
    n_threads : int
        Number of threads of the compiled kernels. Results do not depend on it. By default the
        environment variable `PARTITA_NUM_THREADS`, or the number of cores.
    progress : callable or None
        Function that is called with a `Progress` at every step of a long task. None by default.
    """

    memory_budget: int | None = None
    n_threads: int = 1
    progress: Callable[[Progress], None] | None = None

    def __post_init__(self) -> None:
        budget: Any = self.memory_budget
        threads: Any = self.n_threads
        if budget is not None and not (_is_number(Real, budget) and 1 <= budget < math.inf):
            raise ValueError(f"memory_budget must be a positive number of bytes, got {budget!r}")
        if not (_is_number(Integral, threads) and threads >= 1):
            raise ValueError(f"n_threads must be a whole number of at least 1, got {threads!r}")
        if self.progress is not None and not callable(self.progress):
            raise TypeError(f"progress must be callable or None, got {self.progress!r}")
        if self.memory_budget is not None:
            object.__setattr__(self, "memory_budget", int(self.memory_budget))


def _is_number(kind: type, value: object) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _from_environment() -> Config:
    return Config(
        memory_budget=_number("PARTITA_MEMORY_BUDGET"),
        n_threads=_number("PARTITA_NUM_THREADS") or _cores(),
    )


def _number(variable: str) -> int | None:
    text = os.environ.get(variable)
    if not text:
        return None
    try:
        number = int(float(text))
    except (ValueError, OverflowError):
        number = 0
    if number < 1:
        raise ValueError(f"The environment variable {variable} must be a positive number: {text!r}")
    return number


_config: ContextVar[Config] = ContextVar("partita_config", default=_from_environment())  # noqa: B039


def get_config() -> Config:
    """Return the current settings."""
    return _config.get()


def set_config(**settings: object) -> None:
    """Change settings for the rest of the thread or asynchronous task.

    Parameters
    ----------
    **settings
        New values of `memory_budget`, `n_threads` or `progress`, as in `Config`.
    """
    _config.set(_changed(settings))


def _changed(settings: dict[str, object]) -> Config:
    names = [f.name for f in fields(Config)]
    if unknown := sorted(set(settings) - set(names)):
        raise TypeError(f"No setting {', '.join(unknown)}; there are {', '.join(names)}.")
    return replace(_config.get(), **settings)  # type: ignore[arg-type]


@contextmanager
def config_context(**settings: object) -> Iterator[Config]:
    """Change settings within a `with` block.

    Parameters
    ----------
    **settings
        New values of `memory_budget`, `n_threads` or `progress`, as in `Config`.

    Examples
    --------
    >>> import partita
    >>> with partita.config_context(n_threads=1):
    ...     partita.get_config().n_threads
    1
    """
    token = _config.set(_changed(settings))
    try:
        yield _config.get()
    finally:
        _config.reset(token)


def report_progress(
    task: str,
    done: int,
    total: int | None = None,
    message: str = "",
    seconds: float | None = None,
) -> None:
    """Call the progress callback, if there is one, with the state of a task."""
    callback = _config.get().progress
    if callback is not None:
        callback(Progress(task, done, total, message, seconds))
