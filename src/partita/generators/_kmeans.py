"""Make base partitions by k-means: fast initialization, scikit-learn's iterations, small models.

k-means++ over all rows takes half or more of the time of a single k-means run (50 to 70 % at
n = 10000, d = 50, K up to 100). On a sample of the rows it is as good: the mean inertia reached is
the same within about 0.1 %. With many rows the iterations take most of the time, and the first of
them only find the rough places of the centers, for which a sample is enough. The iterations are
scikit-learn's, in single precision.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita._sklearn_compat import KMeansRun, run_kmeans
from partita.generators._base import MISSING, Labels
from partita.generators._features import (
    count_distinct_rows,
    has_direction,
    row_blocks,
    squared_norms,
    unit_rows,
)

__all__ = ["CentroidModel", "View", "kmeans", "select_features"]

_SEED_ROWS_PER_CLUSTER = 20
_SEED_ROWS_AT_LEAST = 500
_SAMPLE_ROWS_PER_CLUSTER = 50  # for the first iterations, if there are four times as many rows
_SAMPLE_ROWS_AT_LEAST = 5000
_FINAL_SHARE = 5  # after iterations on a sample, one in five uses all rows
_SCORES = 1 << 18  # entries of a block of scores of samples and centers, to fit in the cache

Single = NDArray[np.float32]


def kmeans(X: Any, k: int, n_init: int, max_iter: int, rng: np.random.Generator) -> KMeansRun:
    """Return the best of `n_init` k-means runs on float32 rows.

    X must have at least k distinct rows. O(n d k) per iteration. Its `n_iter` includes the
    iterations on a sample.
    """
    runs = [_run(X, k, max_iter, rng) for _ in range(n_init)]
    return min(runs, key=lambda run: run.inertia)


def _run(X: Any, k: int, max_iter: int, rng: np.random.Generator) -> KMeansRun:
    """Return one k-means run, for many rows with its first iterations on a sample."""
    n_rows = max(_SAMPLE_ROWS_PER_CLUSTER * k, _SAMPLE_ROWS_AT_LEAST)
    if X.shape[0] >= 4 * n_rows:
        sample = _sample(X, n_rows, rng)
        if count_distinct_rows(sample, k) == k:
            on_all_rows = -(-max_iter // _FINAL_SHARE)
            centers, n_iter = _seed_centers(sample, k, rng), 0
            if max_iter > on_all_rows:
                centers, _, n_iter = run_kmeans(sample, centers, max_iter - on_all_rows)
            run = run_kmeans(X, centers, on_all_rows)
            return run._replace(n_iter=run.n_iter + n_iter)
    n_rows = max(_SEED_ROWS_PER_CLUSTER * k, _SEED_ROWS_AT_LEAST)
    return run_kmeans(X, _seed_centers(_sample(X, n_rows, rng), k, rng), max_iter)


def _sample(X: Any, n_rows: int, rng: np.random.Generator) -> Any:
    """Return `n_rows` random rows in their order, or X if it has no more."""
    if n_rows >= X.shape[0]:
        return X
    return X[np.sort(rng.choice(X.shape[0], n_rows, replace=False))]


def _seed_centers(X: Any, k: int, rng: np.random.Generator) -> Single:
    """Run greedy k-means++: each center is the best of a few D² draws."""
    n_rows = X.shape[0]
    norms = squared_norms(X)
    trials = 2 + int(log(k))
    chosen = np.empty(k, np.int64)
    chosen[0] = rng.integers(n_rows)
    nearest = _distances(X, norms, chosen[:1])[0]
    for step in range(1, k):
        cumulated = np.cumsum(nearest, dtype=np.float64)
        draws = np.searchsorted(cumulated, rng.random(trials) * cumulated[-1], side="right")
        candidates = np.minimum(draws, n_rows - 1)
        distances = _distances(X, norms, candidates)
        remaining = np.minimum(distances, nearest, out=distances)
        best = int(remaining.sum(axis=1).argmin())
        chosen[step], nearest = candidates[best], remaining[best]
    return _dense(X[chosen])


def _distances(X: Any, norms: Single, rows: NDArray[np.int64]) -> Single:
    """Return squared distances of some rows to all rows, shape (len(rows), n_rows).

    The distance of a row to itself is exactly 0.
    """
    distances = np.ascontiguousarray((X @ _dense(X[rows]).T).T)
    distances *= -2
    distances += norms
    distances += norms[rows, None]
    distances[np.arange(len(rows)), rows] = 0
    return np.maximum(distances, 0, out=distances)


def _dense(X: Any) -> Single:
    return np.asarray(X.toarray() if sp.issparse(X) else X)


@dataclass(frozen=True)
class View:
    """The part of the data that one partition clusters.

    Attributes
    ----------
    rows : array or None
        Indices of the samples. None: all samples.
    features : array or None
        Indices of the features (1-D) or a projection matrix (2-D). None: all features.
    """

    rows: NDArray[np.int64] | None = None
    features: NDArray[Any] | None = None


@dataclass(frozen=True)
class CentroidModel:
    """A model of one partition that labels samples by the nearest center.

    Attributes
    ----------
    centers : array of shape (K_i, n_features_used)
        Cluster centers.
    features : array or None
        As in `View`.
    unit : bool, default=False
        Whether rows have unit length; a row of zeros then gets no label.
    n_iter : int, default=1
        Iterations of k-means.
    """

    centers: Single
    features: NDArray[Any] | None = None
    unit: bool = False
    n_iter: int = 1

    def predict(self, X: Any) -> Labels:
        """Return the nearest center of every row of prepared features."""
        return self.nearest(select_features(X, self.features, self.unit))

    def nearest(self, X: Any) -> Labels:
        """Return the nearest center of rows that already have the features of the centers."""
        half_norms = 0.5 * np.einsum("ij,ij->i", self.centers, self.centers)
        labels = np.empty(X.shape[0], np.int32)
        for block in row_blocks(X.shape[0], max(1, _SCORES // len(self.centers))):
            scores = X[block] @ self.centers.T
            scores -= half_norms
            labels[block] = scores.argmax(axis=1)
        if self.unit:
            labels[~has_direction(X)] = MISSING
        return labels


def select_features(X: Any, features: NDArray[Any] | None, unit: bool) -> Any:
    """Return some features of X or a projection; with `unit`, rows of unit length again."""
    if features is None:
        return X
    if features.ndim == 1:
        selected = X[:, features]
        selected = selected if sp.issparse(selected) else np.ascontiguousarray(selected)
    else:
        selected = np.ascontiguousarray(X @ features)
    return unit_rows(selected) if unit else selected
