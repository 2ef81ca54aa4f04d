"""Rows that label k-means starts from: a sample of rows, and seeds drawn from rows in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.ensemble import Ensemble
from partita.scale import EnsembleRows, Rows
from partita.solvers.label_kmeans._geometry import Geometry, row_terms_of
from partita.solvers.label_kmeans._statistics import row_costs

__all__ = ["RowSample", "draw_seeds", "is_sampled", "seed_statistics"]

_SAMPLE = 1 << 16


def is_sampled(rows: Rows, n_clusters: int) -> bool:
    """Return whether there are so many rows that initialization uses a sample of them."""
    return rows.n_rows > _sample_size(n_clusters)


def _sample_size(n_clusters: int) -> int:
    return max(_SAMPLE, 2 * n_clusters)


@dataclass(frozen=True)
class RowSample:
    """A sample of rows in memory; all rows if there are few.

    The sample is reduced to distinct rows in canonical order like any ensemble, so that a small
    store gives the same seeds as its labels in memory.

    Attributes
    ----------
    rows : EnsembleRows
    partition_order : array
        Number, in the full rows, of each column of the sample.
    n_partitions, dtype, missing_code
        Of the full rows.
    """

    rows: EnsembleRows
    partition_order: NDArray[np.int64]
    n_partitions: int
    dtype: np.dtype[Any]
    missing_code: int

    @classmethod
    def draw(cls, rows: Rows, n_clusters: int, rng: np.random.Generator) -> RowSample:
        """Draw the sample without replacement, by weight where rows have weights."""
        numbers = np.arange(rows.n_rows)
        if is_sampled(rows, n_clusters):
            weights = rows.chunk.weights if isinstance(rows, EnsembleRows) else None
            share = None if weights is None else weights / weights.sum()
            size = _sample_size(n_clusters)
            numbers = np.sort(rng.choice(rows.n_rows, size, replace=False, p=share))
        taken = rows.take(numbers)
        labeled = np.flatnonzero((taken != rows.missing_code).any(axis=0))
        codes = np.where(taken == rows.missing_code, -1, taken.astype(np.int64))[:, labeled]
        core = Ensemble.from_codes(codes, unlabeled="keep").compress()
        order = labeled[core.partition_order]
        return cls(EnsembleRows(core), order, rows.n_partitions, taken.dtype, rows.missing_code)

    def full_codes(self) -> NDArray[Any]:
        """Return the rows of the sample, coded as the full rows are."""
        core = self.rows.ensemble
        full = np.full((core.n_rows, self.n_partitions), self.missing_code, self.dtype)
        for column, codes, full_codes in zip(
            self.partition_order, core.codes.T, core.categories, strict=True
        ):
            labeled = codes != core.missing_code
            full[labeled, column] = full_codes[codes[labeled]]
        return full

    def statistics(
        self, rows: Rows, geometry: Geometry, groups: NDArray[np.int64], n_groups: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return counts and masses, in the geometry of the full rows, of groups of the sample.

        -1 is no group.
        """
        core = self.rows.ensemble
        codes = self.full_codes()
        mass = core.weights * geometry.row_mass(codes)
        counts = np.zeros((rows.n_base_clusters, n_groups))
        masses = np.zeros((rows.n_partitions, n_groups))
        for i, column in enumerate(codes.T):
            counted = np.flatnonzero((column != rows.missing_code) & (groups >= 0))
            clusters = rows.offsets[i] + column[counted]
            np.add.at(counts, (clusters, groups[counted]), core.weights[counted])
            masses[i] = np.bincount(groups[counted], mass[counted], minlength=n_groups)
        return counts, masses


def draw_seeds(
    rows: EnsembleRows, geometry: Geometry, n_clusters: int, how: str, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return distinct rows: drawn by weight ("random"), or by cost ("k-means++")."""
    weights = rows.chunk.weights
    if how == "random":
        return rng.choice(rows.n_rows, n_clusters, replace=False, p=weights / weights.sum())
    terms = row_terms_of(geometry, rows.chunk)
    codes = rows.chunk.codes

    def costs_to(seeds: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the cost of every row in groups that hold one seed each."""
        tables = geometry.tables(*seed_statistics(rows, geometry, codes[seeds]))
        return row_costs(
            rows, codes, tables, terms.constant, terms.scale, geometry.work, rows.complete
        )

    # greedy k-means++: of a few rows drawn by cost, take the one that lowers the total cost most
    n_trials = 2 + int(np.log(n_clusters))
    seeds = [int(rng.choice(len(codes), p=weights / weights.sum()))]
    nearest = costs_to(np.asarray(seeds))[:, 0]
    for _ in range(1, n_clusters):
        nearest[seeds] = 0.0
        share = weights * np.maximum(nearest, 0.0)
        if share.sum() <= 0:  # all remaining rows coincide with a seed in this geometry
            share = weights.copy()
            share[seeds] = 0.0
        candidates = rng.choice(len(codes), n_trials, p=share / share.sum())
        costs = np.minimum(costs_to(candidates), nearest[:, None])
        best = int(np.argmin(weights @ costs))
        seeds.append(int(candidates[best]))
        nearest = costs[:, best].copy()
    return np.asarray(seeds)


def seed_statistics(
    rows: Rows, geometry: Geometry, seeds: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return counts and masses of groups that hold one row of codes each."""
    counts = np.zeros((rows.n_base_clusters, len(seeds)))
    masses = np.zeros((rows.n_partitions, len(seeds)))
    mass = geometry.row_mass(seeds)
    for k, row in enumerate(seeds):
        labeled = np.flatnonzero(row != rows.missing_code)
        counts[rows.offsets[labeled] + row[labeled], k] = 1.0
        masses[labeled, k] = mass[k]
    return counts, masses
