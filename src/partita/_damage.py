"""Explain errors of packages that read a damaged file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from partita.exceptions import InvalidEnsembleError, InvalidFileError

__all__ = ["explained_reading"]

# Errors with a message of their own: ours, too little memory, a missing package, no file, no right.
_CLEAR = (
    InvalidEnsembleError,
    MemoryError,
    ImportError,
    FileNotFoundError,
    IsADirectoryError,
    PermissionError,
)


@contextmanager
def explained_reading(path: str | Path) -> Iterator[None]:
    """Raise `InvalidFileError` instead of any error of the package that reads a file."""
    try:
        yield
    except _CLEAR:
        raise
    except Exception as error:
        reason = str(error).strip().rstrip(".") or "no reason stated"
        raise InvalidFileError(
            f"Cannot read {str(path)!r}: {type(error).__name__}: {reason}. The file is damaged or "
            "incomplete, or is not what its suffix says. Restore it from a copy or write it again."
        ) from error
