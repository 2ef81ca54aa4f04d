"""k-means on random projections of the features."""

from __future__ import annotations

from math import isqrt
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from partita._sklearn_compat import Interval
from partita.generators._kmeans import KMeansGenerator, View

__all__ = ["RandomProjections"]


class RandomProjections(KMeansGenerator):
    """k-means on random linear projections of the features.

    Partition i sees X R_i with R_i of shape (n_features, q) and independent normal entries of
    variance 1/q, which keeps squared distances in expectation. High-dimensional data are clustered
    in few dimensions, differently every time; the consensus recovers what the projections share.

    Parameters
    ----------
    n_partitions : int, default=100
    n_components : int, optional
        q. None: the square root of the number of features, rounded up.
    n_clusters, k_min, k_max, metric, n_init, max_iter, n_jobs, random_state
        As in `RandomK`. With "cosine" rows have unit length before and after the projection.

    Attributes
    ----------
    labels_ : int32 array of shape (n_samples, n_partitions)
    n_clusters_ : array of shape (n_partitions,)
    n_iter_ : int
        Iterations of the k-means run that took most.
    models_ : list
        One nearest-center model per partition; `models_[i].features` is R_i.

    Notes
    -----
    Cost: O(n d q) for the projection, then k-means in q dimensions; the kept models hold d q single
    precision numbers each. Sparse features are projected without becoming dense.

    References
    ----------
    Fern, Brodley. Random projection for high dimensional data clustering: a cluster ensemble
    approach. ICML 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from partita.generators import RandomProjections
    >>> generator = RandomProjections(5, n_clusters=10, random_state=0)
    >>> generator.fit_transform(load_digits().data).shape
    (1797, 5)
    >>> generator.models_[0].features.shape
    (64, 8)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KMeansGenerator._parameter_constraints,
        "n_components": [None, Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_partitions: int = 100,
        *,
        n_components: int | None = None,
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
        self.n_components = n_components
        self.n_clusters = n_clusters
        self.k_min = k_min
        self.k_max = k_max
        self.metric = metric
        self.n_init = n_init
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _view(self, n_samples: int, n_features: int, rng: np.random.Generator) -> View:
        q = self.n_components or isqrt(n_features - 1) + 1
        R = rng.standard_normal((n_features, q), dtype=np.float32)
        return View(features=R / np.float32(np.sqrt(q)))
