"""Which inputs are rows that stay where they are."""

from __future__ import annotations

from typing import Any

from partita.rows._store_rows import StoreRows
from partita.store import LabelStore

__all__ = ["rows_outside"]


def rows_outside(X: Any, noise: str, client: Any) -> StoreRows | None:
    """The rows of a store; None for what is in memory."""
    if isinstance(X, LabelStore):
        return StoreRows(X)
    return None
