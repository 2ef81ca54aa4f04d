"""Empty groups take the rows that cost most in their present groups.

Rows with the same labels stay together, whether they are one row with a weight in memory or are
read one by one: both cases choose the same rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._kernels.records import CodeTable
from partita._threads import run_blocks
from partita.scale import Chunk, Rows, row_sums
from partita.solvers.label_kmeans._geometry import Geometry, row_terms_of
from partita.solvers.label_kmeans._search import Search, assignment_of
from partita.solvers.label_kmeans._shifts import power_of_two
from partita.solvers.label_kmeans._statistics import GroupStatistics, RowFormat

__all__ = ["Refilled", "assign_refilled", "refill"]

_ROWS = 4096
_DECIMALS = 9  # of a cost in units of the search: rounding makes equal costs differ by less

Refilled = list[tuple[NDArray[Any], int]]  # rows of codes, and the groups that took them


def refill(
    rows: Rows,
    geometry: Geometry,
    search: Search,
    row_format: RowFormat,
    statistics: GroupStatistics,
) -> Refilled:
    """Move the costliest distinct rows into the empty groups, the costliest first.

    A row that is alone in its group stays there. Update `statistics` in place.
    """
    empty = np.flatnonzero(statistics.sizes == 0).tolist()
    if not empty:
        return []
    # at most one candidate per group is skipped because it is alone there
    n_candidates = len(empty) + len(statistics.sizes)
    sizes = statistics.counts.sum(axis=1)
    costliest = _CostliestRows(geometry, search, row_format, sizes, n_candidates, rows.keeps_state)
    refilled: Refilled = []
    for row in _merge_candidates(list(rows.collect(costliest, keep_state=True))):
        if not empty:
            break
        if statistics.sizes[row.group] <= row.n_rows:
            continue
        target = empty.pop(0)
        labeled = np.flatnonzero(row.codes != rows.missing_code)
        clusters = rows.offsets[labeled] + row.codes[labeled]
        for group, sign in ((row.group, -1), (target, 1)):
            statistics.counts[clusters, group] += sign * row.weight
            statistics.masses[labeled, group] += sign * row.mass
            statistics.sizes[group] += sign * row.n_rows
        refilled.append((row.codes, target))
    if rows.keeps_state:
        for _ in rows.collect(_AssignRefilled(refilled), keep_state=True):
            pass
    return refilled


def assign_refilled(chunk: Chunk, refilled: Refilled) -> None:
    """Put the rows of a chunk that empty groups took into these groups."""
    assignment = assignment_of(chunk)
    for row, group in refilled:
        equal = np.arange(len(chunk.codes))
        for i, code in enumerate(row):  # column by column: few rows are left after the first ones
            equal = equal[chunk.codes[equal, i] == code]
        assignment.groups[equal] = group
        assignment.upper[equal] = np.inf


@dataclass(frozen=True)
class _AssignRefilled:
    refilled: Refilled

    def __call__(self, chunk: Chunk) -> None:
        assign_refilled(chunk, self.refilled)


@dataclass(frozen=True)
class _Candidate:
    """A distinct row of codes and its group; candidates are taken in ascending order of `rank`.

    `n_rows`, `weight` and `mass` are sums over the equal rows.
    """

    rank: tuple[Any, ...]
    group: int
    codes: NDArray[Any]
    n_rows: int
    weight: float
    mass: float


def _merge_candidates(candidates_of_chunks: list[list[_Candidate]]) -> list[_Candidate]:
    """Return the candidates of all chunks by rank, equal rows merged."""
    merged: dict[bytes, _Candidate] = {}
    for row in (row for candidates in candidates_of_chunks for row in candidates):
        equal = merged.setdefault(row.codes.tobytes(), row)
        if equal is not row:
            merged[row.codes.tobytes()] = replace(
                equal,
                n_rows=equal.n_rows + row.n_rows,
                weight=equal.weight + row.weight,
                mass=equal.mass + row.mass,
            )
    return sorted(merged.values(), key=lambda row: row.rank)


@dataclass(frozen=True)
class _CostliestRows:
    """Return the distinct rows of a chunk that cost most in their groups.

    Equal costs are ranked by the sizes of a row's base clusters, which depend neither on names nor
    on the order of rows and columns, and only then by the codes. All chunks rank in the same way,
    so that a row among the first of all rows is among the first of its chunk.
    """

    geometry: Geometry
    search: Search
    row_format: RowFormat
    sizes: NDArray[np.float64]
    n_candidates: int
    keeps_state: bool

    def __call__(self, chunk: Chunk) -> list[_Candidate]:
        row_format, terms = self.row_format, row_terms_of(self.geometry, chunk)
        if not self.keeps_state:
            self.search.assign(chunk, row_format.missing_code, terms)
        codes, groups = chunk.codes, assignment_of(chunk).groups
        size_keys = [
            row_sums(codes, row_format.missing_code, row_format.offsets, values)
            for values in (self.sizes**2, self.sizes)
        ]
        keys = np.stack([*size_keys, self._costs(chunk)])
        order = np.lexsort(keys)[::-1]
        order = order[groups[order] >= 0]
        top = self._n_first(codes[order], keys[:, order])
        chosen = order[:top]
        _, first, distinct, n_equal = np.unique(
            codes[chosen], axis=0, return_index=True, return_inverse=True, return_counts=True
        )
        weight = np.bincount(distinct.reshape(-1), chunk.weights[chosen])
        candidates = [
            _Candidate(
                (*(-keys[::-1, x]).tolist(), *codes[x].tolist()),
                int(groups[x]),
                codes[x].copy(),
                int(n),
                float(w),
                float(w * terms.mass[x]),
            )
            for x, n, w in zip(chosen[first], n_equal, weight, strict=True)
        ]
        return sorted(candidates, key=lambda row: row.rank)[: self.n_candidates]

    def _costs(self, chunk: Chunk) -> NDArray[np.float64]:
        """Return costs in units of the search, rounded so that the order of sums has no effect."""
        tables, terms = self.search.tables, row_terms_of(self.geometry, chunk)
        groups, cost = assignment_of(chunk).groups, np.empty(len(chunk.codes))
        kernel, complete = (
            _kernels.label_kmeans.own_costs.at(self.row_format.work),
            self.row_format.complete,
        )
        table = CodeTable.of(chunk.codes, self.row_format.missing_code, self.row_format.offsets)
        run_blocks(
            lambda start, stop: kernel(
                table, complete, tables, terms.constant, terms.scale, groups, start, stop, cost
            ),
            len(cost),
            _ROWS,
        )
        return np.round(power_of_two(tables) * cost, _DECIMALS)

    def _n_first(self, codes: NDArray[Any], keys: NDArray[np.float64]) -> int:
        """Return how many ranked rows contain `n_candidates` distinct ones.

        Rows that tie with the last one are included.
        """
        top = self.n_candidates
        while top < len(codes):
            equal = (keys[:, top:] == keys[:, top - 1 : top]).all(axis=0)
            top += len(equal) if equal.all() else int(np.argmin(equal))
            if len(np.unique(codes[:top], axis=0)) >= self.n_candidates:
                break
            top *= 4
        return min(top, len(codes))
