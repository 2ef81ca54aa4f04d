"""Groups that have run empty take the rows that cost most where they are.

Rows with the same labels stay together, whether they lie in memory as one row of their weight or
are read one by one: both choose the same rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._threads import run_blocks
from partita.scale import Chunk, Rows, row_sums
from partita.solvers.label_kmeans.search import Search
from partita.solvers.label_kmeans.statistics import Geometry, Shape, Statistics, parts_of

__all__ = ["Refilled", "place", "refill"]

_ROWS = 4096
_DECIMALS = 9  # of a cost in units of the tables, below which costs are equal but for rounding

Refilled = list[tuple[NDArray[Any], int]]  # label rows, and the groups they were given to


def refill(
    rows: Rows, geometry: Geometry, search: Search, shape: Shape, held: Statistics
) -> Refilled:
    """Give every empty group the label row that costs most where it is, the costliest first.

    A group that holds nothing but a row keeps it. Brings the statistics up to date.
    """
    empty = np.flatnonzero(held.sizes == 0).tolist()
    if not empty:
        return []
    # at most as many candidates as there are groups are passed over
    n_wanted = len(empty) + len(held.sizes)
    sizes = held.counts.sum(axis=1)
    step = _Costliest(geometry, search, shape, sizes, n_wanted, rows.remembers)
    refilled: Refilled = []
    for row in _merged(list(rows.collect(step, memory=True))):
        if not empty:
            break
        if held.sizes[row.group] <= row.n_rows:
            continue
        new = empty.pop(0)
        seen = np.flatnonzero(row.labels != rows.missing_code)
        clusters = rows.offsets[seen] + row.labels[seen]
        for group, sign in ((row.group, -1), (new, 1)):
            held.counts[clusters, group] += sign * row.weight
            held.masses[seen, group] += sign * row.mass
            held.sizes[group] += sign * row.n_rows
        refilled.append((row.labels, new))
    if rows.remembers:
        for _ in rows.collect(_Place(refilled), memory=True):
            pass
    return refilled


def place(chunk: Chunk, refilled: Refilled) -> None:
    """Put the rows of a chunk that were given away into the groups they were given to."""
    for row, group in refilled:
        equal = np.arange(len(chunk.codes))
        for i, label in enumerate(row):  # few are left after the first columns
            equal = equal[chunk.codes[equal, i] == label]
        chunk.groups[equal] = group
        chunk.upper[equal] = np.inf


@dataclass(frozen=True)
class _Place:
    refilled: Refilled

    def __call__(self, chunk: Chunk) -> None:
        place(chunk, self.refilled)


@dataclass(frozen=True)
class _Costly:
    """A label row, the group it is in, and what it stands for. The smallest `rank` goes first."""

    rank: tuple[Any, ...]
    group: int
    labels: NDArray[Any]
    n_rows: int
    weight: float
    mass: float


def _merged(found: list[list[_Costly]]) -> list[_Costly]:
    """The rows of all chunks, equal ones taken together."""
    together: dict[bytes, _Costly] = {}
    for row in (row for rows in found for row in rows):
        known = together.setdefault(row.labels.tobytes(), row)
        if known is not row:
            together[row.labels.tobytes()] = replace(
                known,
                n_rows=known.n_rows + row.n_rows,
                weight=known.weight + row.weight,
                mass=known.mass + row.mass,
            )
    return sorted(together.values(), key=lambda row: row.rank)


@dataclass(frozen=True)
class _Costliest:
    """The distinct rows of a chunk that cost most where they are.

    Equal costs are ranked by how common a row's clusters are, which depends neither on names nor
    on the order of rows and columns, and only then by the codes. Every chunk ranks alike, so that
    a row that is among the first of all is among the first wherever it lies.
    """

    geometry: Geometry
    search: Search
    shape: Shape
    sizes: NDArray[np.float64]
    n_wanted: int
    remembers: bool

    def __call__(self, chunk: Chunk) -> list[_Costly]:
        shape, parts = self.shape, parts_of(self.geometry, chunk)
        if not self.remembers:
            self.search.assign(chunk, shape.missing_code, parts)
        labels, groups = chunk.codes, chunk.groups
        common = [
            row_sums(labels, shape.missing_code, shape.offsets, values)
            for values in (self.sizes**2, self.sizes)
        ]
        keys = np.stack([*common, self._costs(chunk)])
        order = np.lexsort(keys)[::-1]
        order = order[groups[order] >= 0]
        top = self._first(labels[order], keys[:, order])
        chosen = order[:top]
        _, first, member, number = np.unique(
            labels[chosen], axis=0, return_index=True, return_inverse=True, return_counts=True
        )
        weight = np.bincount(member.reshape(-1), chunk.weights[chosen])
        found = [
            _Costly(
                (*(-keys[::-1, x]).tolist(), *labels[x].tolist()),
                int(groups[x]),
                labels[x].copy(),
                int(n),
                float(w),
                float(w * parts.mass[x]),
            )
            for x, n, w in zip(chosen[first], number, weight, strict=True)
        ]
        return sorted(found, key=lambda row: row.rank)[: self.n_wanted]

    def _costs(self, chunk: Chunk) -> NDArray[np.float64]:
        """Costs in units of the tables, rounded so that sums in another order are equal."""
        tables, parts = self.search.tables, parts_of(self.geometry, chunk)
        cost = np.empty(len(chunk.codes))
        kernel = _kernels.label_kmeans.own_costs
        run_blocks(
            lambda start, stop: kernel(
                chunk.codes, self.shape.missing_code, self.shape.offsets, tables.lookup,
                tables.slope, parts.constant, parts.scale, chunk.groups, start, stop, cost,
            ),
            len(cost),
            _ROWS,
        )  # fmt: skip
        largest = float(np.abs(tables.lookup).max())
        unit = 2.0 ** -np.ceil(np.log2(largest)) if largest > 0 else 1.0
        return np.round(unit * cost, _DECIMALS)

    def _first(self, labels: NDArray[Any], keys: NDArray[np.float64]) -> int:
        """How many of the ranked rows hold as many distinct ones as are wanted, all equals of the
        last one included."""
        top = self.n_wanted
        while top < len(labels):
            equal = (keys[:, top:] == keys[:, top - 1 : top]).all(axis=0)
            top += len(equal) if equal.all() else int(np.argmin(equal))
            if len(np.unique(labels[:top], axis=0)) >= self.n_wanted:
                break
            top *= 4
        return min(top, len(labels))
