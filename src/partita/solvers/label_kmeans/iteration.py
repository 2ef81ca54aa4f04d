"""k-means on label rows, for any cost that is a sum of look-ups (SEC, KCC).

The rows may lie in memory, in a store or on a cluster: an iteration is one pass that puts every row
into its cheapest group and adds up what the groups hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.config import report_progress
from partita.scale import Chunk, Rows, Totals
from partita.scale.checkpoint import Checkpoint
from partita.solvers.label_kmeans.refill import Refilled, place, refill
from partita.solvers.label_kmeans.search import Search, Tables
from partita.solvers.label_kmeans.starts import Fit, Starts
from partita.solvers.label_kmeans.statistics import (
    Geometry,
    Shape,
    Statistics,
    parts_of,
    recount,
    typical_row,
)

__all__ = ["LabelKMeansResult", "label_kmeans"]

_TIE = 1e-12  # of an objective: starts that end this close are equal, and the first one wins


@dataclass(frozen=True)
class LabelKMeansResult:
    """The best of several starts. `groups` yields the rows' groups chunk by chunk."""

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
    starts: Callable[[int], tuple[NDArray[np.float64], NDArray[np.float64]]],
    *,
    n_init: int = 10,
    max_iter: int = 100,
    tol: float = 0.0,
    task: str | None = None,
    checkpoint: Checkpoint | None = None,
    identity: Mapping[str, Any] | None = None,
) -> LabelKMeansResult:
    """Weighted k-means of label rows under a geometry; the best of `n_init` starts.

    Parameters
    ----------
    rows : Rows
    geometry : Geometry
    n_clusters : int
        Fewer than there are distinct rows.
    starts : callable
        Counts (L, K) and masses (m, K) of the groups that start number i begins with.
    n_init, max_iter : int
    tol : float
        Stop when the objective falls by less than this share of itself.
    task : str, optional
        What progress is reported of; nothing is without a name.
    checkpoint : Checkpoint, optional
        Where the state is kept from time to time. A fit that goes on from there ends like one that
        was never interrupted: a pass depends on the tables alone.
    identity : mapping, optional
        What is fitted to what, so that no other fit goes on from this one's state.

    Notes
    -----
    An iteration costs one look-up of K numbers per label of a row that may move, O(n m K) at most;
    statistics are brought up to date for rows that moved only.
    """
    run = _Run(rows, geometry, n_clusters, max_iter, tol)
    saved = Starts.restored(checkpoint, identity or {})
    best, fit = saved.best, saved.current
    for start in range(saved.number, n_init):
        _report(task, start, n_init)
        saved.number = start
        fit = run.complete(fit or run.begin(*starts(start)), saved.keep)
        if best is None or best.history[-1] - fit.history[-1] > _TIE * abs(best.history[-1]):
            best = saved.best = fit
        last, fit = fit, None
    _report(task, n_init, n_init)
    assert best is not None
    return LabelKMeansResult(
        partial(run.groups, best, replay=best is not last),
        best.history[-1],
        len(best.history),
        best.converged,
        np.asarray(best.history),
        best.held.counts,
        best.held.masses,
    )


def _report(task: str | None, done: int, total: int) -> None:
    if task is not None:
        report_progress(task, done, total)


@dataclass(frozen=True)
class _Assign:
    """The step of an iteration: rows into their cheapest groups, and what the groups hold.

    `anew` counts all rows, not those that moved.
    """

    shape: Shape
    geometry: Geometry
    search: Search
    anew: bool = True

    def __call__(self, chunk: Chunk, totals: Totals) -> None:
        parts = parts_of(self.geometry, chunk)
        previous = np.full_like(chunk.groups, -1) if self.anew else chunk.groups.copy()
        if self.search.assign(chunk, self.shape.missing_code, parts) or self.anew:
            recount(self.shape, chunk, parts.mass, previous, chunk.groups, totals)


@dataclass(frozen=True)
class _Groups:
    """The groups of a chunk: those it has, or those that tables give it."""

    assign: _Assign | None
    refilled: Refilled

    def __call__(self, chunk: Chunk) -> NDArray[np.int32]:
        if self.assign is not None:
            parts = parts_of(self.assign.geometry, chunk)
            self.assign.search.assign(chunk, self.assign.shape.missing_code, parts)
            place(chunk, self.refilled)
        return chunk.groups


class _Run:
    """k-means from given groups."""

    def __init__(
        self, rows: Rows, geometry: Geometry, n_clusters: int, max_iter: int, tol: float
    ) -> None:
        self.rows = rows
        self.geometry = geometry
        self.n_clusters = n_clusters
        self.max_iter = max_iter
        self.tol = tol
        self.shape = Shape.of(rows)
        self.typical = typical_row(rows, geometry)

    def begin(self, counts: NDArray[np.float64], masses: NDArray[np.float64]) -> Fit:
        """A start from groups that hold this."""
        tables = self.geometry.tables(counts, masses)
        return Fit(tables, Statistics.empty(self.rows, self.n_clusters))

    def complete(self, fit: Fit, keep: Callable[[Fit], None]) -> Fit:
        """Alternate between assignment and update until nothing moves."""
        geometry, held, history = self.geometry, fit.held, fit.history
        self.rows.forget()
        search = self._search(fit.tables)
        anew = True  # the first pass knows of no row, whatever is held already
        while len(history) < self.max_iter:
            fit.tables = search.tables
            keep(fit)
            self._iterate(search, fit, anew)
            anew = False
            search = search.next(geometry.tables(held.counts, held.masses))
            if history and not search.changed and not fit.refilled:
                fit.converged = True
                break
            history.append(geometry.objective(held.counts, held.masses, search.tables))
            if len(history) > 1 and history[-2] - history[-1] < self.tol * abs(history[-2]):
                fit.converged = True
                break
        return fit

    def groups(self, fit: Fit, *, replay: bool) -> Iterator[NDArray[np.int32]]:
        """The groups a fit ended with, chunk by chunk; assigned anew unless they are there."""
        assign = _Assign(self.shape, self.geometry, self._search(fit.tables))
        if replay or not self.rows.remembers:
            self.rows.forget()
        there = self.rows.remembers and not replay
        step = _Groups(None if there else assign, fit.refilled)
        return self.rows.collect(step, memory=there)

    def _search(self, tables: Tables) -> Search:
        return Search.start(tables, self.rows.offsets, self.rows.complete, self.typical)

    def _iterate(self, search: Search, fit: Fit, anew: bool) -> None:
        """One pass over the rows, and what the groups hold after it.

        That depends on the tables alone, not on what is known of the rows from passes before.
        """
        held = fit.held
        # sums of fractions would remember the way by which rows came and went
        anew = anew or not self.rows.remembers or not self.rows.whole
        if anew:
            held.clear()
        assign = _Assign(self.shape, self.geometry, search, anew)
        self.rows.accumulate(assign, held.arrays, memory=True)
        fit.refilled = refill(self.rows, self.geometry, search, self.shape, held)
