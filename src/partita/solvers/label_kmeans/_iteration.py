"""k-means on rows of labels, for any cost that is a sum of look-ups (SEC, KCC).

The rows may be in memory, in a store or on a Dask cluster. An iteration is one pass over the rows:
it puts every row into its cheapest group and computes the statistics of the groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita.config import report_progress
from partita.scale import Chunk, Rows, Totals
from partita.scale.checkpoint import Checkpoint
from partita.solvers.label_kmeans._bounded_search import BoundedSearch, TypicalRow, typical_row
from partita.solvers.label_kmeans._geometry import Geometry, row_terms_of
from partita.solvers.label_kmeans._refill import Refilled, assign_refilled, refill
from partita.solvers.label_kmeans._restarts import Restart, Restarts
from partita.solvers.label_kmeans._search import ExactSearch, Search, assignment_of
from partita.solvers.label_kmeans._statistics import (
    GroupStatistics,
    RowFormat,
    move_rows,
)
from partita.solvers.label_kmeans._tables import Tables, entry_type

__all__ = ["Initialize", "LabelKMeansResult", "label_kmeans"]

_TIE = 1e-12  # relative difference of objectives below which two restarts tie: the first one wins

Initialize = Callable[[int], tuple[NDArray[np.float64], NDArray[np.float64]]]


@dataclass(frozen=True)
class LabelKMeansResult:
    """The best of several restarts.

    Attributes
    ----------
    groups : callable
        Yields the groups of the rows chunk by chunk.
    objective : float
    n_iter : int
    converged : bool
    history : array
        Objective after every iteration.
    counts : array of shape (n_base_clusters, n_clusters)
    masses : array of shape (n_partitions, n_clusters)
    """

    groups: Callable[[], Iterator[NDArray[np.int32]]]
    objective: float
    n_iter: int
    converged: bool
    history: NDArray[np.float64]
    counts: NDArray[np.float64]
    masses: NDArray[np.float64]

    @property
    def labels(self) -> NDArray[np.int64]:
        """The groups of all rows at once."""
        return np.concatenate(list(self.groups())).astype(np.int64)


def label_kmeans(
    rows: Rows,
    geometry: Geometry,
    n_clusters: int,
    initialize: Initialize,
    *,
    n_init: int = 10,
    max_iter: int = 100,
    tol: float = 0.0,
    task: str | None = None,
    checkpoint: Checkpoint | None = None,
    identity: Mapping[str, Any] | None = None,
    n_final: int | None = None,
) -> LabelKMeansResult:
    """Run weighted k-means on rows of labels and return the best of `n_init` restarts.

    Parameters
    ----------
    rows : Rows
    geometry : Geometry
        Defines the cost of a row in a group.
    n_clusters : int
        Must be smaller than the number of distinct rows.
    initialize : callable
        Returns counts (L, K) and masses (m, K) of the initial groups of restart number i.
    n_init : int, default=10
        Number of restarts.
    max_iter : int, default=100
        Largest number of iterations of a restart.
    tol : float, default=0.0
        Stop when the objective falls by less than this share of itself; 0 runs until no row moves.
    task : str, optional
        Task name for progress reports. Without it there are none.
    checkpoint : Checkpoint, optional
        Where the state is saved from time to time. A fit that continues from a saved state gives
        the same result as one without interruption, because a pass depends on the tables alone.
    identity : mapping, optional
        Method, parameters and data of the fit. A saved state with another identity is refused.

    n_final : int, optional
        Number of clusters of the fit that this call initializes, if it differs. It affects speed
        only.

    Notes
    -----
    An iteration looks up K numbers per label of each row that may move, O(n m K) at most.
    Statistics are updated only for rows that moved.
    """
    entries = entry_type(int(rows.offsets[-1]), n_final or n_clusters)
    solver = _Solver(rows, geometry, n_clusters, max_iter, tol, entries)
    restarts = Restarts.load(checkpoint, identity or {})
    best, restart = restarts.best, restarts.current
    for number in range(restarts.number, n_init):
        _report(task, number, n_init)
        restarts.number = number
        restart = solver.run(restart or solver.begin(*initialize(number)), restarts.save_if_due)
        if best is None or best.history[-1] - restart.history[-1] > _TIE * abs(best.history[-1]):
            best = restarts.best = restart
        last, restart = restart, None
    _report(task, n_init, n_init)
    assert best is not None
    return LabelKMeansResult(
        partial(solver.groups, best, is_last=best is last),
        best.history[-1],
        len(best.history),
        best.converged,
        np.asarray(best.history),
        best.statistics.counts,
        best.statistics.masses,
    )


def _report(task: str | None, done: int, total: int) -> None:
    if task is not None:
        report_progress(task, done, total)


@dataclass(frozen=True)
class _AssignChunk:
    """Assign the rows of a chunk to their cheapest groups and add to the statistics.

    With `recount` all rows are added, else only those that moved.
    """

    row_format: RowFormat
    geometry: Geometry
    search: Search
    recount: bool = True

    def __call__(self, chunk: Chunk, totals: Totals) -> None:
        terms, groups = row_terms_of(self.geometry, chunk), assignment_of(chunk).groups
        previous = np.full_like(groups, -1) if self.recount else groups.copy()
        if self.search.assign(chunk, self.row_format.missing_code, terms) or self.recount:
            move_rows(self.row_format, chunk, terms.mass, previous, groups, totals)


@dataclass(frozen=True)
class _ChunkGroups:
    """Return the groups of a chunk: those it keeps, or, with `assign`, newly assigned ones."""

    assign: _AssignChunk | None
    refilled: Refilled

    def __call__(self, chunk: Chunk) -> NDArray[np.int32]:
        if self.assign is not None:
            terms = row_terms_of(self.assign.geometry, chunk)
            self.assign.search.assign(chunk, self.assign.row_format.missing_code, terms)
            assign_refilled(chunk, self.refilled)
        return assignment_of(chunk).groups


class _Solver:
    """The iterations of a restart."""

    def __init__(
        self,
        rows: Rows,
        geometry: Geometry,
        n_clusters: int,
        max_iter: int,
        tol: float,
        entries: np.dtype[Any],
    ) -> None:
        self.rows = rows
        self.geometry = geometry
        self.n_clusters = n_clusters
        self.max_iter = max_iter
        self.tol = tol
        self.entries = entries  # type of the entries of quantized tables
        self.row_format = RowFormat.of(rows, geometry.work)

    @cached_property
    def typical(self) -> TypicalRow:
        return typical_row(self.rows, self.geometry)

    def begin(self, counts: NDArray[np.float64], masses: NDArray[np.float64]) -> Restart:
        """Return a restart from groups with these statistics."""
        tables = self.geometry.tables(counts, masses)
        return Restart(tables, GroupStatistics.empty(self.rows, self.n_clusters))

    def run(self, restart: Restart, save: Callable[[Restart], None]) -> Restart:
        """Alternate between assignment and update until no row moves."""
        geometry, statistics, history = self.geometry, restart.statistics, restart.history
        self.rows.reset_state()
        search = self._search(restart.tables)
        is_first = True
        while len(history) < self.max_iter:
            restart.tables = search.tables
            save(restart)
            self._iterate(search, restart, is_first)
            is_first = False
            search = search.next(geometry.tables(statistics.counts, statistics.masses))
            if history and not search.changed and not restart.refilled:
                restart.converged = True
                break
            objective = geometry.objective(statistics.counts, statistics.masses, search.tables)
            history.append(objective)
            if len(history) > 1 and history[-2] - history[-1] < self.tol * abs(history[-2]):
                restart.converged = True
                break
        return restart

    def groups(self, restart: Restart, *, is_last: bool) -> Iterator[NDArray[np.int32]]:
        """Yield the groups of a finished restart chunk by chunk.

        The rows keep the groups of the last restart; those of any other are assigned again.
        """
        is_kept = self.rows.keeps_state and is_last
        if not is_kept:
            self.rows.reset_state()
        assign = _AssignChunk(self.row_format, self.geometry, self._search(restart.tables))
        chunk_groups = _ChunkGroups(None if is_kept else assign, restart.refilled)
        return self.rows.collect(chunk_groups, keep_state=is_kept)

    def _search(self, tables: Tables) -> Search:
        kernel = _kernels.label_search.assign
        if kernel.at(self.geometry.work) is kernel.definition:
            return ExactSearch.start(tables, self.rows.offsets, self.rows.complete)
        rows = self.rows
        return BoundedSearch.start(tables, rows.offsets, rows.complete, self.typical, self.entries)

    def _iterate(self, search: Search, restart: Restart, is_first: bool) -> None:
        """Run one pass over the rows and update the statistics.

        The result depends on the tables alone, not on the passes before.
        """
        statistics, rows = restart.statistics, self.rows
        # sums of weights that are no integers would depend on the order of moves
        recount = is_first or not rows.keeps_state or not rows.has_integer_weights
        if recount:
            statistics.clear()
        assign = _AssignChunk(self.row_format, self.geometry, search, recount)
        rows.accumulate(assign, statistics.arrays, keep_state=True)
        restart.refilled = refill(rows, self.geometry, search, self.row_format, statistics)
