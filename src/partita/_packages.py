"""Import optional packages, which only some features need."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from partita.exceptions import MissingPackageError

__all__ = ["is_installed", "require_package"]


def is_installed(package: str) -> bool:
    """Return whether a package can be imported, without importing it."""
    return find_spec(package) is not None


def require_package(module: str, purpose: str, install: str, alternative: str = "") -> Any:
    """Import and return a module, or raise `MissingPackageError`.

    Parameters
    ----------
    module : str
        Dotted name, such as "pyarrow.parquet".
    purpose : str
        What needs the package, in the plural, as the start of the message: "Parquet files".
    install : str
        What to pass to pip: "partita[parquet]".
    alternative : str, default=""
        What to do instead, as the end of the message: 'pass partitioner="builtin"'.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        otherwise = f", or {alternative}" if alternative else ""
        raise MissingPackageError(
            f"{purpose} need the package {package}: pip install '{install}'{otherwise}"
        ) from error
