"""Codes 0..K-1 for a whole table of numbers at once, and the type they take."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._threads import run_blocks
from partita.exceptions import InvalidEnsembleError

__all__ = ["code_dtype", "encode_table"]

_ROWS = 4096
_USUAL = 256  # as many numbers from -1 or 0 on are looked for before anything is known
_SPAN = 1 << 16  # between the smallest and the largest number of a column: a table has room for it


def code_dtype(n_clusters: int) -> Any:
    """Narrowest unsigned type with room for n_clusters codes and the missing code."""
    for dtype in (np.uint8, np.uint16, np.uint32):
        if n_clusters <= np.iinfo(dtype).max:
            return dtype
    raise InvalidEnsembleError(
        f"A partition of {n_clusters} clusters is more than 32 bits can number."
    )


def encode_table(
    table: NDArray[Any], noise: str
) -> tuple[NDArray[Any], tuple[NDArray[Any], ...]] | None:
    """`encode` for a plain table of whole numbers close together, all columns at once.

    None where it is something else, or where something is to be said about a column.
    """
    if type(table) is not np.ndarray or table.dtype.kind not in "iu":
        return None
    wide = np.ascontiguousarray(table, np.uint64 if table.dtype.kind == "u" else np.int64)
    n, m = wide.shape
    lowest = np.full(m, 0 if table.dtype.kind == "u" else -1, wide.dtype)
    found = _placed(wide, lowest, lowest + (_USUAL - 1))
    if found is None:
        lowest, highest = _extent(wide)
        if int((highest - lowest).max()) >= _SPAN or (highest - lowest < 0).any():
            return None
        found = _placed(wide, lowest, highest)
        assert found is not None
    places, present = found
    if noise != "cluster" and table.dtype.kind == "i":
        noisy = np.flatnonzero((lowest <= -1) & (lowest + present.shape[1] > -1))
        noise_at = (noisy, -1 - lowest[noisy])
        if noise != "missing" and present[noise_at].any():
            return None
        present[noise_at] = False
    n_labels = present.sum(axis=1)
    if not n_labels.all():
        return None
    dtype = code_dtype(int(n_labels.max()))
    codes = np.where(present, np.cumsum(present, axis=1) - 1, np.iinfo(dtype).max).astype(dtype)
    coded = np.empty((n, m), dtype)
    run_blocks(lambda a, b: _kernels.coding.recode(places, codes, a, b, coded), n, _ROWS)
    labels = tuple(
        np.flatnonzero(there).astype(wide.dtype) + first
        for there, first in zip(present, lowest, strict=True)
    )
    return coded, labels


def _extent(table: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Smallest and largest number of every column."""
    n, m = table.shape
    low, high = np.empty((2, len(range(0, n, _ROWS)), m), table.dtype)
    kernel = _kernels.coding.extent
    run_blocks(lambda a, b: kernel(table, a, b, low[a // _ROWS], high[a // _ROWS]), n, _ROWS)
    return low.min(axis=0), high.max(axis=0)


def _placed(
    table: NDArray[Any], lowest: NDArray[Any], highest: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[np.bool_]] | None:
    """How far numbers lie above the lowest of their column, and at which distances there are any.

    None if a number lies outside of what its column may hold.
    """
    span = int((highest - lowest).max()) + 1
    places = np.empty(table.shape, np.uint8 if span <= 256 else np.uint16)
    present = np.zeros((table.shape[1], span), bool)
    kernel, inside = _kernels.coding.place, []
    run_blocks(
        lambda a, b: inside.append(kernel(table, lowest, highest, a, b, places, present)),
        len(table),
        _ROWS,
    )
    return (places, present) if all(inside) else None
