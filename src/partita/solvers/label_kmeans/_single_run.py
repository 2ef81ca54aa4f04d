"""One run of label k-means, as the initialization of other methods."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.ensemble import Ensemble
from partita.scale import EnsembleRows
from partita.solvers.label_kmeans._iteration import label_kmeans
from partita.solvers.label_kmeans._seeds import draw_seeds, seed_statistics
from partita.solvers.label_kmeans._statistics import kmeans_work
from partita.solvers.label_kmeans._utilities import UtilityGeometry

__all__ = ["single_run"]


def single_run(
    ensemble: Ensemble,
    n_clusters: int,
    rng: np.random.Generator,
    partition_weights: NDArray[np.float64] | None = None,
) -> NDArray[np.integer]:
    """Return groups of rows by one run of k-means with category utility, from k-means++ seeds.

    Parameters
    ----------
    ensemble : Ensemble
        The partitions, with more than `n_clusters` rows.
    n_clusters : int
        Number of groups.
    rng : Generator
        Source of random numbers; the seeds come from its first child.
    partition_weights : array of shape (n_partitions,), optional
        Weights of the partitions; equal by default.

    Returns
    -------
    array of shape (n_rows,)
    """
    rows = EnsembleRows(ensemble)
    work = kmeans_work(rows, n_clusters, n_init=1)
    if partition_weights is None:
        partition_weights = np.ones(ensemble.n_partitions)
    geometry = UtilityGeometry(rows, "c", partition_weights, work=work)
    seeds = draw_seeds(rows, geometry, n_clusters, "k-means++", rng.spawn(1)[0])
    start = seed_statistics(rows, geometry, rows.take(seeds))
    return label_kmeans(rows, geometry, n_clusters, lambda _: start, n_init=1).labels
