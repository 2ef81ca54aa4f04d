"""Search for large work, compiled: bounds, quantized tables, then exact tables.

Bounds on a row's costs are kept from one iteration to the next. After the first iterations only a
few groups still change much and invalidate most bounds; these *active* groups are compared first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._kernels.records import CodeTable
from partita._threads import run_blocks
from partita.scale import Chunk, Rows
from partita.solvers.label_kmeans._geometry import Geometry, RowTerms
from partita.solvers.label_kmeans._search import SearchRecord, assignment_of
from partita.solvers.label_kmeans._shifts import fall_of_others, power_of_two, shifts_of
from partita.solvers.label_kmeans._tables import (
    QuantizedTables,
    Tables,
    quantized,
    table_extremes,
    table_work,
)

__all__ = ["BoundedSearch", "TypicalRow", "typical_row"]

_LANES = _kernels.quantization.LANES
_MANY_GROUPS = 3 * _LANES  # from this number on, comparing active groups first saves time
_INACTIVE = 0.02  # groups that moved by less than this share of the largest move are not active
_ROWS = 8192
_TYPICAL_ROWS = 256  # rows of which a typical one is computed


@dataclass(frozen=True)
class TypicalRow:
    """Number of labels and scale of a typical row, by which active groups are chosen."""

    n_labeled: int
    scale: float


def typical_row(rows: Rows, geometry: Geometry) -> TypicalRow:
    """Return the median of the first rows; it affects speed only, never a label."""
    first = np.arange(min(rows.n_rows, _TYPICAL_ROWS))
    terms = geometry.row_terms(rows.take(first))
    n_labeled, scale = terms.n_labeled[first], terms.scale[first]
    return TypicalRow(int(np.median(n_labeled)), float(np.median(scale)))


class BoundShifts(NamedTuple):
    """How far bounds must shift because the tables changed, rounding included.

    The first index is a row's number of labels (0 where no label is missing). The last axis holds
    the part of the look-ups, and the part to multiply by the row's scale.
    """

    rise: NDArray[np.float64]  # largest rise of the cost in each group
    fall: NDArray[np.float64]  # largest fall in any group but this one (negative)
    inactive_fall: NDArray[np.float64]  # largest fall in any group that is not active


class _Bounds(NamedTuple):
    """The bounds of a search that the compiled form of `assign` takes."""

    complete: bool
    unit: float
    quantized: QuantizedTables
    place: NDArray[np.int64]
    active_quantized: QuantizedTables
    shifts: BoundShifts


@dataclass(frozen=True)
class BoundedSearch:
    """Tables, their quantized copies, and how far bounds shift from the previous tables.

    Attributes
    ----------
    tables : Tables
    offsets : array of shape (n_partitions + 1,)
    complete : bool
        Whether no label is missing.
    typical : TypicalRow
    dtype : numpy.dtype
        Type of the entries of quantized tables.
    unit : float
        Power of two that scales costs to about 1.
    changed : bool
        Whether the tables differ from the previous ones.
    quantized : QuantizedTables
    active : array
        Groups whose tables changed most; empty if there are few groups.
    active_quantized : QuantizedTables
        Columns of the active groups.
    shifts : BoundShifts
    """

    tables: Tables
    offsets: NDArray[np.int64]
    complete: bool
    typical: TypicalRow
    dtype: np.dtype[Any]
    unit: float
    changed: bool
    quantized: QuantizedTables
    active: NDArray[np.int64]
    active_quantized: QuantizedTables
    shifts: BoundShifts

    @classmethod
    def start(
        cls,
        tables: Tables,
        offsets: NDArray[np.int64],
        complete: bool,
        typical: TypicalRow,
        dtype: np.dtype[Any],
    ) -> Self:
        """Return the first search of a restart."""
        unit = power_of_two(tables)
        return cls._make(tables, tables, offsets, complete, typical, dtype, unit)

    def next(self, tables: Tables) -> Self:
        """Return the search in new tables, with the shifts from the present ones."""
        return self._make(
            tables, self.tables, self.offsets, self.complete, self.typical, self.dtype, self.unit
        )

    @classmethod
    def _make(
        cls,
        tables: Tables,
        previous: Tables,
        offsets: NDArray[np.int64],
        complete: bool,
        typical: TypicalRow,
        dtype: np.dtype[Any],
        unit: float,
    ) -> Self:
        kernel = _kernels.quantization.table_extremes.at(table_work(tables))
        extremes = table_extremes(tables, previous, offsets, kernel)
        all_groups = quantized(tables, extremes, complete, unit, dtype)
        rises, falls = shifts_of(tables, previous, extremes, complete, unit)
        active, inactive_fall = np.empty(0, np.int64), falls.min(axis=1)
        if tables.lookup.shape[1] >= _MANY_GROUPS:
            row = 0 if complete else typical.n_labeled
            active = _active_groups(falls[row] @ [1.0, typical.scale])
            inactive_fall = np.delete(falls, active, axis=1).min(axis=1)
        has_changed = extremes.largest_change.any() or extremes.smallest_change.any()
        return cls(
            tables,
            offsets,
            complete,
            typical,
            dtype,
            unit,
            bool(has_changed or (tables.slope != previous.slope).any()),
            all_groups,
            active,
            all_groups.only(active),
            BoundShifts(rises, fall_of_others(falls), inactive_fall),
        )

    def assign(self, chunk: Chunk, missing_code: int, terms: RowTerms) -> int:
        """Put the rows of a chunk into their cheapest groups; return how many moved."""
        kernel = _kernels.label_search.assign.compiled
        table = CodeTable.of(chunk.codes, missing_code, self.offsets)
        place = np.full(self.tables.lookup.shape[1] if len(self.active) else 0, -1)
        place[self.active] = np.arange(len(self.active))
        bounds = _Bounds(
            self.complete, self.unit, self.quantized, place, self.active_quantized, self.shifts
        )
        search = SearchRecord(self.tables, bounds)
        assignment = assignment_of(chunk)
        n_moved: list[int] = []

        def assign_block(start: int, stop: int) -> None:
            n_moved.append(kernel(table, search, terms, start, stop, assignment))

        run_blocks(assign_block, len(chunk.codes), _ROWS)
        return sum(n_moved)


def _active_groups(falls: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the groups whose costs fell most: whole registers, at most half of all groups."""
    n_active = int(np.count_nonzero(falls < _INACTIVE * falls.min()))
    padded_width = _kernels.quantization.padded_width
    widths = [n for n in range(_LANES, len(falls) // 2 + 1, _LANES) if padded_width(n) == n]
    width = next((n for n in widths if n >= n_active), widths[-1])
    return np.argsort(falls, kind="stable")[:width]
