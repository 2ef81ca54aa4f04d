"""Random feature selection (RFS): k-means on random features."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from partita._sklearn_compat import Interval
from partita.generators._kmeans import View
from partita.generators._kmeans_generator import KMeansGenerator

__all__ = ["RandomFeatures"]


class RandomFeatures(KMeansGenerator):
    """Random feature selection (RFS): k-means on a random part of the features.

    Partition i uses all samples and round(ratio * d) features, at least one, drawn without
    replacement. If some features are noise, some partitions do not use them.

    Parameters
    ----------
    n_partitions : int, default=100
        Number of base partitions.
    ratio : float in (0, 1], default=0.1
        Share of the features that a partition uses. 0.1 is the published setting; with few
        features, or for pseudo views of one view, 0.5 is better.
    n_clusters, k_min, k_max : int, optional
        Range of K_i, as in `RandomK`. `k_min=K, k_max=K` fixes it.
    metric, n_init, max_iter, n_jobs, random_state
        As in `RandomK`, with the same defaults. With "cosine", lengths are computed
        from the chosen features; a partition does not label (-1) a row that is zero in all of them.

    Attributes
    ----------
    labels_ : int32 array of shape (n_samples, n_partitions)
        Labels of the base partitions.
    n_clusters_ : array of shape (n_partitions,)
        Number of clusters of each partition.
    n_iter_ : int
        Largest number of iterations of a k-means run.
    models_ : list
        One nearest-center model per partition; `models_[i].features` are the features it uses.

    Notes
    -----
    Cost: `ratio` times that of `RandomK`.

    References
    ----------
    Tao, Liu, Li, Ding, Fu. Robust Spectral Ensemble Clustering via Rank Minimization. ACM TKDD,
    2019: 10 % of the features, 100 partitions.
    Wu, Liu, Xiong, Cao, Chen. K-means-based consensus clustering: a unified view. IEEE TKDE 27(1),
    2015.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from partita.generators import RandomFeatures
    >>> generator = RandomFeatures(10, ratio=0.5, n_clusters=3, random_state=0)
    >>> generator.fit_transform(load_wine().data).shape
    (178, 10)
    >>> len(generator.models_[0].features)
    6
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KMeansGenerator._parameter_constraints,
        "ratio": [Interval(Real, 0, 1, closed="right")],
    }

    def __init__(
        self,
        n_partitions: int = 100,
        *,
        ratio: float = 0.1,
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

    def _view(self, n_samples: int, n_features: int, rng: np.random.Generator) -> View:
        count = max(1, round(self.ratio * n_features))
        return View(features=np.sort(rng.choice(n_features, count, replace=False)))
