"""Choice of `Rows` for an input that is not in memory."""

from __future__ import annotations

from typing import Any

from partita.io.store import LabelStore
from partita.scale._dask_rows import DaskRows
from partita.scale._store_rows import StoreRows

__all__ = ["rows_outside"]


def rows_outside(X: Any, noise: str, client: Any) -> StoreRows | DaskRows | None:
    """Return the rows of a store or of a Dask array; None for labels in memory."""
    if type(X).__module__.startswith("dask.array"):  # without an import of Dask
        return DaskRows.of_array(X, noise, client)
    if isinstance(X, LabelStore):
        return StoreRows(X) if client is None else DaskRows.of_store(X, client)
    if client is not None:
        raise TypeError(
            f"A client works on a LabelStore or a Dask array, and X is a {type(X).__name__} in "
            "memory. Leave client out, or write the labels to a store first: "
            "LabelStore.from_partitions."
        )
    return None
