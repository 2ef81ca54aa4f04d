"""Weighted k-means of small embeddings: all restarts at once, in single precision.

A restart of k-means on a thousand points takes less time than the calls around it. Here all
restarts share every matrix product, and a restart that falls behind is given up: after a few
iterations the inertias of the restarts hardly change their order. Many points are not needed to see
which restart is the best: all but the last round use a sample of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.solvers.kmeans import draw_points

__all__ = ["batched_kmeans"]

# iterations of a round, and how many of the best restarts take part in it
_ROUNDS = ((3, None), (6, 3), (100, 1))
_TOLERANCE = 1e-4  # decrease of the inertia, relative to it, below which an iteration stops
_ROUNDING = 1e-6  # squared distances below this are rounding errors; the points have length 1
_TINY = np.float32(1e-30)
_CACHED = 1 << 17  # numbers of a block that stay in the cache between its passes
_TRIALS = 2  # points of which k-means++ takes the best
_SEEDED = 1 << 23  # distances that the seeding holds at once
_SAMPLED = 2000  # points that choose the restart, or 100 a cluster
_SUMMED = 32  # masses of a block, of which a draw looks at one


def batched_kmeans(
    embedding: NDArray[np.float64],
    weights: NDArray[np.float64],
    n_clusters: int,
    rng: np.random.Generator,
    *,
    n_init: int = 10,
) -> tuple[NDArray[np.int64], float]:
    """Return labels and inertia of the best of `n_init` k-means runs.

    Each restart begins with greedy k-means++. After 3 iterations the best three restarts go on,
    after 6 more the best one, until the inertia decreases by less than 0.01 %. If there are more
    than 3000 points, or 150 a cluster, all but the last of these three steps use 2000 points (100 a
    cluster), drawn in proportion to their weights. Fewer than `n_clusters` distinct points give
    fewer clusters; the caller must report that. Call it within `one_blas_thread`: sums depend on
    the number of threads.

    Parameters
    ----------
    embedding : array of shape (n, p)
        Points of length 1 (or 0). Fortran order is the fastest.
    weights : array of shape (n,)
        Weights of the points.
    n_clusters : int
        Number of clusters.
    rng : Generator
        Source of random numbers.
    n_init : int, default=10
        Number of restarts.
    """
    points = _Points(embedding, weights)
    some = _sample(points, embedding, weights, max(_SAMPLED, 100 * n_clusters), rng)
    *rounds, last = _ROUNDS
    centers = _seed(some, n_clusters, n_init, rng)
    for max_iter, n_best in rounds:
        centers, _ = _iterate(some, centers, max_iter, n_best)
    centers, inertia = _iterate(points, centers, *last)
    return points.nearest(centers[0]), float(inertia[0])


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums over the points of each cluster, for several restarts."""

    vectors: NDArray[np.float32]  # (n_restarts, n_clusters, p + 1), the last entry is the weight
    scores: NDArray[np.float32]  # (n_restarts, n), x·c - |c|²/2 with the nearest center c
    inertia: NDArray[np.float64]  # (n_restarts,)


class _Points:
    """Weighted points, with a further coordinate of 1 that makes sums of points count weights.

    The further coordinate of a center c is -|c|²/2: the product with a point x is the score
    x·c - |c|²/2, which is largest for the nearest center.
    """

    def __init__(self, embedding: NDArray[np.float64], weights: NDArray[np.float64]) -> None:
        n, p = embedding.shape
        self.n, self.p = n, p
        self.columns = np.ones((p + 1, n), np.float32)
        self.columns[:p] = embedding.T
        self.weights = weights / weights.mean()
        self._weighted = self.columns * self.weights.astype(np.float32)
        self.squares = np.square(self.columns[:p]).sum(axis=0)
        self.total = float(self.squares @ self.weights)
        self._minus_double_weights = (-2 * self.weights).astype(np.float32)
        squares = np.maximum(self.squares - _ROUNDING, 0)
        self._weighted_squares = (squares * self.weights).astype(np.float32)

    def as_centers(self, chosen: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return some points as centers (..., p + 1)."""
        centers = self.columns.T[chosen]
        centers[..., -1] = -0.5 * self.squares[chosen]
        return centers

    def scores(self, centers: NDArray[np.float32], block: slice) -> NDArray[np.float32]:
        """Return x·c - |c|²/2 for all centers (..., p + 1) and the points of a block."""
        flat = centers.reshape(-1, self.p + 1)
        return (flat @ self.columns[:, block]).reshape(*centers.shape[:-1], -1)

    def masses(self, scores: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the weighted squared distances that belong to scores (..., n)."""
        masses = scores * self._minus_double_weights
        masses += self._weighted_squares
        return np.maximum(masses, 0, out=masses)

    def sums(self, centers: NDArray[np.float32]) -> _Sums:
        """Assign the points to the nearest of the centers (n_restarts, n_clusters, p + 1)."""
        n_restarts, k, length = centers.shape
        vectors = np.zeros((n_restarts * k, length), np.float32)
        best = np.empty((n_restarts, self.n), np.float32)
        size = max(64, _CACHED // (n_restarts * k))
        for start in range(0, self.n, size):
            block = slice(start, start + size)
            scores = self.scores(centers, block)
            np.maximum.reduce(scores, axis=1, out=best[:, block])
            # 1.0 for the nearest center, in the place of its score
            nearest = np.equal(scores, best[:, None, block], out=scores, casting="unsafe")
            vectors += nearest.reshape(n_restarts * k, -1) @ self._weighted[:, block].T
        inertia = self.total - 2.0 * (best @ self.weights)
        return _Sums(vectors.reshape(centers.shape), best, inertia)

    def nearest(self, centers: NDArray[np.float32]) -> NDArray[np.int64]:
        """Return the nearest of the centers (n_clusters, p + 1) to each point."""
        return np.argmax(self.scores(centers, slice(None)).T, axis=1)


def _sample(
    points: _Points,
    embedding: NDArray[np.float64],
    weights: NDArray[np.float64],
    size: int,
    rng: np.random.Generator,
) -> _Points:
    """Draw points in proportion to their weights; all of them if they are not many more."""
    if points.n <= 1.5 * size:
        return points
    rows, times = draw_points(weights, size, rng)
    return _Points(embedding.T[:, rows].T, times)


def _seed(
    points: _Points, n_clusters: int, n_init: int, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Draw the centers of all restarts by greedy k-means++, shape (n_init, n_clusters, p + 1).

    A center is the better of two points that are drawn with probabilities proportional to their
    squared distance from the centers before it.
    """
    uniform = rng.random((n_clusters, n_init, _TRIALS))
    group = max(1, _SEEDED // (_TRIALS * points.n))
    centers = np.empty((n_init, n_clusters, points.p + 1), np.float32)
    for start in range(0, n_init, group):
        restarts = slice(start, start + group)
        _seed_some(points, uniform[:, restarts], centers[restarts])
    return centers


def _seed_some(points: _Points, uniform: NDArray[np.float64], centers: NDArray[np.float32]) -> None:
    restarts = np.arange(len(centers))
    weights = points.weights.astype(np.float32)
    first = _draw(points.weights[None], uniform[0, :, 0][None])[0]
    centers[:, 0] = points.as_centers(first)
    nearest = points.scores(centers[:, 0], slice(None))
    for k in range(1, centers.shape[1]):
        drawn = _draw(points.masses(nearest), uniform[k])
        trials = points.as_centers(drawn)
        scores = points.scores(trials, slice(None))
        np.maximum(scores, nearest[:, None], out=scores)
        best = np.argmax(scores @ weights, axis=1)
        nearest = scores[restarts, best]
        centers[:, k] = trials[restarts, best]


def _draw(masses: NDArray[Any], uniform: NDArray[np.float64]) -> NDArray[np.int64]:
    """Draw indices with probabilities proportional to each row of masses, shape of `uniform`.

    The cumulative sum goes over blocks of masses, and within the blocks that are drawn.
    """
    n_rows, n = masses.shape
    n_blocks = -(-n // _SUMMED)
    blocks = np.zeros((n_rows * n_blocks, _SUMMED))
    blocks.reshape(n_rows, -1)[:, :n] = masses
    # one cumulative sum over the blocks of all rows, so that one search is enough
    ends = np.zeros(len(blocks) + 1)
    np.cumsum(blocks @ np.ones(_SUMMED), out=ends[1:])
    begin, end = ends[:-1:n_blocks, None], ends[n_blocks::n_blocks, None]
    targets = begin + uniform * (end - begin)
    drawn = np.searchsorted(ends[1:-1], targets, "right")
    within = np.cumsum(blocks[drawn], axis=2) <= (targets - ends[drawn])[:, :, None]
    first = np.arange(0, len(blocks), n_blocks)[:, None]
    position = (drawn - first) * _SUMMED + np.add.reduce(within, axis=2, dtype=np.int64)
    return np.minimum(position, n - 1)


def _iterate(
    points: _Points, centers: NDArray[np.float32], max_iter: int, n_best: int | None
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Update the centers of the best restarts; return centers and inertias, best first."""
    centers = centers[:n_best]
    previous = np.full(len(centers), np.inf)
    for _ in range(max_iter):
        sums = points.sums(centers)
        enough = (1 + _TOLERANCE) * sums.inertia + _ROUNDING * points.total
        if (previous <= enough).all():
            break
        previous = sums.inertia
        counts = sums.vectors[:, :, -1:]
        centers = np.divide(sums.vectors, np.maximum(counts, _TINY), dtype=np.float32)
        centers[:, :, -1] = -0.5 * np.einsum("rkp,rkp->rk", *[centers[:, :, :-1]] * 2)
        if not counts.all():
            _relocate(points, centers, counts[:, :, 0], sums.scores)
    order = np.argsort(sums.inertia, kind="stable")
    return centers[order], sums.inertia[order]


def _relocate(
    points: _Points,
    centers: NDArray[np.float32],
    counts: NDArray[np.float32],
    scores: NDArray[np.float32],
) -> None:
    """Move the centers of empty clusters to the points farthest from all centers."""
    for restart in np.flatnonzero((counts == 0).any(axis=1)):
        empty = np.flatnonzero(counts[restart] == 0)
        distances = points.squares - 2 * scores[restart]
        farthest = np.argsort(-distances, kind="stable")[: len(empty)]
        centers[restart, empty] = points.as_centers(farthest)
