"""k-means on label rows, for any cost that is a sum of look-ups (SEC, KCC)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._threads import run_blocks
from partita.config import report_progress
from partita.ensemble import Ensemble

__all__ = [
    "Geometry",
    "LabelKMeansResult",
    "Tables",
    "group_statistics",
    "label_kmeans",
    "row_costs",
]

_LANES = 4  # doubles in a vector register: tables are padded to whole registers
_ROWS = 4096


@dataclass(frozen=True)
class Tables:
    """Look-ups that give the cost of a row in a group.

    f(x, k) = constant[x] + Σ_{i: x labelled} ( lookup[c_i(x), k] + scale[x] slope[i, k] )

    lookup : (n_all_clusters, width), slope : (n_partitions, width); width >= number of groups.
    """

    lookup: NDArray[np.float64]
    slope: NDArray[np.float64]


class Geometry(Protocol):
    """What makes one label k-means differ from another.

    Attributes
    ----------
    constant, scale, mass : arrays of shape (n_rows,)
        Parts of a row's cost, and what it adds to the mass of its group.
    metric : bool
        Whether sqrt(cost / scale) is a Euclidean distance between the row and the group's centre
        over the partitions that label the row, so that the triangle inequality may skip rows.
    """

    constant: NDArray[np.float64]
    scale: NDArray[np.float64]
    mass: NDArray[np.float64]
    metric: bool

    def tables(self, counts: NDArray[np.float64], masses: NDArray[np.float64]) -> Tables:
        """Look-up tables of groups with these counts (L, K) and masses (m, K)."""

    def drift(self, old: Tables, new: Tables) -> NDArray[np.float64]:
        """How far every group's centre has moved, at most."""

    def objective(self, counts: NDArray[np.float64], masses: NDArray[np.float64]) -> float:
        """Σ_x r(x) f(x, own group), from the statistics alone."""


@dataclass(frozen=True)
class LabelKMeansResult:
    """The best of several starts."""

    labels: NDArray[np.int64]
    objective: float
    n_iter: int
    converged: bool
    history: NDArray[np.float64]
    counts: NDArray[np.float64]
    masses: NDArray[np.float64]


def label_kmeans(
    ensemble: Ensemble,
    geometry: Geometry,
    n_clusters: int,
    rng: np.random.Generator,
    *,
    init: str | NDArray[np.int64] = "k-means++",
    n_init: int = 10,
    max_iter: int = 100,
    tol: float = 0.0,
    task: str = "label k-means",
) -> LabelKMeansResult:
    """Weighted k-means of label rows under a geometry; the best of `n_init` starts.

    Parameters
    ----------
    ensemble : Ensemble
    geometry : Geometry
    n_clusters : int
        Fewer than the ensemble has distinct rows.
    rng : Generator
    init : {"k-means++", "random"} or array of shape (n_clusters,)
        Seeds are rows of the ensemble, drawn by cost or by weight, or given by number.
    n_init, max_iter : int
    tol : float
        Stop when the objective falls by less than this share of itself.

    Notes
    -----
    An iteration costs one look-up of K numbers per label of a row that may move, O(n m K) at most;
    statistics are brought up to date for rows that moved only.
    """
    run = _Run(ensemble, geometry, n_clusters)
    given = not isinstance(init, str)
    starts = 1 if given else n_init
    best: LabelKMeansResult | None = None
    for start, child in enumerate(rng.spawn(starts)):
        report_progress(task, start, starts)
        seeds = np.asarray(init) if given else run.seeds(str(init), child)
        result = run.from_seeds(seeds, max_iter, tol)
        if best is None or result.objective < best.objective:
            best = result
    report_progress(task, starts, starts)
    assert best is not None
    return best


def group_statistics(
    ensemble: Ensemble, geometry: Geometry, groups: NDArray[np.int64], n_groups: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Counts (L, n_groups) and masses (m, n_groups) of groups of rows; -1 is in no group."""
    counts = np.zeros((ensemble.n_all_clusters, n_groups))
    masses = np.zeros((ensemble.n_partitions, n_groups))
    _move(ensemble, geometry, np.full(ensemble.n_rows, -1, np.int64), groups, counts, masses)
    return counts, masses


def _move(
    ensemble: Ensemble,
    geometry: Geometry,
    old: NDArray[np.int64],
    new: NDArray[np.int64],
    counts: NDArray[np.float64],
    masses: NDArray[np.float64],
) -> None:
    """Bring statistics up to date with the rows whose group changed, half of the columns each."""
    e = ensemble
    mass = e.weights * geometry.mass
    kernel = _kernels.label_kmeans.move
    run_blocks(
        lambda first, last: kernel(
            e.labels, e.missing, e.offsets, e.weights, mass, old, new, first, last, counts, masses
        ),
        e.n_partitions,
        -(-e.n_partitions // 2) if e.n_rows > _ROWS else e.n_partitions,
    )


def row_costs(
    ensemble: Ensemble,
    labels: NDArray[Any],
    tables: Tables,
    constant: NDArray[np.float64],
    scale: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Cost of label rows, coded as the ensemble's, in every group, shape (n, n_clusters)."""
    out = np.empty((len(labels), tables.lookup.shape[1]))
    complete = not (labels == ensemble.missing).any()
    slope_sum = tables.slope.sum(axis=0)
    kernel = _kernels.label_kmeans.row_costs

    def block(start: int, stop: int) -> None:
        rows = slice(start, stop)
        kernel(
            labels[rows], ensemble.missing, complete, ensemble.offsets, tables.lookup,
            tables.slope, slope_sum, constant[rows], scale[rows], out[rows],
        )  # fmt: skip

    run_blocks(block, len(labels), _ROWS)
    return out


class _Run:
    """The arrays that all starts on one ensemble share."""

    def __init__(self, ensemble: Ensemble, geometry: Geometry, n_clusters: int) -> None:
        self.ensemble = ensemble
        self.geometry = geometry
        self.n_clusters = n_clusters
        self.width = -(-n_clusters // _LANES) * _LANES
        self.complete = ensemble.n_missing == 0
        self.n = ensemble.n_rows

    # -- seeds -------------------------------------------------------------------------------

    def seeds(self, how: str, rng: np.random.Generator) -> NDArray[np.int64]:
        """Distinct rows to start from."""
        weights = self.ensemble.weights
        if how == "random":
            return rng.choice(self.n, self.n_clusters, replace=False, p=weights / weights.sum())
        # greedy k-means++: of a few rows drawn by cost, the one that lowers the total cost most
        trials = 2 + int(np.log(self.n_clusters))
        chosen = [int(rng.choice(self.n, p=weights / weights.sum()))]
        nearest = self._costs_to_rows(np.asarray(chosen))[:, 0]
        for _ in range(1, self.n_clusters):
            nearest[chosen] = 0.0
            share = weights * np.maximum(nearest, 0.0)
            if share.sum() <= 0:  # all remaining rows coincide with a seed in this geometry
                share = weights.copy()
                share[chosen] = 0.0
            candidates = rng.choice(self.n, trials, p=share / share.sum())
            costs = np.minimum(self._costs_to_rows(candidates), nearest[:, None])
            best = int(np.argmin(weights @ costs))
            chosen.append(int(candidates[best]))
            nearest = costs[:, best].copy()
        return np.asarray(chosen)

    def _costs_to_rows(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Cost of every row in groups that hold nothing but one of `rows` each."""
        e = self.ensemble
        counts = np.zeros((e.n_all_clusters, len(rows)))
        masses = np.zeros((e.n_partitions, len(rows)))
        for k, row in enumerate(rows):
            seen = np.flatnonzero(e.observed[row])
            counts[e.offsets[seen] + e.labels[row, seen], k] = e.weights[row]
            masses[seen, k] = e.weights[row] * self.geometry.mass[row]
        tables = self.geometry.tables(counts, masses)
        return row_costs(e, e.labels, tables, self.geometry.constant, self.geometry.scale)

    def _statistics(
        self, seeds: NDArray[np.int64], n_groups: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        groups = np.full(self.n, -1, np.int64)
        groups[seeds] = np.arange(n_groups)
        return group_statistics(self.ensemble, self.geometry, groups, n_groups)

    # -- iteration ---------------------------------------------------------------------------

    def from_seeds(self, seeds: NDArray[np.int64], max_iter: int, tol: float) -> LabelKMeansResult:
        """Alternate between assignment and update until nothing moves."""
        counts, masses = self._statistics(seeds, self.n_clusters)
        tables = self._padded(self.geometry.tables(counts, masses))
        groups = np.zeros(self.n, np.int64)
        previous = np.full(self.n, -1, np.int64)
        upper, lower = np.full(self.n, np.inf), np.zeros(self.n)
        drift = np.zeros(self.n_clusters)
        counts[:] = 0.0
        masses[:] = 0.0
        history: list[float] = []
        converged = False
        for _ in range(max_iter):
            moved = self._assign(tables, groups, drift, upper, lower)
            refilled = self._refill(tables, groups)
            if refilled:
                upper[:], lower[:] = np.inf, 0.0  # bounds do not know the new owners
            if history and moved == 0 and not refilled:
                converged = True
                break
            _move(self.ensemble, self.geometry, previous, groups, counts, masses)
            previous[:] = groups
            new = self._padded(self.geometry.tables(counts, masses))
            drift = self.geometry.drift(tables, new)[: self.n_clusters]
            tables = new
            history.append(self.geometry.objective(counts, masses))
            if len(history) > 1 and history[-2] - history[-1] < tol * abs(history[-2]):
                converged = True
                break
        return LabelKMeansResult(
            groups, history[-1], len(history), converged, np.asarray(history), counts, masses
        )

    def _padded(self, tables: Tables) -> Tables:
        extra = self.width - self.n_clusters
        if not extra:
            return Tables(np.ascontiguousarray(tables.lookup), np.ascontiguousarray(tables.slope))
        return Tables(*(np.pad(t, ((0, 0), (0, extra))) for t in (tables.lookup, tables.slope)))

    def _assign(
        self,
        tables: Tables,
        groups: NDArray[np.int64],
        drift: NDArray[np.float64],
        upper: NDArray[np.float64],
        lower: NDArray[np.float64],
    ) -> int:
        e, g = self.ensemble, self.geometry
        slope_sum = tables.slope.sum(axis=0)
        moved: list[int] = []

        def block(start: int, stop: int) -> None:
            moved.append(
                _kernels.label_kmeans.assign(
                    e.labels, e.missing, self.complete, e.offsets, tables.lookup, tables.slope,
                    slope_sum, g.constant, g.scale, self.n_clusters, groups, drift, g.metric,
                    upper, lower, start, stop,
                )
            )  # fmt: skip

        run_blocks(block, self.n, _ROWS)
        return sum(moved)

    def _refill(self, tables: Tables, groups: NDArray[np.int64]) -> bool:
        """Give every empty group the row that costs most where it is, largest first."""
        sizes = np.bincount(groups, minlength=self.n_clusters)
        empty = np.flatnonzero(sizes == 0)
        if not len(empty):
            return False
        cost = np.empty(self.n)
        self._own_costs(tables, groups, cost)
        for row in np.argsort(-cost * self.ensemble.weights, kind="stable"):
            if not len(empty):
                break
            if sizes[groups[row]] > 1:
                sizes[groups[row]] -= 1
                groups[row], empty = empty[0], empty[1:]
        return True

    def _own_costs(
        self, tables: Tables, groups: NDArray[np.int64], out: NDArray[np.float64]
    ) -> None:
        e, g = self.ensemble, self.geometry
        kernel = _kernels.label_kmeans.own_costs
        run_blocks(
            lambda start, stop: kernel(
                e.labels, e.missing, e.offsets, tables.lookup, tables.slope, g.constant, g.scale,
                groups, start, stop, out,
            ),
            self.n,
            _ROWS,
        )  # fmt: skip
