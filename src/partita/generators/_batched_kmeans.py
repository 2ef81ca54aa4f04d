"""Several k-means runs on few rows, all at once, in single precision.

A k-means run on a few hundred rows takes less time than the calls around it. Here all runs share
every matrix product. Each run has its own rows and its own random numbers, and it stops by itself:
its result does not depend on the other runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_ROWS", "batched_kmeans"]

MOST_ROWS = 2000  # from some thousand rows on, single runs are as fast
_SCORES = 1 << 18  # scores of rows and centers that are held at once, to fit in the cache
_TOLERANCE = 1e-4  # of the movement of the centers, relative to the variance of the features
_ROUNDING = 1e-6  # share of a squared length by which a squared distance may be wrong
_TINY = np.float32(1e-30)

Single = NDArray[np.float32]


def batched_kmeans(
    X: Single,
    weights: Single,
    n_clusters: int,
    max_iter: int,
    rngs: Sequence[np.random.Generator],
) -> NDArray[np.int32]:
    """Return the labels of k-means runs on some of the rows each.

    Every run begins with greedy k-means++ and iterates as scikit-learn's `KMeans`.

    Parameters
    ----------
    X : float32 array of shape (n, d)
        Centered features.
    weights : float32 array of shape (n_runs, n)
        How often every row counts in each run; 0 for a row that the run does not use.
    n_clusters : int
        Number of clusters. A run on fewer distinct rows finds fewer.
    max_iter : int
        Largest number of iterations.
    rngs : sequence of Generator
        Source of random numbers of every run.

    Returns
    -------
    array of shape (n_runs, n)
        Nearest center of every row, also of those that the run did not use.
    """
    size = max(1, _SCORES // (n_clusters * len(X)))
    parts = [
        _Runs(X, weights[start : start + size]).labels(
            n_clusters, max_iter, rngs[start : start + size]
        )
        for start in range(0, len(rngs), size)
    ]
    return np.concatenate(parts)


class _Runs:
    """Rows with a further coordinate of 1, and their weights in every run.

    The further coordinate of a center c is -|c|²/2: the product with a row x is the score
    x·c - |c|²/2, which is largest for the nearest center.
    """

    def __init__(self, X: Single, weights: Single) -> None:
        n, d = X.shape
        self.rows = np.ones((n, d + 1), np.float32)
        self.rows[:, :d] = X
        self.columns = np.ascontiguousarray(self.rows.T)
        self.squares = np.einsum("ij,ij->i", X, X)
        self.as_centers = np.column_stack([X, -0.5 * self.squares])
        self.weights = weights
        self.is_unweighted = bool((weights == 1).all())
        self.has_repeated = bool((weights > 1).any())
        self.unused = np.where(weights == 0, np.float32(np.inf), np.float32(0))
        self.certain_squares = (1 - _ROUNDING) * self.squares
        totals = weights.sum(axis=1, keepdims=True)
        means = (weights @ X) / totals
        variances = (weights @ np.square(X)) / totals - np.square(means)
        self.tolerances = _TOLERANCE * np.maximum(variances, 0).mean(axis=1)

    def labels(
        self, n_clusters: int, max_iter: int, rngs: Sequence[np.random.Generator]
    ) -> NDArray[np.int32]:
        """Return the nearest center of every row in every run."""
        uniform = np.stack([rng.random((n_clusters, 2 + int(log(n_clusters)))) for rng in rngs])
        centers = self._seeds(uniform)
        moving = np.arange(len(centers))
        for _ in range(max_iter):
            moved = self._means(centers[moving], moving)
            steps = np.square(moved[:, :, :-1] - centers[moving][:, :, :-1]).sum(axis=(1, 2))
            centers[moving] = moved
            moving = moving[steps > self.tolerances[moving]]
            if len(moving) == 0:
                break
        return self._scores(centers).argmax(axis=1).astype(np.int32)

    def _scores(self, centers: Single) -> Single:
        """Return x·c - |c|²/2 for centers (..., d + 1) and all rows."""
        flat = centers.reshape(-1, centers.shape[-1])
        return (flat @ self.columns).reshape(*centers.shape[:-1], -1)

    def _means(self, centers: Single, runs: NDArray[np.int64]) -> Single:
        """Return the mean of the rows that are nearest to each center."""
        scores = self._scores(centers)
        best = scores.max(axis=1)
        # 1.0 for the nearest center of a row that the run uses, in the place of its score
        largest = best if self.is_unweighted else best + self.unused[runs]
        nearest = np.equal(scores, largest[:, None], out=scores, casting="unsafe")
        if self.has_repeated:
            nearest *= self.weights[runs, None]
        sums = (nearest.reshape(-1, len(self.rows)) @ self.rows).reshape(centers.shape)
        counts = sums[:, :, -1:]
        means = sums / np.maximum(counts, _TINY)
        means[:, :, -1] = -0.5 * np.square(means[:, :, :-1]).sum(axis=2)
        if not counts.all():
            self._fill_empty(means, counts[:, :, 0] == 0, best, runs)
        return np.asarray(means, np.float32)

    def _fill_empty(
        self,
        means: Single,
        is_empty: NDArray[np.bool_],
        best: Single,
        runs: NDArray[np.int64],
    ) -> None:
        """Move every center without rows to the row farthest from all centers.

        The next empty cluster gets the next one.
        """
        for run, cluster in np.argwhere(is_empty):
            distances = self._distances(best[run], runs[run])
            farthest = int(distances.argmax())
            means[run, cluster] = self.as_centers[farthest]
            best[run, farthest] = 0.5 * self.squares[farthest]

    def _seeds(self, uniform: NDArray[np.float64]) -> Single:
        """Draw the centers of all runs by greedy k-means++, from numbers (n_runs, K, n_trials)."""
        n_runs, n_clusters, _ = uniform.shape
        every = np.arange(n_runs)
        centers = np.empty((n_runs, n_clusters, self.rows.shape[1]), np.float32)
        centers[:, 0] = self.as_centers[_draw(self.weights, uniform[:, 0, :1])[:, 0]]
        best = self._scores(centers[:, 0])
        for k in range(1, n_clusters):
            drawn = _draw(self._distances(best, every), uniform[:, k])
            trials = self.as_centers[drawn]
            scores = self._scores(trials)
            np.maximum(scores, best[:, None], out=scores)
            gains = np.einsum("rtn,rn->rt", scores, self.weights)
            chosen = gains.argmax(axis=1)
            best, centers[:, k] = scores[every, chosen], trials[every, chosen]
        return centers

    def _distances(self, best: Single, runs: NDArray[np.int64] | np.int64) -> Single:
        """Return weighted squared distances to the nearest center, from its scores."""
        distances = np.multiply(best, np.float32(2))
        np.subtract(self.certain_squares, distances, out=distances)
        np.maximum(distances, 0, out=distances)
        if not self.is_unweighted:
            distances *= self.weights[runs]
        return distances


def _draw(masses: Single, uniform: NDArray[np.float64]) -> NDArray[np.int64]:
    """Draw rows with probabilities proportional to masses (n_runs, n), in the shape of `uniform`.

    If all masses are 0, the first row.
    """
    cumulated = np.cumsum(masses, axis=1, dtype=np.float64)
    targets = uniform * cumulated[:, -1:]
    drawn = np.empty(targets.shape, np.int64)
    for row, sums, numbers in zip(drawn, cumulated, targets, strict=True):
        row[:] = sums.searchsorted(numbers, "right")
    return np.where(cumulated[:, -1:] > 0, np.minimum(drawn, masses.shape[1] - 1), 0)
