"""Rows that label k-means starts from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.ensemble import Ensemble
from partita.scale import EnsembleRows, Rows
from partita.solvers.label_kmeans.statistics import Geometry, parts_of, row_costs

__all__ = ["SeedSample", "draw_seeds", "is_sampled", "seed_statistics"]

_SAMPLE = 1 << 16


def is_sampled(rows: Rows, n_clusters: int) -> bool:
    """Whether rows are so many that a start is looked for among some of them."""
    return rows.n_rows > _sample_size(n_clusters)


def _sample_size(n_clusters: int) -> int:
    return max(_SAMPLE, 2 * n_clusters)


@dataclass(frozen=True)
class SeedSample:
    """Some rows in memory, to draw seeds from: all of them if they are few.

    They are reduced to distinct rows in canonical order like any ensemble, so that a small store
    gives the same seeds as its labels in memory do.

    Attributes
    ----------
    rows : EnsembleRows
    partition_order : array
        The column of the full rows that each column of the sample was.
    """

    rows: EnsembleRows
    partition_order: NDArray[np.int64]
    n_partitions: int
    dtype: np.dtype[Any]
    missing_code: int

    @classmethod
    def of(cls, rows: Rows, n_clusters: int, rng: np.random.Generator) -> SeedSample:
        chosen = np.arange(rows.n_rows)
        if is_sampled(rows, n_clusters):
            weights = rows.chunk.weights if isinstance(rows, EnsembleRows) else None
            share = None if weights is None else weights / weights.sum()
            size = _sample_size(n_clusters)
            chosen = np.sort(rng.choice(rows.n_rows, size, replace=False, p=share))
        taken = rows.take(chosen)
        labeled = np.flatnonzero((taken != rows.missing_code).any(axis=0))
        codes = np.where(taken == rows.missing_code, -1, taken.astype(np.int64))[:, labeled]
        core = Ensemble.from_codes(codes, unlabeled="keep").compress()
        order = labeled[core.partition_order]
        return cls(EnsembleRows(core), order, rows.n_partitions, taken.dtype, rows.missing_code)

    def as_rows(self, chosen: NDArray[np.int64]) -> NDArray[Any]:
        """Rows of the sample, coded as the full rows are."""
        core = self.rows.ensemble
        seeds = np.full((len(chosen), self.n_partitions), self.missing_code, self.dtype)
        for column, codes, names in zip(
            self.partition_order, core.codes[chosen].T, core.categories, strict=True
        ):
            there = codes != core.missing_code
            seeds[there, column] = names[codes[there]]
        return seeds

    def statistics(
        self, rows: Rows, geometry: Geometry, groups: NDArray[np.int64], n_groups: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Counts and masses, in the geometry of the full rows, of groups of the sample's rows.

        -1 is in no group.
        """
        core = self.rows.ensemble
        labels = self.as_rows(np.arange(core.n_rows))
        mass = core.weights * geometry.row_mass(labels)
        counts = np.zeros((rows.n_base_clusters, n_groups))
        masses = np.zeros((rows.n_partitions, n_groups))
        for i, column in enumerate(labels.T):
            there = np.flatnonzero((column != rows.missing_code) & (groups >= 0))
            clusters = rows.offsets[i] + column[there]
            np.add.at(counts, (clusters, groups[there]), core.weights[there])
            masses[i] = np.bincount(groups[there], mass[there], minlength=n_groups)
        return counts, masses


def draw_seeds(
    rows: EnsembleRows, geometry: Geometry, n_clusters: int, how: str, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Distinct rows to start from: drawn by weight ("random") or by cost ("k-means++")."""
    weights = rows.chunk.weights
    if how == "random":
        return rng.choice(rows.n_rows, n_clusters, replace=False, p=weights / weights.sum())
    parts = parts_of(geometry, rows.chunk)
    labels = rows.chunk.codes

    def costs_to(chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        """Cost of every row in groups that hold nothing but one of the chosen each."""
        tables = geometry.tables(*seed_statistics(rows, geometry, labels[chosen]))
        return row_costs(rows, labels, tables, parts.constant, parts.scale)

    # greedy k-means++: of a few rows drawn by cost, the one that lowers the total cost most
    trials = 2 + int(np.log(n_clusters))
    chosen = [int(rng.choice(len(labels), p=weights / weights.sum()))]
    nearest = costs_to(np.asarray(chosen))[:, 0]
    for _ in range(1, n_clusters):
        nearest[chosen] = 0.0
        share = weights * np.maximum(nearest, 0.0)
        if share.sum() <= 0:  # all remaining rows coincide with a seed in this geometry
            share = weights.copy()
            share[chosen] = 0.0
        candidates = rng.choice(len(labels), trials, p=share / share.sum())
        costs = np.minimum(costs_to(candidates), nearest[:, None])
        best = int(np.argmin(weights @ costs))
        chosen.append(int(candidates[best]))
        nearest = costs[:, best].copy()
    return np.asarray(chosen)


def seed_statistics(
    rows: Rows, geometry: Geometry, seeds: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Counts and masses of groups that hold one row each."""
    counts = np.zeros((rows.n_base_clusters, len(seeds)))
    masses = np.zeros((rows.n_partitions, len(seeds)))
    mass = geometry.row_mass(seeds)
    for k, row in enumerate(seeds):
        seen = np.flatnonzero(row != rows.missing_code)
        counts[rows.offsets[seen] + row[seen], k] = 1.0
        masses[seen, k] = mass[k]
    return counts, masses
