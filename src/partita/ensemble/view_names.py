"""Names of partitions that say which view a partition comes from: `pixel/1`, `pixel/2`, ..."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["name_partitions", "views_of_partitions"]

_NAME = re.compile(r"(.+)/\d+", re.DOTALL)


def name_partitions(view: str, count: int) -> list[str]:
    """Return the names of the partitions of a view: its name and a number from 1 on."""
    return [f"{view}/{i}" for i in range(1, count + 1)]


def views_of_partitions(names: Iterable[object] | None) -> list[str] | None:
    """Return the view of every partition; None unless the names have at least two views."""
    matches = [_NAME.fullmatch(str(name)) for name in (() if names is None else names)]
    views = [match[1] for match in matches if match is not None]
    return views if len(views) == len(matches) and len(set(views)) > 1 else None
