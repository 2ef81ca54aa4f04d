"""Code a whole table of integers at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._threads import run_blocks
from partita.exceptions import InvalidEnsembleError

__all__ = ["code_dtype", "encode_table"]

_ROWS = 4096  # per block
_FIRST_SPAN = 256  # values from -1 (or 0) on that are tried first, before the extent is computed
_OPERATIONS = 40  # elementary operations per label
_LARGEST_SPAN = 1 << 16  # between the smallest and the largest value of a column


def code_dtype(n_clusters: int) -> Any:
    """Return the narrowest unsigned type for n_clusters codes and the missing code."""
    for dtype in (np.uint8, np.uint16, np.uint32):
        if n_clusters <= np.iinfo(dtype).max:
            return dtype
    raise InvalidEnsembleError(
        f"A partition has {n_clusters} clusters, more than 32-bit codes can number."
    )


def encode_table(
    table: NDArray[Any], noise: str
) -> tuple[NDArray[Any], tuple[NDArray[Any], ...]] | None:
    """Do what `encode` does for a table of integers, all columns at once.

    Return None for other tables, where the values of a column span too wide a range, and where a
    column needs an error or noise clusters of single samples.
    """
    if type(table) is not np.ndarray or table.dtype.kind not in "iu":
        return None
    wide = np.ascontiguousarray(table, np.uint64 if table.dtype.kind == "u" else np.int64)
    n, m = wide.shape
    lowest = np.full(m, 0 if table.dtype.kind == "u" else -1, wide.dtype)
    located = _locate(wide, lowest, lowest + (_FIRST_SPAN - 1))
    if located is None:
        lowest, highest = _extent(wide)
        if int((highest - lowest).max()) >= _LARGEST_SPAN or (highest - lowest < 0).any():
            return None
        located = _locate(wide, lowest, highest)
        assert located is not None
    places, present = located
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
    recode = _kernels.coding.recode.at(_OPERATIONS * coded.size)
    run_blocks(lambda a, b: recode(places, codes, a, b, coded), n, _ROWS)
    labels = tuple(
        np.flatnonzero(is_present).astype(wide.dtype) + first
        for is_present, first in zip(present, lowest, strict=True)
    )
    return coded, labels


def _extent(table: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the smallest and the largest value of every column."""
    n, m = table.shape
    low, high = np.empty((2, len(range(0, n, _ROWS)), m), table.dtype)
    kernel = _kernels.coding.extent.at(_OPERATIONS * table.size)
    run_blocks(lambda a, b: kernel(table, a, b, low[a // _ROWS], high[a // _ROWS]), n, _ROWS)
    return low.min(axis=0), high.max(axis=0)


def _locate(
    table: NDArray[Any], lowest: NDArray[Any], highest: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[np.bool_]] | None:
    """Return the value minus `lowest` of its column, and which differences occur per column.

    Return None if a value lies outside lowest..highest of its column.
    """
    span = int((highest - lowest).max()) + 1
    places = np.empty(table.shape, np.uint8 if span <= 256 else np.uint16)
    present = np.zeros((table.shape[1], span), bool)
    kernel, inside = _kernels.coding.shift.at(_OPERATIONS * table.size), []
    run_blocks(
        lambda a, b: inside.append(kernel(table, lowest, highest, a, b, places, present)),
        len(table),
        _ROWS,
    )
    return (places, present) if all(inside) else None
