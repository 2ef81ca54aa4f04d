"""Reduce an ensemble exactly to weighted distinct rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._threads import run_shares
from partita.ensemble._canonical_order import canonical_order
from partita.ensemble.layout import LabelLayout, read_only

if TYPE_CHECKING:
    from partita.ensemble._ensemble import Ensemble

__all__ = ["compress", "ordered_rows"]

_OPERATIONS = 40  # elementary operations per label
_FIRST_ROWS = 64  # rows in which all columns usually differ


def compress(ensemble: Ensemble) -> Ensemble:
    """Reduce an ensemble to its distinct rows; see `Ensemble.compress`."""
    layout = ensemble.layout
    has_missing = ensemble.n_missing > 0
    codes, rows, position, weights = ordered_rows(
        ensemble.codes, layout, ensemble.weights, has_missing=has_missing
    )
    new_code = _number_clusters(codes, layout, rows)
    columns = np.arange(layout.n_partitions)
    columns = _column_order(
        lambda n: _recode(codes, layout, new_code, rows[:n], columns), len(rows)
    )
    names = layout.partition_names
    return replace(
        ensemble,
        codes=_recode(codes, layout, new_code, rows, columns),
        layout=LabelLayout(
            layout.dtype,
            tuple(_reordered_categories(layout, i, new_code) for i in columns.tolist()),
            None if names is None else names[columns],
        ),
        weights=weights,
        inverse=position,
        partition_order=ensemble.partition_order[columns],
    )


def ordered_rows(
    codes: NDArray[Any], layout: LabelLayout, weights: NDArray[np.float64], *, has_missing: bool
) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return the distinct rows of a table, and their canonical order.

    Returns
    -------
    codes : array of shape (n_distinct, m)
        Distinct rows in order of appearance.
    rows : array of shape (n,)
        Those of them that have a label, in canonical order.
    position : array
        The place in this order of every row of the table, -1 for a row without any label.
    weights : array of shape (n,)
        Weights of the rows in this order.
    """
    inverse = np.empty(len(codes), np.int64)
    first = np.empty(len(codes), np.int64)
    n_distinct = _kernels.rows.distinct.at(_OPERATIONS * codes.size)(codes, inverse, first)
    if n_distinct < len(codes):
        # Read-only like `ensemble.codes`: numba compiles the kernels for one kind of array only.
        codes = read_only(codes[first[:n_distinct]])
    weights = _sum_weights(weights, inverse, n_distinct)

    # A row without any label takes no part in the canonical order.
    rows = np.arange(n_distinct)
    if has_missing:
        rows = np.flatnonzero((codes != layout.missing_code).any(axis=1))
    labeled = codes if len(rows) == n_distinct else read_only(codes[rows])
    rows = rows[canonical_order(labeled, layout.missing_code, layout.offsets, weights[rows])]
    position = np.full(n_distinct, -1, np.int64)
    position[rows] = np.arange(len(rows))
    return codes, rows, position[inverse], weights[rows]


def _sum_weights(
    weights: NDArray[np.float64], inverse: NDArray[np.int64], n_distinct: int
) -> NDArray[np.float64]:
    """Sum the weights of equal rows in ascending order, so that rounding ignores the row order."""
    ascending = np.argsort(weights, kind="stable")
    sums = np.bincount(inverse[ascending], weights[ascending], minlength=n_distinct)
    return sums.astype(np.float64, copy=False)


def _number_clusters(
    codes: NDArray[Any], layout: LabelLayout, rows: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Number each partition's clusters by first appearance in `rows`; shape (L,)."""
    new_code = np.empty(layout.n_base_clusters, np.int64)
    code, offsets = codes.dtype.type(layout.missing_code), layout.offsets.astype(np.uint32)
    number = _kernels.rows.number_by_appearance.at(_OPERATIONS * codes.size)
    run_shares(
        lambda first, last: number(codes, code, offsets, rows, first, last, new_code),
        layout.n_partitions,
        codes.size,
    )
    return new_code


def _recode(
    codes: NDArray[Any],
    layout: LabelLayout,
    new_code: NDArray[np.int64],
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
) -> NDArray[Any]:
    """Return some rows and columns of the table in the new codes."""
    out = np.empty((len(rows), len(columns)), codes.dtype)
    table = (
        codes,
        codes.dtype.type(layout.missing_code),
        layout.offsets.astype(np.uint32),
        new_code.astype(codes.dtype),
        rows,
        columns.astype(np.uint32),
    )
    rename = _kernels.rows.rename.at(_OPERATIONS * codes.size)
    run_shares(lambda start, stop: rename(*table, start, stop, out), len(out), out.size)
    return out


def _reordered_categories(layout: LabelLayout, i: int, new_code: NDArray[np.int64]) -> NDArray[Any]:
    reordered = np.empty_like(layout.categories[i])
    reordered[new_code[layout.offsets[i] : layout.offsets[i + 1]]] = layout.categories[i]
    return reordered


def _column_order(head: Callable[[int], NDArray[Any]], n_rows: int) -> NDArray[np.int64]:
    """Sort the columns by their entries from the first row on; `head(n)` returns n rows."""
    n = _FIRST_ROWS
    while True:
        columns = [column.tobytes() for column in np.ascontiguousarray(head(n).T)]
        if n >= n_rows or len(set(columns)) == len(columns):
            return np.asarray(sorted(range(len(columns)), key=columns.__getitem__), np.int64)
        n *= 8
