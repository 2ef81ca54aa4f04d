"""k-means on label rows, for any cost that is a sum of look-ups (SEC, KCC).

The rows may lie in memory, in a store or on a cluster: an iteration is one pass that puts every row
into its cheapest group and adds up what the groups hold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._threads import run_blocks
from partita.config import report_progress
from partita.rows import Chunk, EnsembleRows, Rows, Totals
from partita.solvers.label_search import Search, Tables

__all__ = [
    "Geometry",
    "LabelKMeansResult",
    "RowParts",
    "Tables",
    "draw_seeds",
    "group_statistics",
    "label_kmeans",
    "overall_statistics",
    "parts_of",
    "row_costs",
]

_ROWS = 4096


@dataclass(frozen=True)
class RowParts:
    """What belongs to the rows alone, arrays of shape (n_rows,).

    constant, scale : parts of a row's cost (see `Tables`)
    mass : what a row of weight 1 adds to the mass of its group
    n_labelled : how many partitions label it
    """

    constant: NDArray[np.float64]
    scale: NDArray[np.float64]
    mass: NDArray[np.float64]
    n_labelled: NDArray[np.int64]


class Geometry(Protocol):
    """What makes one label k-means differ from another."""

    def row_parts(self, labels: NDArray[Any]) -> RowParts:
        """The parts of rows of labels."""

    def row_mass(self, labels: NDArray[Any]) -> NDArray[np.float64]:
        """The mass of rows of labels, alone."""

    def tables(self, counts: NDArray[np.float64], masses: NDArray[np.float64]) -> Tables:
        """Look-up tables of groups with these counts (L, K) and masses (m, K)."""

    def objective(
        self, counts: NDArray[np.float64], masses: NDArray[np.float64], tables: Tables
    ) -> float:
        """Σ_x r(x) f(x, own group), from the statistics and their tables alone."""


@dataclass(frozen=True)
class LabelKMeansResult:
    """The best of several starts."""

    labels: NDArray[Any]
    objective: float
    n_iter: int
    converged: bool
    history: NDArray[np.float64]
    counts: NDArray[np.float64]
    masses: NDArray[np.float64]


@dataclass
class Statistics:
    """What the groups hold: weights by cluster, masses by partition, numbers of rows."""

    counts: NDArray[np.float64]
    masses: NDArray[np.float64]
    sizes: NDArray[np.int64]
    moved: NDArray[np.int64]

    @classmethod
    def empty(cls, rows: Rows, n_groups: int) -> Statistics:
        return cls(
            np.zeros((rows.n_all_clusters, n_groups)),
            np.zeros((rows.n_partitions, n_groups)),
            np.zeros(n_groups, np.int64),
            np.zeros(1, np.int64),
        )

    @property
    def arrays(self) -> Totals:
        return self.counts, self.masses, self.sizes, self.moved

    def clear(self) -> None:
        for array in self.arrays:
            array[:] = 0


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

    Notes
    -----
    An iteration costs one look-up of K numbers per label of a row that may move, O(n m K) at most;
    statistics are brought up to date for rows that moved only.
    """
    run = _Run(rows, geometry, n_clusters)
    best: LabelKMeansResult | None = None
    for start in range(n_init):
        report_progress(task, start, n_init)
        result = run.from_seeds(seeds(start), max_iter, tol)
        if best is None or result.objective < best.objective:
            best = result
    report_progress(task, n_init, n_init)
    assert best is not None
    return best


def group_statistics(
    rows: Rows, geometry: Geometry, groups: NDArray[np.int64], n_groups: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Counts (L, n_groups) and masses (m, n_groups) of groups of rows; -1 is in no group."""
    found = Statistics.empty(rows, n_groups)
    shape = _Shape.of(rows)

    def step(chunk: Chunk, totals: Totals) -> None:
        nowhere = np.full(len(chunk.labels), -1, np.int32)
        own = groups[chunk.start : chunk.start + len(chunk.labels)].astype(np.int32)
        _recount(shape, chunk, parts_of(geometry, chunk).mass, nowhere, own, totals)

    rows.accumulate(step, found.arrays)
    return found.counts, found.masses


def overall_statistics(
    rows: Rows, mass: Callable[[NDArray[Any]], NDArray[np.float64]] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weight of every cluster and mass of the rows that every partition labels.

    `mass` gives the mass of label rows; the mass of a row is its weight by default.
    """
    found = Statistics.empty(rows, 1)
    shape = _Shape.of(rows)

    def step(chunk: Chunk, totals: Totals) -> None:
        everything = np.zeros(len(chunk.labels), np.int32)
        of_rows = np.ones(len(everything)) if mass is None else mass(chunk.labels)
        _recount(shape, chunk, of_rows, everything - 1, everything, totals)

    rows.accumulate(step, found.arrays)
    return found.counts[:, 0], found.masses[:, 0]


def parts_of(geometry: Geometry, chunk: Chunk) -> RowParts:
    """The parts of a chunk's rows, computed once as long as the chunk is kept."""
    if chunk.parts is None or chunk.parts[0] is not geometry:
        chunk.parts = geometry, geometry.row_parts(chunk.labels)
    return chunk.parts[1]


def _recount(
    rows: _Shape,
    chunk: Chunk,
    mass: NDArray[np.float64],
    old: NDArray[np.int32],
    new: NDArray[np.int32],
    totals: Totals,
) -> None:
    """Bring statistics up to date with the rows whose group changed, half of the columns each."""
    counts, masses, sizes, _ = totals
    mass = chunk.weights * mass
    kernel = _kernels.label_kmeans.move
    m = rows.n_partitions
    moved = np.flatnonzero(old != new)
    run_blocks(
        lambda first, last: kernel(
            chunk.labels, rows.missing, rows.complete, rows.offsets, chunk.weights, mass, moved,
            old, new, first, last, counts, masses,
        ),
        m,
        -(-m // 2) if len(moved) > _ROWS else m,
    )  # fmt: skip
    for groups, sign in ((new[moved], 1), (old[moved], -1)):
        sizes += sign * np.bincount(groups[groups >= 0], minlength=len(sizes))


def row_costs(
    ensemble: Any,
    labels: NDArray[Any],
    tables: Tables,
    constant: NDArray[np.float64],
    scale: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Cost of label rows, coded as the ensemble's, in every group, shape (n, n_clusters)."""
    out = np.empty((len(labels), tables.lookup.shape[1]))
    kernel = _kernels.label_kmeans.row_costs
    lookup, slope = np.ascontiguousarray(tables.lookup), np.ascontiguousarray(tables.slope)
    run_blocks(
        lambda start, stop: kernel(
            labels, ensemble.missing, ensemble.offsets, lookup, slope, constant, scale, start,
            stop, out,
        ),
        len(labels),
        _ROWS,
    )  # fmt: skip
    return out


def draw_seeds(
    rows: EnsembleRows, geometry: Geometry, n_clusters: int, how: str, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Distinct rows to start from: drawn by weight ("random") or by cost ("k-means++")."""
    weights = rows.chunk.weights
    if how == "random":
        return rng.choice(rows.n_rows, n_clusters, replace=False, p=weights / weights.sum())
    # greedy k-means++: of a few rows drawn by cost, the one that lowers the total cost most
    trials = 2 + int(np.log(n_clusters))
    chosen = [int(rng.choice(rows.n_rows, p=weights / weights.sum()))]
    nearest = _costs_to_rows(rows, geometry, np.asarray(chosen))[:, 0]
    for _ in range(1, n_clusters):
        nearest[chosen] = 0.0
        share = weights * np.maximum(nearest, 0.0)
        if share.sum() <= 0:  # all remaining rows coincide with a seed in this geometry
            share = weights.copy()
            share[chosen] = 0.0
        candidates = rng.choice(rows.n_rows, trials, p=share / share.sum())
        costs = np.minimum(_costs_to_rows(rows, geometry, candidates), nearest[:, None])
        best = int(np.argmin(weights @ costs))
        chosen.append(int(candidates[best]))
        nearest = costs[:, best].copy()
    return np.asarray(chosen)


def _costs_to_rows(
    rows: EnsembleRows, geometry: Geometry, chosen: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Cost of every row in groups that hold nothing but one of the chosen each."""
    parts = parts_of(geometry, rows.chunk)
    tables = geometry.tables(*_seed_statistics(rows, geometry, rows.take(chosen)))
    return row_costs(rows, rows.chunk.labels, tables, parts.constant, parts.scale)


def _seed_statistics(
    rows: Rows, geometry: Geometry, seeds: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Counts and masses of groups that hold one row each."""
    counts = np.zeros((rows.n_all_clusters, len(seeds)))
    masses = np.zeros((rows.n_partitions, len(seeds)))
    mass = geometry.row_mass(seeds)
    for k, row in enumerate(seeds):
        seen = np.flatnonzero(row != rows.missing)
        counts[rows.offsets[seen] + row[seen], k] = 1.0
        masses[seen, k] = mass[k]
    return counts, masses


@dataclass(frozen=True)
class _Shape:
    """What a step must know of the rows it is sent to."""

    n_partitions: int
    missing: int
    offsets: NDArray[np.int64]
    complete: bool

    @classmethod
    def of(cls, rows: Rows) -> _Shape:
        return cls(rows.n_partitions, rows.missing, rows.offsets, rows.complete)


@dataclass(frozen=True)
class _Assign:
    """The step of an iteration: rows into their cheapest groups, and the groups counted anew."""

    shape: _Shape
    geometry: Geometry
    search: Search

    def __call__(self, chunk: Chunk, totals: Totals) -> None:
        parts = parts_of(self.geometry, chunk)
        previous = chunk.groups.copy()
        moved = self.search.assign(chunk, self.shape, parts)
        if moved:
            _recount(self.shape, chunk, parts.mass, previous, chunk.groups, totals)
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
            self.assign.search.assign(chunk, shape, parts)
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


class _Run:
    """k-means from given seeds."""

    def __init__(self, rows: Rows, geometry: Geometry, n_clusters: int) -> None:
        self.rows = rows
        self.geometry = geometry
        self.n_clusters = n_clusters
        self.shape = _Shape.of(rows)

    def from_seeds(self, seeds: NDArray[Any], max_iter: int, tol: float) -> LabelKMeansResult:
        """Alternate between assignment and update until nothing moves."""
        rows, geometry = self.rows, self.geometry
        search = Search.start(
            geometry.tables(*_seed_statistics(rows, geometry, seeds)), rows.offsets, rows.complete
        )
        held = Statistics.empty(rows, self.n_clusters)
        rows.forget()
        history: list[float] = []
        converged = False
        for _ in range(max_iter):
            changed = self._iterate(_Assign(self.shape, geometry, search), held)
            if history and not changed:
                converged = True
                break
            search = search.next(geometry.tables(held.counts, held.masses))
            history.append(geometry.objective(held.counts, held.masses, search.tables))
            if len(history) > 1 and history[-2] - history[-1] < tol * abs(history[-2]):
                converged = True
                break
        return LabelKMeansResult(
            rows.groups(), history[-1], len(history), converged, np.asarray(history), held.counts,
            held.masses,
        )  # fmt: skip

    def _iterate(self, assign: _Assign, held: Statistics) -> bool:
        """One pass over the rows; whether it changed what the groups hold."""
        before = held.counts
        held.moved[:] = 0
        if not self.rows.remembers:  # a pass counts all rows, not those that moved
            before = held.counts.copy()
            held.clear()
        self.rows.accumulate(assign, held.arrays)
        refilled = self._refill(assign, held)
        if self.rows.remembers:
            return refilled or bool(held.moved[0])
        return refilled or not np.array_equal(before, held.counts)

    def _refill(self, assign: _Assign, held: Statistics) -> bool:
        """Give every empty group the row that costs most where it is, largest first."""
        empty = list(np.flatnonzero(held.sizes == 0))
        if not empty:
            return False
        # groups of one row keep it, so that at most as many candidates are passed over
        step = _Costliest(assign, len(empty) + self.n_clusters, self.rows.remembers)
        candidates = [c for found in self.rows.collect(step) for c in found]
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
        return True
