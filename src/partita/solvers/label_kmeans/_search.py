"""Search for the cheapest group of every row, in both forms of the kernel `assign`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._kernels.records import CodeTable
from partita.scale import Chunk
from partita.solvers.label_kmeans._geometry import RowTerms
from partita.solvers.label_kmeans._shifts import fall_of_others, power_of_two, shifts_of
from partita.solvers.label_kmeans._tables import Tables, table_extremes

__all__ = ["Assignment", "ExactSearch", "Search", "SearchRecord", "assignment_of"]

_ROWS = 1 << 17  # rows whose bounds are shifted together
_MANY_LABELS = 1 << 15  # from this number on, bounds take less time than they save


class Assignment(NamedTuple):
    """Groups of the rows of a chunk, and bounds on their costs, kept from pass to pass.

    groups : -1 for a row in no group
    upper : upper bound of the cost in the own group
    lower : lower bound of the cost in any other group

    A search of few labels does not use the bounds.
    """

    groups: NDArray[np.int32]
    upper: NDArray[np.float32]
    lower: NDArray[np.float32]


def assignment_of(chunk: Chunk) -> Assignment:
    """Return the assignment that a chunk keeps; make an empty one if it keeps none."""
    if Assignment not in chunk.state:
        n = len(chunk.codes)
        chunk.state[Assignment] = Assignment(
            np.full(n, -1, np.int32), np.full(n, np.inf, np.float32), np.zeros(n, np.float32)
        )
    return Assignment(*chunk.state[Assignment])


class SearchRecord(NamedTuple):
    """The argument `search` of the kernel `assign`; its definition needs no bounds.

    bounds : `ExactBounds` or None for the definition, those of `BoundedSearch` if it is compiled
    """

    costs: Tables
    bounds: Any = None


class Search(Protocol):
    """A search in some tables."""

    @property
    def tables(self) -> Tables:
        """The tables."""

    @property
    def changed(self) -> bool:
        """Whether the tables differ from the previous ones."""

    def next(self, tables: Tables) -> Self:
        """Return the search in new tables."""

    def assign(self, chunk: Chunk, missing_code: int, terms: RowTerms) -> int:
        """Put the rows of a chunk into their cheapest groups; return how many moved."""


class ExactBounds(NamedTuple):
    """The bounds of a search that the definition of `assign` takes."""

    complete: bool
    unit: float
    rises: NDArray[np.float64]
    falls: NDArray[np.float64]


@dataclass(frozen=True)
class ExactSearch:
    """Search in NumPy: all costs of the rows that may move.

    Attributes
    ----------
    tables : Tables
    previous : Tables
        Tables of the search before, for which the bounds of the rows hold.
    offsets : array of shape (n_partitions + 1,)
    complete : bool
        Whether no label is missing.
    unit : float
        Power of two that scales costs to about 1.
    """

    tables: Tables
    previous: Tables
    offsets: NDArray[np.int64]
    complete: bool
    unit: float

    @classmethod
    def start(cls, tables: Tables, offsets: NDArray[np.int64], complete: bool) -> Self:
        """Return the first search of a restart."""
        return cls(tables, tables, offsets, complete, power_of_two(tables))

    def next(self, tables: Tables) -> Self:
        return replace(self, tables=tables, previous=self.tables)

    @cached_property
    def changed(self) -> bool:
        pairs = zip(self.tables, self.previous, strict=True)
        return not all(np.array_equal(new, old) for new, old in pairs)

    @cached_property
    def bounds(self) -> ExactBounds:
        """How far bounds shift from the previous tables."""
        kernel = _kernels.quantization.table_extremes.definition
        extremes = table_extremes(self.tables, self.previous, self.offsets, kernel)
        rises, falls = shifts_of(self.tables, self.previous, extremes, self.complete, self.unit)
        return ExactBounds(self.complete, self.unit, rises, fall_of_others(falls))

    def assign(self, chunk: Chunk, missing_code: int, terms: RowTerms) -> int:
        table = CodeTable.of(chunk.codes, missing_code, self.offsets)
        has_bounds = chunk.codes.size >= _MANY_LABELS and self.tables.lookup.shape[1] > 1
        record = SearchRecord(self.tables, self.bounds if has_bounds else None)
        kernel = _kernels.label_search.assign
        assignment, n = assignment_of(chunk), len(chunk.codes)
        starts = range(0, n, _ROWS)
        return sum(kernel(table, record, terms, x, min(x + _ROWS, n), assignment) for x in starts)
