"""Weighted k-means on an embedding."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning as SklearnConvergenceWarning
from threadpoolctl import ThreadpoolController

__all__ = ["TOLERANCE", "kmeans_model", "weighted_kmeans"]

TOLERANCE = 1e-4  # of the mean variance: how little centers move once a run has settled


@cache
def _libraries() -> ThreadpoolController:
    """The libraries whose threads k-means would use; finding them takes longer than a small run."""
    return ThreadpoolController()


def weighted_kmeans(
    embedding: NDArray[np.float64],
    weights: NDArray[np.float64],
    n_clusters: int,
    rng: np.random.Generator,
    *,
    n_init: int = 10,
    max_iter: int = 100,
) -> tuple[NDArray[np.int64], float]:
    """Labels and inertia of the best of `n_init` k-means++ runs.

    Fewer than `n_clusters` distinct points give fewer clusters, which the caller reports.
    """
    model = kmeans_model(embedding, weights, n_clusters, rng, n_init=n_init, max_iter=max_iter)
    return model.labels_.astype(np.int64), float(model.inertia_)


def kmeans_model(
    embedding: NDArray[np.float64],
    weights: NDArray[np.float64],
    n_clusters: int,
    rng: np.random.Generator,
    *,
    n_init: int = 10,
    max_iter: int = 100,
) -> Any:
    """The fitted scikit-learn model of the best of `n_init` k-means++ runs.

    One thread: sums over several would depend on their number.
    """
    from sklearn.cluster import KMeans  # a third of a second that only this step needs

    model = KMeans(
        n_clusters,
        n_init=n_init,
        max_iter=max_iter,
        tol=TOLERANCE,
        random_state=int(rng.integers(2**31)),
        copy_x=False,
    )
    with _libraries().limit(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore", SklearnConvergenceWarning)
        model.fit(np.ascontiguousarray(embedding), sample_weight=weights)
    return model
