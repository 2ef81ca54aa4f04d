"""Rules that choose lam of EC-CMS without the truth. They were tried and are no options of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from partita import ECCMS, Ensemble
from partita.matrices import coassociation
from partita.solvers.linkage import agglomerate

N_SPLITS = 5


def mean_degree(partitions: NDArray[np.int64], alpha: float) -> float:
    """Return the mean over samples of the sum of their reliable co-associations (rows of H)."""
    rows = Ensemble.from_partitions(partitions).compress()
    H = coassociation(rows, expand=False)
    H[alpha > H] = 0.0
    degrees = H @ rows.weights - H.diagonal()  # a sample is no pair with itself
    return float(degrees @ rows.weights / rows.weights.sum())


def fit_by_degree(partitions: Any, n_clusters: int, *, share: float, alpha: float = 0.8) -> ECCMS:
    """Fit EC-CMS with lam = `share` times the mean degree.

    If every sample is repeated, the Laplacian grows with the number of samples and lam does not.
    Their ratio, which decides how far reliable pairs spread, is fixed here.
    """
    lam = share * mean_degree(partitions, alpha)
    return ECCMS(n_clusters, alpha=alpha, lam=lam or share).fit(partitions)


def fit_mean(partitions: Any, n_clusters: int, *, share: float, alpha: float = 0.8) -> ECCMS:
    """Fit EC-CMS with the default lam and by degree, and cluster the mean of the two matrices."""
    default = ECCMS(n_clusters, alpha=alpha).fit(partitions)
    by_degree = fit_by_degree(partitions, n_clusters, share=share, alpha=alpha)
    C = (default.core_matrix_ + by_degree.core_matrix_) / 2
    weights = np.bincount(default.core_index_).astype(np.float64)
    tree = agglomerate(1.0 - (C + C.T) / 2, weights, "average")
    default.labels_ = tree.cut(n_clusters)[default.core_index_]
    return default


def fit_by_halves(partitions: Any, n_clusters: int, *, share: float, alpha: float = 0.8) -> ECCMS:
    """Fit EC-CMS with the default lam, or by degree if that is more stable and more modular.

    Stable: mean ARI between the clusters of the two halves of the partitions, over random splits.
    Modular: modularity of the clusters in the graph of the co-association.
    """
    fits: list[Callable[[Any], ECCMS]] = [
        lambda table: ECCMS(n_clusters, alpha=alpha).fit(table),
        lambda table: fit_by_degree(table, n_clusters, share=share, alpha=alpha),
    ]
    default, by_degree = (fit(partitions) for fit in fits)
    if np.array_equal(default.labels_, by_degree.labels_):
        return default
    if modularity(partitions, by_degree.labels_) <= modularity(partitions, default.labels_):
        return default
    stable = [stability(partitions, fit) for fit in fits]
    return by_degree if stable[1] > stable[0] else default


def stability(partitions: NDArray[np.int64], fit: Callable[[Any], Any]) -> float:
    """Return the mean ARI between the clusters of the two halves of the partitions."""
    return float(
        np.mean(
            [
                adjusted_rand_score(fit(first).labels_, fit(second).labels_)
                for first, second in splits(partitions)
            ]
        )
    )


def splits(partitions: NDArray[np.int64]) -> list[list[NDArray[np.int64]]]:
    """Return random splits of the partitions into two halves."""
    rng, m = np.random.default_rng(0), partitions.shape[1]
    orders = [rng.permutation(m) for _ in range(N_SPLITS)]
    return [[partitions[:, order[: m // 2]], partitions[:, order[m // 2 :]]] for order in orders]


def modularity(partitions: NDArray[np.int64], labels: NDArray[np.int64]) -> float:
    """Return the modularity of clusters in the graph of the co-association of different samples."""
    cluster = np.unique(labels, return_inverse=True)[1]
    sizes = np.bincount(cluster)
    inside, degree = np.zeros(len(sizes)), np.zeros(len(sizes))
    for partition in partitions.T:
        base = np.unique(partition, return_inverse=True)[1]
        counts = np.zeros((len(sizes), base.max() + 1))
        np.add.at(counts, (cluster, base), 1)
        inside += (counts**2).sum(axis=1) - sizes
        degree += counts @ counts.sum(axis=0) - sizes
    total = degree.sum()
    return float((inside / total - (degree / total) ** 2).sum())


class Rule:
    """A rule as an estimator: `fit` leaves the attributes of the fitted method."""

    def __init__(self, fit: Callable[..., ECCMS], n_clusters: int, parameters: dict[str, Any]):
        self._fit, self._n_clusters, self._parameters = fit, n_clusters, parameters

    def fit(self, partitions: NDArray[np.int64]) -> Rule:
        self.method_ = self._fit(partitions, self._n_clusters, **self._parameters)
        return self

    def __getattr__(self, name: str) -> Any:
        if name == "method_":
            raise AttributeError("The rule is not fitted.")
        return getattr(self.method_, name)


RULES = {
    "degree.eccms": fit_by_degree,
    "mean.eccms": fit_mean,
    "halves.eccms": fit_by_halves,
}
