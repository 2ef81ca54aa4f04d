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

from partita import _kernels
from partita._threads import run_blocks
from partita.checkpoint import Checkpoint
from partita.config import report_progress
from partita.rows import Chunk, Rows, Totals
from partita.solvers.label_search import Search, Tables
from partita.solvers.label_seeds import seed_statistics
from partita.solvers.label_starts import Fit, Starts
from partita.solvers.label_statistics import (
    Geometry,
    Shape,
    Statistics,
    parts_of,
    recount,
    typical_row,
)

__all__ = ["LabelKMeansResult", "label_kmeans"]

_ROWS = 4096


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
    seeds: Callable[[int], NDArray[Any]],
    *,
    n_init: int = 10,
    max_iter: int = 100,
    tol: float = 0.0,
    task: str = "label k-means",
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
    seeds : callable
        Label rows, shape (n_clusters, n_partitions), that start number i takes as its centres.
    n_init, max_iter : int
    tol : float
        Stop when the objective falls by less than this share of itself.
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
        report_progress(task, start, n_init)
        saved.number = start
        fit = run.complete(fit or run.begin(seeds(start)), saved.keep)
        if best is None or fit.history[-1] < best.history[-1]:
            best = saved.best = fit
        last, fit = fit, None
    report_progress(task, n_init, n_init)
    saved.done()
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


@dataclass(frozen=True)
class _Assign:
    """The step of an iteration: rows into their cheapest groups, and the groups counted anew."""

    shape: Shape
    geometry: Geometry
    search: Search

    def __call__(self, chunk: Chunk, totals: Totals) -> None:
        parts = parts_of(self.geometry, chunk)
        previous = chunk.groups.copy()
        moved = self.search.assign(chunk, self.shape.missing, parts)
        if moved:
            recount(self.shape, chunk, parts.mass, previous, chunk.groups, totals)
        totals[3][0] += moved


@dataclass(frozen=True)
class _Costliest:
    """The rows of a chunk that cost most where they are: (-cost, number, group, labels, ...)."""

    assign: _Assign
    n_wanted: int
    remembers: bool

    def __call__(self, chunk: Chunk) -> list[tuple[Any, ...]]:
        shape, geometry, tables = self.assign.shape, self.assign.geometry, self.assign.search.tables
        parts = parts_of(geometry, chunk)
        if not self.remembers:
            self.assign.search.assign(chunk, shape.missing, parts)
        cost = np.empty(len(chunk.labels))
        kernel = _kernels.label_kmeans.own_costs
        run_blocks(
            lambda start, stop: kernel(
                chunk.labels, shape.missing, shape.offsets, tables.lookup, tables.slope,
                parts.constant, parts.scale, chunk.groups, start, stop, cost,
            ),
            len(cost),
            _ROWS,
        )  # fmt: skip
        cost *= -chunk.weights
        return [
            (cost[x], chunk.start + x, int(chunk.groups[x]), chunk.labels[x], chunk.weights[x],
             chunk.weights[x] * parts.mass[x])
            for x in np.argsort(cost, kind="stable")[: self.n_wanted]
        ]  # fmt: skip


@dataclass(frozen=True)
class _Groups:
    """The groups of a chunk: those it has, or those that tables give it."""

    assign: _Assign | None
    refilled: dict[int, int]

    def __call__(self, chunk: Chunk) -> NDArray[np.int32]:
        if self.assign is not None:
            parts = parts_of(self.assign.geometry, chunk)
            self.assign.search.assign(chunk, self.assign.shape.missing, parts)
        for row, group in self.refilled.items():
            if chunk.start <= row < chunk.start + len(chunk.labels):
                chunk.groups[row - chunk.start] = group
        return chunk.groups


class _Run:
    """k-means from given seeds."""

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

    def begin(self, seeds: NDArray[Any]) -> Fit:
        """Tables of groups that hold a seed each."""
        tables = self.geometry.tables(*seed_statistics(self.rows, self.geometry, seeds))
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
            changed = self._iterate(self._assign(search), fit, anew)
            anew = False
            if history and not changed:
                fit.converged = True
                break
            search = search.next(geometry.tables(held.counts, held.masses))
            history.append(geometry.objective(held.counts, held.masses, search.tables))
            if len(history) > 1 and history[-2] - history[-1] < self.tol * abs(history[-2]):
                fit.converged = True
                break
        return fit

    def groups(self, fit: Fit, *, replay: bool) -> Iterator[NDArray[np.int32]]:
        """The groups a fit ended with, chunk by chunk; assigned anew unless they are there."""
        assign = self._assign(self._search(fit.tables))
        if replay or not self.rows.remembers:
            self.rows.forget()
        there = self.rows.remembers and not replay
        step = _Groups(None if there else assign, dict(fit.refilled))
        return self.rows.collect(step, memory=there)

    def _search(self, tables: Tables) -> Search:
        return Search.start(tables, self.rows.offsets, self.rows.complete, self.typical)

    def _assign(self, search: Search) -> _Assign:
        return _Assign(self.shape, self.geometry, search)

    def _iterate(self, assign: _Assign, fit: Fit, anew: bool) -> bool:
        """One pass over the rows; whether it changed what the groups hold."""
        held = fit.held
        anew = anew or not self.rows.remembers
        before = held.counts.copy() if anew else held.counts
        if anew:  # a pass that counts all rows, not those that moved
            held.clear()
        held.moved[:] = 0
        self.rows.accumulate(assign, held.arrays, memory=True)
        fit.refilled = self._refill(assign, held)
        if anew:
            return bool(fit.refilled) or not np.array_equal(before, held.counts)
        return bool(fit.refilled) or bool(held.moved[0])

    def _refill(self, assign: _Assign, held: Statistics) -> list[tuple[int, int]]:
        """Give every empty group the row that costs most where it is, largest first."""
        empty = list(np.flatnonzero(held.sizes == 0))
        if not empty:
            return []
        # groups of one row keep it, so that at most as many candidates are passed over
        step = _Costliest(assign, len(empty) + self.n_clusters, self.rows.remembers)
        candidates = [c for found in self.rows.collect(step, memory=True) for c in found]
        refilled = []
        for _, x, group, row, weight, mass in sorted(candidates, key=lambda c: c[:2]):
            if not empty:
                break
            if group < 0 or held.sizes[group] <= 1:
                continue
            new = int(empty.pop(0))
            seen = np.flatnonzero(row != self.rows.missing)
            clusters = self.rows.offsets[seen] + row[seen]
            for place, sign in ((group, -1), (new, 1)):
                held.counts[clusters, place] += sign * weight
                held.masses[seen, place] += sign * mass
                held.sizes[place] += sign
            self.rows.put(x, new)
            refilled.append((x, new))
        return refilled
