"""Choice between the two forms of a kernel: its definition in NumPy, and its compiled form.

Both give the same result, to the last bit. The compiled form is several times faster, but a process
that uses it first imports numba and, if its cache is empty, waits seconds for the compiler. So the
definition does small work and the compiled form large work. The choice depends on the size of the
work alone, never on what is compiled or cached.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property, update_wrapper
from importlib import import_module
from typing import Any

from partita._warn import warn_user

__all__ = ["COMPILED_FROM", "Kernel", "kernel"]

# Elementary operations on arrays: about as many as NumPy does while the compiler works.
COMPILED_FROM = 4e9


class Kernel:
    """A function on arrays in two forms.

    Parameters
    ----------
    definition : callable
        The definition. The function of the same name in the module of the same name in
        `partita._kernels._compiled` is its compiled form, with the same arguments and result.
    """

    def __init__(self, definition: Callable[..., Any]) -> None:
        self.definition = definition
        update_wrapper(self, definition)

    @cached_property
    def compiled(self) -> Callable[..., Any]:
        """The compiled form; it is compiled when it is first called."""
        package, _, topic = self.definition.__module__.rpartition(".")
        form: Callable[..., Any] = getattr(
            import_module(f"{package}._compiled.{topic}"), self.definition.__name__
        )
        return form

    def at(self, work: float) -> Callable[..., Any]:
        """Return the form for work of a size.

        Parameters
        ----------
        work : float
            About how many elementary operations the whole task needs, computed from the sizes of
            its arrays. Numbers that one instruction of NumPy handles together, such as bytes that
            are compared, count less than one each.
        """
        if work < COMPILED_FROM or not _can_compile():
            return self.definition
        return self.compiled

    def __call__(self, *arguments: Any) -> Any:
        """Call the definition."""
        return self.definition(*arguments)


kernel = Kernel  # as a decorator

_obstacle: list[str] = []  # why numba cannot be used; the user is warned once


def _can_compile() -> bool:
    """Return whether numba can be used, and warn once if it is not installed or does not work."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return False
    if _obstacle:
        return False
    try:
        import_module("numba")
    except ImportError as error:
        _obstacle.append(str(error))
        warn_user(
            f"numba cannot be imported ({error}): large tasks run on NumPy, with the same results, "
            "but take several times as long. To make them fast: pip install numba"
        )
        return False
    return True
