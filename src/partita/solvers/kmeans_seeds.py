"""Initial centers of weighted k-means."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["WeightedSeeds"]


class WeightedSeeds:
    """Greedy k-means++ of weighted points, as a function that scikit-learn's `KMeans` calls.

    Draws, sums and results are those of `KMeans(init="k-means++")`. That function checks its arrays
    again for every center, which takes longer than all distances of a thousand points.

    Parameters
    ----------
    weights : array of shape (n,)
        Weights of the points.
    """

    def __init__(self, weights: NDArray[np.float64]) -> None:
        self.weights = weights
        self.squares: NDArray[np.float64] | None = None  # the points are the same in all restarts

    def __call__(
        self, points: NDArray[np.float64], n_clusters: int, random_state: np.random.RandomState
    ) -> NDArray[np.float64]:
        """Return the centers of a restart, shape (n_clusters, p).

        A center is the best of a few points that are drawn with probabilities proportional to their
        weights and squared distances from the centers before it.
        """
        if self.squares is None:
            self.squares = np.einsum("ij,ij->i", points, points)
        n_trials = 2 + int(np.log(n_clusters))
        chosen = np.empty(n_clusters, np.int64)
        chosen[0] = random_state.choice(len(points), p=self.weights / self.weights.sum())
        nearest = self._distances(points, chosen[:1])[0]
        total = nearest @ self.weights
        for k in range(1, n_clusters):
            targets = random_state.uniform(size=n_trials) * total
            trials = np.searchsorted(np.cumsum(self.weights * nearest), targets)
            np.minimum(trials, len(points) - 1, out=trials)
            distances = self._distances(points, trials)
            np.minimum(distances, nearest, out=distances)
            totals = distances @ self.weights
            best = np.argmin(totals)
            chosen[k], total, nearest = trials[best], totals[best], distances[best]
        return points[chosen]

    def _distances(
        self, points: NDArray[np.float64], chosen: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the squared distances of all points from the chosen ones, (n_chosen, n)."""
        assert self.squares is not None
        distances = (-2.0 * points[chosen]) @ points.T
        distances += self.squares[chosen, None]
        distances += self.squares
        return np.maximum(distances, 0.0, out=distances)
