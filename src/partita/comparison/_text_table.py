"""Records as text."""

from __future__ import annotations

__all__ = ["text_table"]


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
