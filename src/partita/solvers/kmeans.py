"""Cluster an embedding by weighted k-means."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning as SklearnConvergenceWarning

from partita._threads import thread_pools
from partita.solvers.kmeans_seeds import WeightedSeeds

__all__ = ["TOLERANCE", "draw_points", "kmeans_model", "one_blas_thread", "weighted_kmeans"]

TOLERANCE = 1e-4  # squared movement of the centers, relative to the mean variance
_SAMPLE = 1 << 14  # draws on which restarts run if there are more than twice as many points
_SAMPLE_PER_CLUSTER = 100  # their smallest number for each cluster


def one_blas_thread() -> AbstractContextManager[Any]:
    """Return a context in which matrix products run on one thread.

    Sums depend on the number of threads, and several threads slow small products down.
    """
    context: AbstractContextManager[Any] = thread_pools().limit(limits=1)
    return context


def weighted_kmeans(
    embedding: NDArray[np.float64] | sp.csr_array,
    weights: NDArray[np.float64],
    n_clusters: int,
    rng: np.random.Generator,
    *,
    n_init: int = 10,
    max_iter: int = 100,
) -> tuple[NDArray[np.int64], float]:
    """Return labels and inertia of the best of `n_init` k-means runs.

    Fewer than `n_clusters` distinct points give fewer clusters; the caller must report that.
    Parameters as in `kmeans_model`.
    """
    model = kmeans_model(embedding, weights, n_clusters, rng, n_init=n_init, max_iter=max_iter)
    return model.labels_.astype(np.int64), float(model.inertia_)


def kmeans_model(
    embedding: NDArray[np.float64] | sp.csr_array,
    weights: NDArray[np.float64],
    n_clusters: int,
    rng: np.random.Generator,
    *,
    n_init: int = 10,
    max_iter: int = 100,
) -> Any:
    """Return the fitted scikit-learn model of the best of `n_init` k-means runs.

    It runs on one thread, because sums would depend on the number of threads. Of many points the
    restarts use a random sample of 16,384 (at least 100 per cluster), and the best one continues on
    all points.

    Parameters
    ----------
    embedding : array or CSR matrix of shape (n, p)
        Points. A sparse matrix stays sparse.
    weights : array of shape (n,)
        Weights of the points.
    n_clusters : int
        Number of clusters.
    rng : Generator
        Draws the seed.
    n_init : int, default=10
        Number of restarts with k-means++; the smallest inertia wins.
    max_iter : int, default=100
        Largest number of iterations of a restart.
    """
    from sklearn.cluster import KMeans  # takes 0.3 s, so only when needed

    seed = int(rng.integers(2**31))
    options: dict[str, Any] = {"max_iter": max_iter, "tol": TOLERANCE, "random_state": seed}
    options |= {"copy_x": False}
    n_draws = max(_SAMPLE, _SAMPLE_PER_CLUSTER * n_clusters)
    with one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", SklearnConvergenceWarning)
        if embedding.shape[0] > 2 * n_draws:
            rows, times = draw_points(weights, n_draws, np.random.default_rng(seed))
            sample = embedding[rows]
            model = KMeans(n_clusters, init=_seeds(sample, times), n_init=n_init, **options)
            options |= {"init": model.fit(sample, sample_weight=times).cluster_centers_}
            n_init = 1
        else:
            options |= {"init": _seeds(embedding, weights)}
        points = embedding if sp.issparse(embedding) else np.ascontiguousarray(embedding)
        return KMeans(n_clusters, n_init=n_init, **options).fit(points, sample_weight=weights)


def _seeds(embedding: NDArray[np.float64] | sp.csr_array, weights: NDArray[np.float64]) -> Any:
    """Return the value of `init` by which the restarts of `KMeans` draw their centers."""
    is_plain = not sp.issparse(embedding) and embedding.dtype == np.float64
    return WeightedSeeds(weights) if is_plain else "k-means++"


def draw_points(
    weights: NDArray[np.float64], n_draws: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Draw points with probabilities proportional to their weights; return them and how often."""
    cumulative = np.cumsum(weights)
    targets = np.sort(rng.random(n_draws)) * cumulative[-1]  # searched faster in order
    drawn = np.searchsorted(cumulative, targets, "right")
    times = np.bincount(np.minimum(drawn, len(weights) - 1), minlength=len(weights))
    rows = np.flatnonzero(times)
    return rows, times[rows].astype(np.float64)
