"""k-means with a random number of clusters: random parameter selection (RPS)."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita.generators._kmeans import KMeansGenerator, View

__all__ = ["RandomK"]


class RandomK(KMeansGenerator):
    """Random parameter selection (RPS): k-means with K_i drawn for every partition.

    Partition i is one k-means run on all samples and all features with

        K_i ~ uniform{k_min, ..., k_max},    k_min = K or 2,    k_max = floor(sqrt(n)).

    Many clusters cut the data finely and seldom join what does not belong together; where the cuts
    fall changes from run to run, and the consensus joins what they agree on.

    Parameters
    ----------
    n_partitions : int, default=100
    n_clusters : int, optional
        The K you expect in the end; the smallest K_i where `k_min` is not given.
    k_min, k_max : int, optional
        Range of K_i, ends included. Equal values fix it.
    metric : {"euclidean", "cosine"}, default="euclidean"
        "cosine" divides every row by its length first (the usual choice for text); a row of zeros
        has no direction and stays unlabeled (-1).
    n_init : int, default=1
        k-means starts per partition, the best inertia wins. Variety is the point of an ensemble:
        more partitions use the time better than more starts.
    max_iter : int, default=50
        Iterations per start; further ones lower the inertia by 0.03 % or less on average.
    n_jobs : int, optional
        Partitions made at the same time, each on one core. None: `partita.get_config().n_threads`.
        -1: all cores. The labels do not depend on it.
    random_state : int, Generator, RandomState or None

    Attributes
    ----------
    labels_ : int32 array of shape (n_samples, n_partitions)
    n_clusters_ : array of shape (n_partitions,)
        Clusters each partition really has; fewer than drawn where rows repeat.
    n_iter_ : int
        Iterations of the k-means run that took most.
    models_ : list
        One nearest-center model per partition.

    Notes
    -----
    Cost: O(n d K_i) an iteration; memory O(n d) per job and O(K_i d) per kept model. Features are
    held in single precision, centerd. `transform` of the training samples returns `labels_`.

    Deviation from the papers: k-means starts from greedy k-means++ seeds on a sample of the rows;
    the authors used MATLAB's starts.

    References
    ----------
    Fred, Jain. Combining multiple clusterings using evidence accumulation. IEEE TPAMI 27(6), 2005.
    https://doi.org/10.1109/TPAMI.2005.113

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from partita.generators import RandomK
    >>> X = load_iris().data
    >>> generator = RandomK(n_partitions=20, n_clusters=3, random_state=0)
    >>> generator.fit_transform(X).shape
    (150, 20)
    >>> bool(generator.n_clusters_.min() >= 3), bool(generator.n_clusters_.max() <= 12)
    (True, True)
    """

    def __init__(
        self,
        n_partitions: int = 100,
        *,
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
        self.n_clusters = n_clusters
        self.k_min = k_min
        self.k_max = k_max
        self.metric = metric
        self.n_init = n_init
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _view(self, n_samples: int, n_features: int, rng: np.random.Generator) -> View:
        return View()
