"""Compiled kernels: plain arrays in and out, no knowledge of anything above them.

A kernel module is imported, and numba with it, when one of its kernels is first used:
`from partita import _kernels` costs nothing, `_kernels.rows.distinct(...)` loads the compiler.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

_MODULES = {path.stem for path in Path(__file__).parent.glob("[a-z]*.py")}


def __getattr__(name: str) -> ModuleType:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
