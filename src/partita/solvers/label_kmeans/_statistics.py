"""Counts and masses of groups of rows, and the costs of rows in groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._kernels.records import CodeTable, Moves
from partita._threads import run_blocks, run_shares
from partita.scale import Chunk, Rows, Totals
from partita.solvers.label_kmeans._geometry import Geometry, row_terms_of
from partita.solvers.label_kmeans._tables import Tables

__all__ = [
    "GroupStatistics",
    "RowFormat",
    "group_statistics",
    "kmeans_work",
    "move_rows",
    "overall_statistics",
    "row_costs",
]

_ROWS = 4096
_OPERATIONS = 10  # per label, group and restart: a few iterations of several operations each


def kmeans_work(rows: Rows, n_clusters: int, n_init: int) -> float:
    """Return about how many elementary operations label k-means needs, for `Kernel.at`."""
    return float(_OPERATIONS * rows.n_rows * rows.n_partitions) * n_clusters * n_init


@dataclass(frozen=True)
class RowFormat:
    """What a function needs to read the codes of a chunk; small enough to send to workers.

    `work` is that of the fit, see `Geometry`.
    """

    n_partitions: int
    missing_code: int
    offsets: NDArray[np.int64]
    complete: bool
    work: float

    @classmethod
    def of(cls, rows: Rows, work: float) -> RowFormat:
        return cls(rows.n_partitions, rows.missing_code, rows.offsets, rows.complete, work)


@dataclass
class GroupStatistics:
    """Statistics of groups of rows.

    Attributes
    ----------
    counts : array of shape (n_base_clusters, n_groups)
        Weight of every group in every base cluster.
    masses : array of shape (n_partitions, n_groups)
        Mass of the rows of every group that a partition labels.
    sizes : array of shape (n_groups,)
        Numbers of rows.
    """

    counts: NDArray[np.float64]
    masses: NDArray[np.float64]
    sizes: NDArray[np.int64]

    @classmethod
    def empty(cls, rows: Rows, n_groups: int) -> GroupStatistics:
        return cls(
            np.zeros((rows.n_base_clusters, n_groups)),
            np.zeros((rows.n_partitions, n_groups)),
            np.zeros(n_groups, np.int64),
        )

    @property
    def arrays(self) -> Totals:
        return self.counts, self.masses, self.sizes

    def clear(self) -> None:
        for array in self.arrays:
            array[:] = 0


def group_statistics(
    rows: Rows, geometry: Geometry, groups: NDArray[np.int64], n_groups: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return counts (L, n_groups) and masses (m, n_groups) of groups; -1 is no group."""
    statistics = GroupStatistics.empty(rows, n_groups)
    row_format = RowFormat.of(rows, geometry.work)

    def add(chunk: Chunk, totals: Totals) -> None:
        no_group = np.full(len(chunk.codes), -1, np.int32)
        own = groups[chunk.start : chunk.start + len(chunk.codes)].astype(np.int32)
        move_rows(row_format, chunk, row_terms_of(geometry, chunk).mass, no_group, own, totals)

    rows.accumulate(add, statistics.arrays)
    return statistics.counts, statistics.masses


def overall_statistics(rows: Rows, work: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weight of every base cluster, and of the rows that every partition labels.

    `work` is that of the fit, see `Geometry`.
    """
    statistics = GroupStatistics.empty(rows, 1)
    row_format = RowFormat.of(rows, work)

    def add(chunk: Chunk, totals: Totals) -> None:
        one_group = np.zeros(len(chunk.codes), np.int32)
        mass = np.ones(len(one_group))
        move_rows(row_format, chunk, mass, one_group - 1, one_group, totals)

    rows.accumulate(add, statistics.arrays)
    return statistics.counts[:, 0], statistics.masses[:, 0]


def move_rows(
    row_format: RowFormat,
    chunk: Chunk,
    mass: NDArray[np.float64],
    old: NDArray[np.int32],
    new: NDArray[np.int32],
    totals: Totals,
) -> None:
    """Update statistics in place for the rows of a chunk whose group changed from old to new.

    `totals` are counts, masses and sizes. A negative group is no group.
    """
    counts, masses, sizes = totals
    kernel, complete = _kernels.label_kmeans.move.at(row_format.work), row_format.complete
    table = CodeTable.of(chunk.codes, row_format.missing_code, row_format.offsets)
    moves = Moves(np.flatnonzero(old != new), old, new)
    run_shares(
        lambda first, last: kernel(
            table, complete, chunk.weights, mass, moves, first, last, counts, masses
        ),
        row_format.n_partitions,
        len(moves.rows) * row_format.n_partitions,
        per_thread=1,  # every share lists the labels of all rows
    )
    sizes += _sizes(new, moves.rows, len(sizes)) - _sizes(old, moves.rows, len(sizes))


def _sizes(groups: NDArray[np.int32], rows: NDArray[np.int64], n_groups: int) -> NDArray[np.int64]:
    """Return the number of these rows in each group; a negative group is no group."""
    if groups.max(initial=-1) < 0:
        return np.zeros(n_groups, np.int64)
    of_rows = groups if len(rows) == len(groups) else groups[rows]
    return np.bincount(np.maximum(of_rows, -1) + 1, minlength=n_groups + 1)[1:]


def row_costs(
    layout: Any,
    labels: NDArray[Any],
    tables: Tables,
    constant: NDArray[np.float64],
    scale: NDArray[np.float64],
    work: float = 0.0,
    complete: bool = False,
) -> NDArray[np.float64]:
    """Return the costs of rows of codes in every group, shape (n, n_groups).

    `layout` is anything with `missing_code` and `offsets`: a `LabelLayout`, an `Ensemble`, `Rows`.
    `work` is that of the fit, if the costs are computed many times. `complete` says that no label
    is missing; it affects speed only.
    """
    out = np.empty((len(labels), tables.lookup.shape[1]))
    work = max(work, _OPERATIONS * float(labels.size) * out.shape[1])
    kernel = _kernels.label_kmeans.row_costs.at(work)
    costs = Tables(*map(np.ascontiguousarray, tables))
    table = CodeTable.of(labels, layout.missing_code, layout.offsets)
    run_blocks(
        lambda start, stop: kernel(table, complete, costs, constant, scale, start, stop, out),
        len(labels),
        _ROWS,
    )
    return out
