"""One table of a report."""

from __future__ import annotations

from typing import Any

from partita.reporting._values import to_json

__all__ = ["ReportTable", "make_table"]

ReportTable = dict[str, Any]


def make_table(
    columns: dict[str, str], rows: list[dict[str, Any]], n_left_out: int, left_out: str, help_: str
) -> ReportTable:
    """Return a table of JSON types.

    Parameters
    ----------
    columns : dict of str to str
        Heading of each column, by the key that it has in the rows.
    rows : list of dict
        The rows; they may have more keys.
    n_left_out : int
        Number of rows that are not in the table.
    left_out : str
        Sentence about them, without the number.
    help_ : str
        Meaning of the columns.
    """
    return {
        "columns": columns,
        "rows": to_json([{key: row[key] for key in columns} for row in rows]),
        "n_left_out": n_left_out,
        "left_out": f"{n_left_out:,} {left_out}" if n_left_out else "",
        "help": help_,
    }
