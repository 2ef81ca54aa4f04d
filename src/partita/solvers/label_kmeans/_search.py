"""Search for the cheapest group of every row, in both forms of the kernel `assign`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._kernels.records import CodeTable
from partita.scale import Chunk
from partita.solvers.label_kmeans._geometry import RowTerms
from partita.solvers.label_kmeans._tables import Tables

__all__ = ["Assignment", "ExactSearch", "Search", "SearchRecord", "assignment_of"]


class Assignment(NamedTuple):
    """Groups of the rows of a chunk, and bounds on their costs, kept from pass to pass.

    groups : -1 for a row in no group
    upper : upper bound of the cost in the own group
    lower : lower bound of the cost in any other group

    Only `BoundedSearch` uses the bounds.
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
    """The argument `search` of the kernel `assign`; its definition needs no bounds."""

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


@dataclass(frozen=True)
class ExactSearch:
    """Search that computes all costs, in NumPy.

    Attributes
    ----------
    tables : Tables
    offsets : array of shape (n_partitions + 1,)
    changed : bool, default=False
    """

    tables: Tables
    offsets: NDArray[np.int64]
    changed: bool = False

    def next(self, tables: Tables) -> Self:
        pairs = zip(tables, self.tables, strict=True)
        changed = not all(np.array_equal(new, old) for new, old in pairs)
        return type(self)(tables, self.offsets, changed)

    def assign(self, chunk: Chunk, missing_code: int, terms: RowTerms) -> int:
        table = CodeTable.of(chunk.codes, missing_code, self.offsets)
        record, assignment = SearchRecord(self.tables), assignment_of(chunk)
        kernel = _kernels.label_search.assign
        return int(kernel(table, record, terms, 0, len(chunk.codes), assignment))
