"""k-means on random projections of the features."""

from __future__ import annotations

from math import isqrt
from typing import Any, ClassVar

import numpy as np

from partita.generators._base import POSITIVE_INT
from partita.generators._kmeans import View
from partita.generators._kmeans_generator import KMeansGenerator

__all__ = ["RandomProjections"]


class RandomProjections(KMeansGenerator):
    """k-means on random linear projections of the features.

    Partition i clusters X R_i with R_i of shape (n_features, q) and independent normal entries of
    variance 1/q, which keep squared distances in expectation. High-dimensional data are clustered
    in few dimensions, different ones in every partition.

    Parameters
    ----------
    n_partitions : int, default=100
        Number of base partitions.
    n_components : int, optional
        q, the number of dimensions. By default the square root of the number of features, rounded
        up.
    n_clusters, k_min, k_max : int, optional
        Range of K_i, as in `RandomK`. `k_min=K, k_max=K` fixes it.
    metric, n_init, max_iter, n_jobs, random_state
        As in `RandomK`, with the same defaults. With "cosine", rows have unit length before
        and after the projection.

    Attributes
    ----------
    labels_ : int32 array of shape (n_samples, n_partitions)
        Labels of the base partitions.
    n_clusters_ : array of shape (n_partitions,)
        Number of clusters of each partition.
    n_iter_ : int
        Largest number of iterations of a k-means run.
    models_ : list
        One nearest-center model per partition; `models_[i].features` is R_i.

    Notes
    -----
    Cost: O(n d q) for the projection, then k-means in q dimensions; each model holds d q numbers in
    single precision. Sparse features are projected without becoming dense.

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
        "n_components": [None, POSITIVE_INT],
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
        self.n_components = n_components

    def _view(self, n_samples: int, n_features: int, rng: np.random.Generator) -> View:
        q = self.n_components or isqrt(n_features - 1) + 1
        R = rng.standard_normal((n_features, q), dtype=np.float32)
        return View(features=R / np.float32(np.sqrt(q)))
