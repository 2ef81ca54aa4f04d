"""Packages that only some uses need."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from partita.exceptions import MissingPackageError

__all__ = ["is_installed", "require_package"]


def is_installed(package: str) -> bool:
    """Whether a package can be imported, without importing it."""
    return find_spec(package) is not None


def require_package(module: str, purpose: str, install: str) -> Any:
    """Import and return a module, or raise `MissingPackageError`.

    Parameters
    ----------
    module : str
        Dotted name, such as "pyarrow.parquet".
    purpose : str
        What needs the package, as the start of the message: "Parquet files".
    install : str
        What to pass to pip: "partita[parquet]".
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise MissingPackageError(
            f"{purpose} need the package {package}: pip install '{install}'"
        ) from error
