"""Look-up tables of costs, and their quantized copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._threads import run_shares

__all__ = [
    "QuantizedTables",
    "TableExtremes",
    "Tables",
    "entry_type",
    "quantized",
    "table_extremes",
    "table_work",
]

_CACHE_BYTES = 1 << 18  # 16-bit tables up to this size stay in the second-level cache
_MAX_ENTRY = {np.dtype(np.int8): 127, np.dtype(np.int16): 511}  # largest entry by type
_PER_ENTRY = 1e4  # operations: a few in each of some hundred iterations, in each of ten restarts
_HALF_ULP = 2.0**-24  # relative error of rounding to single precision
_PADDING_COST = 1e30  # cost of the groups that pad a table to whole vector registers


class Tables(NamedTuple):
    """Look-up tables that give the cost of a row in a group.

    f(x, k) = constant[x] + Σ_{i: x labeled} ( lookup[c_i(x), k] + scale[x] slope[i, k] )

    lookup : (n_base_clusters, K), slope : (n_partitions, K). c_i(x) is the base cluster of row x in
    partition i, numbered over all partitions.
    """

    lookup: NDArray[np.float64]
    slope: NDArray[np.float64]


class TableExtremes(NamedTuple):
    """Extreme entries of a look-up table, and of its change, by partition and group, (m, K)."""

    lowest: NDArray[np.float64]
    highest: NDArray[np.float64]
    largest_change: NDArray[np.float64]
    smallest_change: NDArray[np.float64]


class QuantizedTables(NamedTuple):
    """Tables whose entries are integer steps from the middle of each column, padded.

    For a row with a labels let q be the sum of its a entries in a column of `lookup`, and q' in
    that column of `slope`. Its cost (without the constant, in units of the search) lies between

        a origin + step q + scale (a origin' + step' q')

    and 2 a (reach + scale reach') more. `columns`, shape (2, 3, width), holds step, origin and
    reach of the columns of look-ups, then those of the columns of slopes. `entries` has the rows of
    look-ups, those of slopes, and one of zeros, by which a sum can have more terms than a.
    """

    entries: NDArray[np.signedinteger]
    columns: NDArray[np.float32]

    def only(self, groups: Any) -> QuantizedTables:
        """Return the tables of some groups."""
        return QuantizedTables(*(_copied(table[..., groups]) for table in self))


def table_work(tables: Tables) -> float:
    """Return about how many operations a fit needs to compute its tables, for `Kernel.at`."""
    return _PER_ENTRY * tables.lookup.size


def entry_type(n_base_clusters: int, n_clusters: int) -> np.dtype[Any]:
    """Return the type of the entries of quantized tables: 16 bits in small tables, 8 in large ones.

    A fit uses it for all its searches. A search with more groups than `n_clusters` then takes a
    larger table, which costs less than to compile the search for another type.
    """
    width = _kernels.quantization.padded_width(n_clusters)
    fits_cache = 2 * width * n_base_clusters <= _CACHE_BYTES
    return np.dtype(np.int16 if fits_cache else np.int8)


def table_extremes(
    tables: Tables, previous: Tables, offsets: NDArray[np.int64], kernel: Callable[..., Any]
) -> TableExtremes:
    """Return the extreme look-ups of every partition and group, and their extreme changes.

    `kernel` is a form of the kernel `table_extremes`.
    """
    m = len(offsets) - 1
    extremes = TableExtremes(*np.empty((4, m, tables.lookup.shape[1])))
    run_shares(
        lambda first, last: kernel(tables.lookup, previous.lookup, offsets, first, last, extremes),
        m,
        tables.lookup.size,
    )
    return extremes


def quantized(
    tables: Tables, extremes: TableExtremes, complete: bool, unit: float, dtype: np.dtype[Any]
) -> QuantizedTables:
    """Return the quantized tables, in units of `unit`, with entries of a type (`entry_type`).

    `complete` says that no label is missing.
    """
    m, n_groups = tables.slope.shape
    width = _kernels.quantization.padded_width(n_groups)
    kernel = _kernels.quantization.quantize.at(table_work(tables))
    slopes = tables.slope
    if complete:  # every row has all slopes: one entry holds their mean
        slopes = slopes.sum(axis=0, keepdims=True) / m
    columns = _kernels.quantization.whole_cache_lines((2, 3, width), np.float32)
    columns[0, 1, n_groups:] = _PADDING_COST
    n_lookups = len(tables.lookup)
    entries = _kernels.quantization.whole_cache_lines((n_lookups + len(slopes) + 1, width), dtype)
    lowest, highest = extremes.lowest.min(axis=0), extremes.highest.max(axis=0)
    _quantize(tables.lookup, lowest, highest, unit, m, kernel, entries[:n_lookups], columns[0])
    lowest, highest = slopes.min(axis=0), slopes.max(axis=0)
    _quantize(slopes, lowest, highest, unit, m, kernel, entries[n_lookups:-1], columns[1])
    return QuantizedTables(entries, columns)


def _quantize(
    table: NDArray[np.float64],
    lowest: NDArray[np.float64],
    highest: NDArray[np.float64],
    unit: float,
    n_terms: int,
    kernel: Callable[..., Any],
    entries: NDArray[np.signedinteger],
    columns: NDArray[np.float32],
) -> None:
    """Fill `entries` with a table in integer steps, `columns` with step, origin and reach.

    `n_terms` is the largest number of entries that a row can have, `kernel` a form of `quantize`.
    """
    length, n_groups = table.shape
    n_roundings = 32 + n_terms / 8  # generous bound on the roundings in the sum of a cost
    low, high = unit * lowest, unit * highest
    # center and step are rounded to single precision first, so that both are exact below
    center = _single((low + high) / 2)
    span = np.maximum(high - center, center - low)
    step = _single(span * ((1.0 + 2.0**-20) / _MAX_ENTRY[entries.dtype]))
    largest = np.maximum(np.abs(low), np.abs(high))
    reach = 0.5 * step + _HALF_ULP * n_roundings * largest
    columns[:, :n_groups] = step, center - reach, reach
    middle = center / unit
    per_step = np.where(step > 0.0, unit / np.where(step > 0.0, step, 1.0), 0.0)
    run_shares(
        lambda first, last: kernel(table, middle, per_step, first, last, entries),
        length,
        table.size,
    )


def _copied(table: NDArray[Any]) -> NDArray[Any]:
    """Return a copy that begins at a cache line."""
    copy: NDArray[Any] = _kernels.quantization.whole_cache_lines(table.shape, table.dtype)
    copy[...] = table
    return copy


def _single(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round to single precision."""
    return values.astype(np.float32).astype(np.float64)
