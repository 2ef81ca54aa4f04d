"""k-means as a maker of base partitions: cheap seeding, scikit-learn's engine, a small model.

Seeding by k-means++ over all rows takes half or more of the time of a single k-means run (50 to
70 % at n = 10000, d = 50, K up to 100). A sample of rows seeds as well: on average the inertia
reached is the same to about 0.1 %. The iterations are scikit-learn's, in single precision.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from math import isqrt, log
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from partita._sklearn_compat import Interval
from partita._warn import warn_user
from partita.generators._base import MISSING, BaseGenerator, Labels
from partita.generators._features import (
    Preparation,
    count_distinct_rows,
    has_direction,
    squared_norms,
    unit_rows,
)

__all__ = ["CentroidModel", "KMeansGenerator", "View", "kmeans"]

_SEED_ROWS_PER_CLUSTER = 20
_SEED_ROWS_AT_LEAST = 500
_SCORES = 1 << 22  # entries of one block of sample-to-center scores

Single = NDArray[np.float32]


def kmeans(X: Any, k: int, n_init: int, max_iter: int, rng: np.random.Generator) -> Any:
    """The best, by inertia, of `n_init` k-means runs on float32 rows.

    X must hold at least k distinct rows. O(n d k) an iteration, on the calling thread's cores.
    """
    from sklearn.cluster import KMeans  # a third of a second that only a run needs

    runs = []
    for _ in range(n_init):
        start = _seed_centers(X, k, rng)
        runs.append(KMeans(k, init=start, n_init=1, max_iter=max_iter, random_state=0).fit(X))
    return min(runs, key=lambda run: run.inertia_)


def _seed_centers(X: Any, k: int, rng: np.random.Generator) -> Single:
    """Greedy k-means++ on a sample of rows: each new center is the best of a few D² draws."""
    n_rows = min(X.shape[0], max(_SEED_ROWS_PER_CLUSTER * k, _SEED_ROWS_AT_LEAST))
    if n_rows < X.shape[0]:
        X = X[np.sort(rng.choice(X.shape[0], n_rows, replace=False))]
    norms = squared_norms(X)
    trials = 2 + int(log(k))
    chosen = np.empty(k, np.int64)
    chosen[0] = rng.integers(n_rows)
    nearest = _distances(X, norms, chosen[:1])[0]
    for step in range(1, k):
        cumulated = np.cumsum(nearest, dtype=np.float64)
        draws = np.searchsorted(cumulated, rng.random(trials) * cumulated[-1], side="right")
        candidates = np.minimum(draws, n_rows - 1)
        left = np.minimum(_distances(X, norms, candidates), nearest)
        best = int(left.sum(axis=1).argmin())
        chosen[step], nearest = candidates[best], left[best]
    return _dense(X[chosen])


def _distances(X: Any, norms: Single, rows: NDArray[np.int64]) -> Single:
    """Squared distances of some rows to all, shape (len(rows), n_rows); own distance exactly 0."""
    products = np.ascontiguousarray((X @ _dense(X[rows]).T).T)
    distances = -2 * products + norms + norms[rows, None]
    distances[np.arange(len(rows)), rows] = 0
    return np.maximum(distances, 0, out=distances)


def _dense(X: Any) -> Single:
    return np.asarray(X.toarray() if sp.issparse(X) else X)


@dataclass(frozen=True)
class View:
    """What one partition looks at: some rows, some columns or a projection of them."""

    rows: NDArray[np.int64] | None = None
    features: NDArray[Any] | None = None  # 1-D: column numbers; 2-D: projection matrix


@dataclass(frozen=True)
class CentroidModel:
    """Centers of one partition and the features they live in; labels by the nearest center."""

    centers: Single
    features: NDArray[Any] | None = None
    unit: bool = False
    n_iter: int = 1

    def predict(self, X: Any) -> Labels:
        """Nearest center of every row of prepared features; -1 for a row without direction."""
        return self.nearest(look(X, self.features, self.unit))

    def nearest(self, X: Any) -> Labels:
        """The same for rows that are already seen through `features`."""
        half_norms = 0.5 * np.einsum("ij,ij->i", self.centers, self.centers)
        labels = np.empty(X.shape[0], np.int32)
        for block in gen_batches(X.shape[0], max(1, _SCORES // len(self.centers))):
            labels[block] = np.argmax(X[block] @ self.centers.T - half_norms, axis=1)
        if self.unit:
            labels[~has_direction(X)] = MISSING
        return labels


def look(X: Any, features: NDArray[Any] | None, unit: bool) -> Any:
    """Rows of X through some of their features or a projection; unit rows again if asked."""
    if features is None:
        return X
    if features.ndim == 1:
        seen = X[:, features]
        seen = seen if sp.issparse(seen) else np.ascontiguousarray(seen)
    else:
        seen = np.ascontiguousarray(X @ features)
    return unit_rows(seen) if unit else seen


class KMeansGenerator(BaseGenerator):
    """Base of the generators that run k-means on a view of the features.

    K_i is drawn uniformly from k_min..k_max, and lowered to the number of distinct rows where there
    are fewer: a partition may then have fewer clusters than drawn, never made-up ones.
    """

    n_partitions: int
    n_clusters: int | None
    k_min: int | None
    k_max: int | None
    n_init: int
    max_iter: int
    _preparation: Preparation

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseGenerator._parameter_constraints,
        "n_partitions": [Interval(Integral, 1, None, closed="left")],
        "n_clusters": [None, Interval(Integral, 1, None, closed="left")],
        "k_min": [None, Interval(Integral, 1, None, closed="left")],
        "k_max": [None, Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    @abstractmethod
    def _view(self, n_samples: int, n_features: int, rng: np.random.Generator) -> View:
        """What one partition looks at."""

    def _n_seen(self, n_samples: int) -> int:
        """Rows that one partition sees."""
        return n_samples

    @property
    def n_iter_(self) -> int:
        """Iterations of the k-means run that took most."""
        return max(model.n_iter for model in self.models_)

    def _count(self) -> int:
        return self.n_partitions

    def _prepare(self, X: Any, *, fitting: bool) -> Any:
        if fitting:
            self._k_range(self._n_seen(X.shape[0]))
            self._preparation = Preparation.of(X, unit=self.metric == "cosine")
        if not fitting:
            return self._preparation.apply(X)
        prepared = self._training_rows(X)
        if self.metric == "cosine":
            _warn_without_direction(prepared)
        return prepared

    def _training_rows(self, X: Any) -> Any:
        """The training features as the partitions index them."""
        return self._preparation.apply(X)

    def _k_range(self, n_seen: int) -> tuple[int, int]:
        """Smallest and largest K_i for partitions of `n_seen` rows."""
        k_min = self.k_min or self.n_clusters or min(2, self.k_max or 2)
        k_max = self.k_max or max(k_min, isqrt(n_seen))
        if k_min > k_max:
            raise ValueError(
                f"k_min={k_min} must not exceed k_max={k_max}; k_min is n_clusters where only that "
                "is given. Lower k_min or raise k_max."
            )
        if k_min > n_seen:
            raise ValueError(
                f"A partition sees n_samples={n_seen} rows, fewer than the k_min={k_min} clusters "
                "it should find. Lower k_min (n_clusters) or give it more rows."
            )
        return k_min, k_max

    def _partition(
        self, X: Any, index: int, rng: np.random.Generator
    ) -> tuple[Labels, CentroidModel]:
        unit = self.metric == "cosine"
        view = self._view(X.shape[0], X.shape[1], rng)
        seen = look(X if view.rows is None else X[view.rows], view.features, unit)
        usable = seen[has_direction(seen)] if unit else seen
        k_min, k_max = self._k_range(seen.shape[0])
        drawn = int(rng.integers(k_min, k_max + 1))
        k = count_distinct_rows(usable, drawn)
        if k == 0:  # no row has a direction: nothing to cluster, nothing labeled
            model = CentroidModel(np.zeros((1, seen.shape[1]), np.float32), view.features, unit)
        else:
            run = kmeans(usable, k, self.n_init, self.max_iter, rng)
            model = CentroidModel(run.cluster_centers_, view.features, unit, run.n_iter_)
        if view.rows is None:
            return model.nearest(seen), model
        labels = np.full(X.shape[0], MISSING, np.int32)
        labels[view.rows] = model.nearest(seen)
        return labels, model


def _warn_without_direction(X: Any) -> None:
    absent = int(np.count_nonzero(~has_direction(X)))
    if absent:
        warn_user(
            f"{absent} of {X.shape[0]} rows are all zero and have no direction: with "
            'metric="cosine" every partition leaves them unlabeled (-1). Drop them, or use '
            'metric="euclidean".'
        )
