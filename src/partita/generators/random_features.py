"""k-means on random features: random feature selection (RFS)."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from partita._sklearn_compat import Interval
from partita.generators._kmeans import KMeansGenerator, View

__all__ = ["RandomFeatures"]


class RandomFeatures(KMeansGenerator):
    """Random feature selection (RFS): k-means on a random part of the features.

    Partition i sees all samples but only round(ratio * d) features, at least one, drawn without
    replacement. Where some features are noise, some partitions are free of it.

    Parameters
    ----------
    n_partitions : int, default=100
    ratio : float in (0, 1], default=0.1
        Share of the features a partition sees. 0.1 is the published setting; with few features, or
        as pseudo views of one view, 0.5 is the better choice.
    n_clusters, k_min, k_max, metric, n_init, max_iter, n_jobs, random_state
        As in `RandomK`: K_i is drawn from k_min..k_max, and `k_min=K, k_max=K` fixes it. With
        "cosine" the lengths are those of the chosen part; a row without any entry in it is not
        labeled (-1) by this partition.

    Attributes
    ----------
    labels_ : int32 array of shape (n_samples, n_partitions)
    n_clusters_ : array of shape (n_partitions,)
    n_iter_ : int
        Iterations of the k-means run that took most.
    models_ : list
        One nearest-center model per partition; `models_[i].features` are the columns it looks at.

    Notes
    -----
    Cost: that of `RandomK`, times `ratio`.

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

    def _view(self, n_samples: int, n_features: int, rng: np.random.Generator) -> View:
        count = max(1, round(self.ratio * n_features))
        return View(features=np.sort(rng.choice(n_features, count, replace=False)))
