"""Records as a data frame or as text."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v1 as nw

from partita._packages import is_installed

__all__ = ["frame_of", "text_table"]

_FRAME_LIBRARIES = ("pandas", "polars", "pyarrow")  # in order of preference


def frame_of(records: list[dict[str, Any]], library: str | None) -> Any:
    """Return a data frame of a library, by default of the first installed; else the records."""
    installed = (name for name in _FRAME_LIBRARIES if is_installed(name))
    backend: Any = library or next(installed, None)
    if backend is None:
        return records
    columns = {key: [record[key] for record in records] for key in records[0]}
    return nw.from_dict(columns, backend=backend).to_native()


def text_table(table: list[list[str]]) -> str:
    """Return aligned lines. A row with fewer cells than the first does not set the widths."""
    complete = [row for row in table if len(row) == len(table[0])]
    widths = [max(len(row[0]) for row in table)]
    widths += [max(map(len, column)) for column in list(zip(*complete, strict=True))[1:]]
    return "\n".join(_line(row, widths) for row in table)


def _line(cells: list[str], widths: list[int]) -> str:
    """Return a row of a text table: first column flush left, numbers flush right."""
    first, *rest = cells
    if len(cells) < len(widths):
        return "  ".join([first.ljust(widths[0]), *rest])
    numbers = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
    return "  ".join([first.ljust(widths[0]), *numbers])
