"""Random parameter selection (RPS): k-means with a random number of clusters."""

from __future__ import annotations

import numpy as np

from partita.generators._kmeans import View
from partita.generators._kmeans_generator import KMeansGenerator

__all__ = ["RandomK"]


class RandomK(KMeansGenerator):
    """Random parameter selection (RPS): k-means with K_i drawn for every partition.

    Partition i is one k-means run on all samples and all features with

        K_i ~ uniform{k_min, ..., k_max},    k_min = K or 2,    k_max = floor(sqrt(n)).

    Partitions into many small clusters rarely put samples together that do not belong together.
    Their borders change from run to run, and the consensus joins what most partitions join.

    Parameters
    ----------
    n_partitions : int, default=100
        Number of base partitions.
    n_clusters : int, optional
        Expected number of clusters K of the consensus. It is the default of `k_min`.
    k_min, k_max : int, optional
        Range of K_i, both ends included. Equal values fix it. By default `k_min` is `n_clusters`,
        or 2 without it, and `k_max` is floor(sqrt(n)).
    metric : {"euclidean", "cosine"}, default="euclidean"
        "cosine" divides every row by its length first (the usual choice for text); a row of zeros
        has no direction and stays unlabeled (-1).
    n_init : int, default=1
        Restarts of k-means per partition; the smallest inertia wins. An ensemble needs variety, so
        more partitions use the time better than more restarts.
    max_iter : int, default=50
        Iterations per restart; more lower the inertia by 0.03 % or less on average. With 20,000
        rows or more, four in five run on a sample of the rows (see Notes).
    n_jobs : int, optional
        Number of partitions made at the same time, each on one core. -1 uses all cores. By default
        `partita.get_config().n_threads`. The labels do not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        Seed. The same integer gives the same labels.

    Attributes
    ----------
    labels_ : int32 array of shape (n_samples, n_partitions)
        Labels of the base partitions.
    n_clusters_ : array of shape (n_partitions,)
        Number of clusters of each partition; fewer than drawn if there are fewer distinct rows.
    n_iter_ : int
        Largest number of iterations of a k-means run.
    models_ : list
        One nearest-center model per partition.

    Notes
    -----
    Cost: O(n d K_i) per iteration; memory O(n d) per job and O(K_i d) per model. Features are
    centered and held in single precision. `transform` of the training samples returns `labels_`.

    Deviation from the papers: k-means is initialized by greedy k-means++ on a sample of the rows;
    the authors used MATLAB's initialization. If there are at least four times max(50 K_i, 5000)
    rows, the initialization and the first four fifths of the iterations use a sample of that size,
    the others all rows. A partition then takes a third of the time, with an inertia at most 1 %
    above that of scikit-learn's `KMeans(n_init=1)` on average.

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

    def _view(self, n_samples: int, n_features: int, rng: np.random.Generator) -> View:
        return View()

    @property
    def _uses_all_features(self) -> bool:
        return True
