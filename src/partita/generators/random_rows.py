"""k-means on random samples of rows: row segmentation, the rest missing."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse

from partita._sklearn_compat import Interval
from partita._warn import warn_user
from partita.generators._base import MISSING
from partita.generators._features import PreparedOnDemand
from partita.generators._kmeans import KMeansGenerator, View

__all__ = ["RandomRows"]


class RandomRows(KMeansGenerator):
    """Row segmentation: k-means on a random part of the samples, the others left missing.

    Partition i sees round(ratio * n) samples, at least two, drawn without replacement; the rest
    has no label (-1) in it. Every k-means run is smaller by `ratio`, and so is its memory: this is
    how data too large for one k-means become incomplete base partitions.

    Parameters
    ----------
    n_partitions : int, default=100
    ratio : float in (0, 1], default=0.5
        Share of the samples a partition sees.
    n_clusters, k_min, k_max, metric, n_init, max_iter, n_jobs, random_state
        As in `RandomK`; `k_max` defaults to the square root of the samples a partition *sees*.

    Attributes
    ----------
    labels_ : int32 array of shape (n_samples, n_partitions)
        -1 for the samples a partition did not see.
    n_clusters_ : array of shape (n_partitions,)
    n_iter_ : int
        Iterations of the k-means run that took most.
    models_ : list
        One nearest-center model per partition.

    Notes
    -----
    `fit_transform` leaves unseen samples missing; `transform` labels **every** sample it is given
    by the nearest center, training samples included. The two agree where `labels_` is not -1.

    Features may be a memory-mapped file (`np.load(path, mmap_mode="r")`): only the rows a partition
    sees are copied. Where the labels do not fit in memory either, `segment` writes them to a
    store.

    Deviation from the paper: its experiments draw with replacement, so that a ratio of 0.2 to 0.8
    showed 18 to 55 % of the samples to a partition; here `ratio` is the share itself.

    References
    ----------
    Liu, Wu, Liu, Tao, Fu. Spectral Ensemble Clustering via Weighted K-Means: Theoretical and
    Practical Evidence. IEEE TKDE 29(5), 2017: section 6 and figure 3.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from partita.generators import RandomRows
    >>> generator = RandomRows(20, ratio=0.4, n_clusters=3, random_state=0)
    >>> labels = generator.fit_transform(load_iris().data)
    >>> (labels != -1).sum(axis=0)[:3]
    array([60, 60, 60])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KMeansGenerator._parameter_constraints,
        "ratio": [Interval(Real, 0, 1, closed="right")],
    }

    def __init__(
        self,
        n_partitions: int = 100,
        *,
        ratio: float = 0.5,
        n_clusters: int | None = None,
        k_min: int | None = None,
        k_max: int | None = None,
        metric: str = "euclidean",
        n_init: int = 1,
        max_iter: int = 50,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_partitions = n_partitions
        self.ratio = ratio
        self.n_clusters = n_clusters
        self.k_min = k_min
        self.k_max = k_max
        self.metric = metric
        self.n_init = n_init
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Make the base partitions of X; warns if a sample fell into none of them.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : ignored
        """
        super().fit(X, y)
        unseen = int(np.count_nonzero((self.labels_ == MISSING).all(axis=1)))
        if unseen:
            warn_user(
                f"{unseen} of {len(self.labels_)} samples have no label in any of the "
                f"{self.n_partitions} partitions. Raise ratio={self.ratio} or n_partitions."
            )
        return self

    def _training_rows(self, X: Any) -> Any:
        return super()._training_rows(X) if issparse(X) else PreparedOnDemand(X, self._preparation)

    def _n_seen(self, n_samples: int) -> int:
        return max(2, round(self.ratio * n_samples))

    def _view(self, n_samples: int, n_features: int, rng: np.random.Generator) -> View:
        seen = rng.choice(n_samples, self._n_seen(n_samples), replace=False)
        return View(rows=np.sort(seen))
