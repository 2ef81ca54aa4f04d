"""Walk the public names of the library: what `partita` exports, and what its public modules do."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from typing import Any

import partita

# Modules for people who write methods; users meet their names through `partita`.
MODULES = tuple(partita._MODULES)


def exported() -> Iterator[tuple[str, Any]]:
    """Yield every public name with its object: `partita.x`, then `partita.module.x`."""
    for name in sorted(partita.__all__):
        yield f"partita.{name}", getattr(partita, name)
    for module in sorted(MODULES):
        content = importlib.import_module(f"partita.{module}")
        for name in sorted(content.__all__):
            # a method on views may have the name of a consensus method
            if getattr(partita, name, None) is not getattr(content, name):
                yield f"partita.{module}.{name}", getattr(content, name)


def documented() -> Iterator[tuple[str, Any]]:
    """Yield public classes, functions and the public methods that the library defines."""
    for name, content in exported():
        if inspect.isclass(content):
            yield name, content
            for method_name, method in public_methods(content):
                yield f"{name}.{method_name}", method
        elif inspect.isroutine(content):
            yield name, content


def public_methods(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods of a class that are defined in the library, inherited ones too."""
    for name, member in sorted(inspect.getmembers(cls, inspect.isroutine)):
        module = getattr(member, "__module__", None) or ""
        if not name.startswith("_") and module.split(".")[0] == "partita":
            yield name, member


def signature(content: Any) -> inspect.Signature | None:
    """Return the signature, or None where Python has none (exceptions)."""
    try:
        return inspect.signature(content)
    except (TypeError, ValueError):
        return None
