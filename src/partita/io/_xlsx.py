"""Excel files: the first sheet, read as the text that it shows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from partita._packages import require_package
from partita.exceptions import InvalidEnsembleError
from partita.io._blocks import Block, Selection, TableBlocks

__all__ = ["read_blocks"]


@contextmanager
def read_blocks(
    path: Path, selection: Selection, cells_per_block: int | None = None
) -> Iterator[TableBlocks]:
    """Read the first sheet in one block of text cells, as from a CSV file.

    Empty lines are left out. A first column without a name holds the sample ids.
    """
    openpyxl = require_package("openpyxl", "Excel files", "partita[excel]", "save it as .csv")
    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    try:
        rows = [[_text(cell) for cell in row] for row in book.worksheets[0].values]
    finally:
        book.close()
    rows = [row for row in rows if any(row)]
    if not rows:
        raise InvalidEnsembleError(f"{path} is empty: its first sheet has no cells.")
    width = max(max(i for i, cell in enumerate(row) if cell) for row in rows) + 1
    rows = [[*row, *[""] * width][:width] for row in rows]
    names = [f"partition_{i}" for i in range(width)]
    if selection.header:
        names = rows.pop(0)
    if not rows:
        raise InvalidEnsembleError(f"{path} has a header and no rows.")
    id_column = selection.id_column
    if id_column is None and names[0] == "":
        id_column = ""
    chosen = Selection(selection.columns, id_column).choose(names, str(path))
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    block = Block(
        [columns[name] for name in chosen],
        None if id_column is None else list(columns[id_column]),
    )
    id_name = None if id_column is None else id_column or "id"
    yield TableBlocks(chosen, iter([block]), id_name, len(rows), is_text=True)


def _text(value: Any) -> str:
    """Return what the cell shows: 3 for 3.0, nothing for an empty cell."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
