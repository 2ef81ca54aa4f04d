"""Values as JSON knows them, and a user's names at a length a page can carry."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from math import isfinite
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import Any

import numpy as np

__all__ = ["in_words", "plain", "short", "without_folders"]

_LONGEST = 80
_LONGEST_IN_A_LIST = 40
_LONGEST_TEXT = 300
_DIGITS = 4
_MOST_NAMES = 5


def short(name: Any, longest: int = _LONGEST) -> str:
    """A name as one line of at most so many letters that every encoding and parser takes."""
    text = "".join(" " if unicodedata.category(c) in ("Cc", "Cs") else c for c in str(name))
    return text if len(text) <= longest else text[: longest - 1] + "…"


def plain(value: Any) -> Any:
    """Numbers, text, lists and dictionaries; arrays become lists, NaN and infinity None.

    Floats keep four digits after the point, which is more than a picture or a table shows.
    """
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, Mapping):
        return {short(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return round(value, _DIGITS) if isfinite(value) else None
    if value is None or isinstance(value, bool | int):
        return value
    return short(value, _LONGEST_TEXT)


def without_folders(value: Any) -> Any:
    """Provenance that says which file, not where on whose machine it lay."""
    if isinstance(value, Mapping):
        return {key: without_folders(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_folders(item) for item in value]
    if isinstance(value, str | PurePath):
        for path in (PurePosixPath(value), PureWindowsPath(value)):
            if path.is_absolute():
                return path.name
    return value


def in_words(names: list[Any]) -> str:
    """Names as a person lists them, the first few of many."""
    shown = [short(name, _LONGEST_IN_A_LIST) for name in names[:_MOST_NAMES]]
    if len(names) > _MOST_NAMES:
        return f"{', '.join(shown)} and {len(names) - _MOST_NAMES:,} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
