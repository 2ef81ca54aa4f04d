"""Tables of the records of a result: data frames, and HTML for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from partita._packages import is_installed

__all__ = ["frame_of_records", "html_of_records"]

_LIBRARIES = ("pandas", "polars", "pyarrow")  # in order of preference


def frame_of_records(records: Sequence[dict[str, Any]], library: str | None = None) -> Any:
    """Return records with the same keys as a data frame.

    Parameters
    ----------
    records : list of dict
        One dictionary per row, all with the same keys.
    library : str, optional
        Library of the data frame. By default the first of pandas, polars and pyarrow that is
        installed; if none is, the records are returned as they are.
    """
    backend: Any = library or next(filter(is_installed, _LIBRARIES), None)
    if backend is None or not records:
        return records
    import narwhals.stable.v1 as nw

    columns = {key: [record[key] for record in records] for key in records[0]}
    return nw.from_dict(columns, backend=backend).to_native()


def html_of_records(
    records: Sequence[dict[str, Any]],
    columns: Iterable[str] | None = None,
    caption: str = "",
    picture: str = "",
) -> str:
    """Return records as an HTML table, which a notebook shows.

    Parameters
    ----------
    records : list of dict
        One dictionary per row.
    columns : iterable of str, optional
        Keys to show. By default all keys of the first record.
    caption : str, default=""
        Text above the table.
    picture : str, default=""
        SVG below the table.
    """
    keys = list(columns or (records[0] if records else ()))
    head = "".join(f"<th>{escape(key)}</th>" for key in keys)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(_cell(record[key]))}</td>" for key in keys) + "</tr>"
        for record in records
    )
    return (
        f"<div><p>{escape(caption)}</p><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table>{picture}</div>"
    )


def _cell(value: Any) -> str:
    if value is None or value != value:
        return ""
    return f"{round(value, 3) + 0.0:.4g}" if isinstance(value, float) else str(value)
