"""Row segmentation: k-means on random samples of rows, the other labels missing."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse

from partita._sklearn_compat import Interval
from partita._warn import warn_user
from partita.generators._base import MISSING, Labels
from partita.generators._features import PreparedOnDemand
from partita.generators._kmeans import View
from partita.generators._kmeans_generator import KMeansGenerator

__all__ = ["RandomRows"]


class RandomRows(KMeansGenerator):
    """Row segmentation: k-means on a random part of the samples.

    Partition i clusters round(ratio * n) samples, at least two, drawn at random. The others have no
    label (-1) in it. Time and memory of a k-means run are smaller by `ratio`, so that data too
    large for one k-means run become incomplete base partitions.

    Parameters
    ----------
    n_partitions : int, default=100
        Number of base partitions.
    ratio : float in (0, 1], default=0.5
        Share of the samples that a partition clusters.
    replacement : bool, default=False
        Whether samples are drawn with replacement, as in the experiments of the paper. A sample
        that is drawn several times counts as often in k-means. The share of the samples that get a
        label is then 1 - exp(-ratio): 18 % at a ratio of 0.2, 55 % at 0.8.
    n_clusters, k_min, k_max : int, optional
        Range of K_i, as in `RandomK`. `k_max` is by default the square root of the number of
        samples that a partition clusters.
    metric, n_init, max_iter, n_jobs, random_state
        As in `RandomK`, with the same defaults.

    Attributes
    ----------
    labels_ : int32 array of shape (n_samples, n_partitions)
        Labels of the base partitions, -1 for samples that a partition did not cluster.
    n_clusters_ : array of shape (n_partitions,)
        Number of clusters of each partition.
    n_iter_ : int
        Largest number of iterations of a k-means run.
    models_ : list
        One nearest-center model per partition.

    Notes
    -----
    `fit_transform` returns -1 for samples that a partition did not cluster. `transform` labels
    **every** sample by the nearest center, also training samples. The two agree where `labels_` is
    not -1.

    Features may be a memory-mapped file (`np.load(path, mmap_mode="r")`): only the rows of a
    partition are copied. If the labels do not fit in memory either, `segment` writes them to a
    store.

    Deviation from the paper: its experiments draw with replacement. By default `ratio` is the share
    of the samples that a partition clusters.

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
        "replacement": ["boolean"],
    }

    def __init__(
        self,
        n_partitions: int = 100,
        *,
        ratio: float = 0.5,
        replacement: bool = False,
        n_clusters: int | None = None,
        k_min: int | None = None,
        k_max: int | None = None,
        metric: str = "euclidean",
        n_init: int = 1,
        max_iter: int = 50,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_partitions,
            n_clusters=n_clusters,
            k_min=k_min,
            k_max=k_max,
            metric=metric,
            n_init=n_init,
            max_iter=max_iter,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.ratio = ratio
        self.replacement = replacement

    def fit(self, X: Any, y: Any = None) -> Self:
        """Make the base partitions of X; warn if a sample has no label in any of them.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Features.
        y : ignored
            Present for scikit-learn.

        Returns
        -------
        self
        """
        super().fit(X, y)
        self._warn_of_labels(self.labels_)
        return self

    def _warn_of_labels(self, labels: Labels) -> None:
        n_unlabeled = int(np.count_nonzero((labels == MISSING).all(axis=1)))
        if n_unlabeled:
            warn_user(
                f"{n_unlabeled} of {len(labels)} samples have no label in any of the "
                f"{self.n_partitions} partitions. Raise ratio={self.ratio} or n_partitions."
            )

    def _training_rows(self, X: Any) -> Any:
        return super()._training_rows(X) if issparse(X) else PreparedOnDemand(X, self._preparation)

    def _n_rows(self, n_samples: int) -> int:
        return max(2, round(self.ratio * n_samples))

    def _view(self, n_samples: int, n_features: int, rng: np.random.Generator) -> View:
        rows = rng.choice(n_samples, self._n_rows(n_samples), replace=self.replacement)
        return View(rows=np.sort(rows))

    @property
    def _uses_all_features(self) -> bool:
        return True
