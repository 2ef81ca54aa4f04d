"""Data frames of the records of a result, in a library that is installed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from partita._packages import is_installed

__all__ = ["frame_of_records"]

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
