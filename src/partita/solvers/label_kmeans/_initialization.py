"""The groups that each restart of label k-means begins with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.scale import EnsembleRows, Rows
from partita.solvers.label_kmeans._geometry import Geometry
from partita.solvers.label_kmeans._iteration import Initialize, label_kmeans
from partita.solvers.label_kmeans._merging import merged_groups
from partita.solvers.label_kmeans._seeds import (
    RowSample,
    draw_seeds,
    is_sampled,
    seed_statistics,
)
from partita.solvers.label_kmeans._statistics import group_statistics

__all__ = ["initializations"]


def initializations(
    rows: Rows,
    geometry: Geometry,
    n_clusters: int,
    init: str | NDArray[np.int64],
    rng: np.random.Generator,
    *,
    geometry_of: Callable[[EnsembleRows, NDArray[np.int64]], Geometry],
    n_init: int = 10,
    max_iter: int = 100,
    tol: float = 0.0,
) -> Initialize:
    """Return a function that makes the initial groups of restart number i.

    Parameters
    ----------
    rows : Rows
    geometry : Geometry
        Geometry of `rows`.
    n_clusters : int
    init : {"merge", "k-means++", "random"} or array of shape (n_clusters,)
        How groups are initialized (see `SEC`), or the numbers of the rows that are the seeds.
    rng : Generator
    geometry_of : callable
        Makes the geometry of a sample of the rows, from its rows and from the numbers of the
        partitions that its columns are.
    n_init, max_iter, tol : as in `label_kmeans`
        Of the iterations on a sample.

    Notes
    -----
    Rows that are few and in memory are used directly. Otherwise groups are initialized on a sample
    of the rows. If the sample is smaller than all rows, k-means runs on it to the end first: most
    iterations then cost little.
    """
    if not isinstance(init, str):
        seeds = rows.take(init)
        return lambda _: seed_statistics(rows, geometry, seeds)
    generators = rng.spawn(n_init)
    if isinstance(rows, EnsembleRows) and not is_sampled(rows, n_clusters):
        initial = _InitialGroups(rows, geometry, n_clusters, init)
        return lambda i: group_statistics(rows, geometry, initial(i, generators[i]), n_clusters)
    sample = RowSample.draw(rows, n_clusters, rng)
    on_sample = geometry_of(sample.rows, sample.partition_order)
    initial = _InitialGroups(sample.rows, on_sample, n_clusters, init)

    def initialize(i: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        groups = initial(i, generators[i])
        if is_sampled(rows, n_clusters) and n_clusters < sample.rows.n_rows:
            first = group_statistics(sample.rows, on_sample, groups, n_clusters)
            groups = label_kmeans(
                sample.rows, on_sample, n_clusters, lambda _: first, n_init=1,
                max_iter=max_iter, tol=tol,
            ).labels  # fmt: skip
        return sample.statistics(rows, geometry, groups, n_clusters)

    return initialize


@dataclass(frozen=True)
class _InitialGroups:
    """Initial groups of rows in memory, by restart number and generator of random numbers."""

    rows: EnsembleRows
    geometry: Geometry
    n_clusters: int
    init: str

    def __call__(self, number: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return the initial group of every row; -1 for a row in no group."""
        rows, k = self.rows, self.n_clusters
        if rows.n_rows <= k:  # a sample, or a store, with few distinct rows
            return np.arange(rows.n_rows)
        # merged groups resemble each other and may all miss the same small cluster, so that every
        # second restart is another one
        if self.init == "merge" and number % 2 == 0:
            return merged_groups(rows, self.geometry, k, rng)
        how = "random" if self.init == "random" else "k-means++"
        groups = np.full(rows.n_rows, -1)
        groups[draw_seeds(rows, self.geometry, k, how, rng)] = np.arange(k)
        return groups
