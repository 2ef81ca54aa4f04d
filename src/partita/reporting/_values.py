"""Convert values to JSON types, and shorten names to a length that fits a page."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from math import isfinite
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import Any

import numpy as np

__all__ = ["drop_folders", "join_names", "shorten", "to_json"]

_LONGEST_NAME = 80
_LONGEST_NAME_IN_LIST = 40
_LONGEST_TEXT = 300
_DIGITS = 4
_MOST_NAMES = 5


def shorten(name: Any, longest: int = _LONGEST_NAME) -> str:
    """Return a name as one line of at most `longest` characters, without control characters."""
    text = str(name)
    shown = text if len(text) <= longest else text[: longest - 1] + "…"
    return "".join(" " if unicodedata.category(c) in ("Cc", "Cs") else c for c in shown)


def to_json(value: Any) -> Any:
    """Convert to numbers, text, lists and dictionaries; NaN and infinity become None.

    Floats keep four digits after the point, more than a figure or a table shows.
    """
    if isinstance(value, np.ndarray):
        return to_json(value.tolist())
    if isinstance(value, np.generic):
        return to_json(value.item())
    if isinstance(value, Mapping):
        return {shorten(key): to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, float):
        return round(value, _DIGITS) if isfinite(value) else None
    if value is None or isinstance(value, bool | int):
        return value
    return shorten(value, _LONGEST_TEXT)


def drop_folders(value: Any) -> Any:
    """Replace absolute paths by file names, so that a report does not show a user's folders."""
    if isinstance(value, Mapping):
        return {key: drop_folders(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [drop_folders(item) for item in value]
    if isinstance(value, str | PurePath):
        for path in (PurePosixPath(value), PureWindowsPath(value)):
            if path.is_absolute():
                return path.name
    return value


def join_names(names: list[Any]) -> str:
    """List names in a sentence; of many, the first few and the number of the others."""
    shown = [shorten(name, _LONGEST_NAME_IN_LIST) for name in names[:_MOST_NAMES]]
    if len(names) > _MOST_NAMES:
        return f"{', '.join(shown)} and {len(names) - _MOST_NAMES:,} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
