"""The contenders: functions of other libraries, and the method of partita that each is like.

The interpreter that has the other libraries reads this file. It may lack partita, so the file
imports NumPy only, and every contender imports what it needs. A contender takes partitions of shape
(n, m) and a number of clusters, and returns labels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

SEED = 0


@dataclass(frozen=True)
class Contender:
    """One function that fuses partitions."""

    library: str
    what: str
    beside: str  # key of the method of partita that does the same
    run: Callable[[np.ndarray, int], np.ndarray]

    @property
    def key(self) -> str:
        return f"{self.library}: {self.what}"


# -- scikit-learn ----------------------------------------------------------------------------


def one_hot(labels: np.ndarray) -> Any:
    from sklearn.preprocessing import OneHotEncoder

    return OneHotEncoder().fit_transform(labels)


def dense_coassociation(labels: np.ndarray) -> np.ndarray:
    """Return the co-association matrix, computed by a sparse product."""
    H = one_hot(labels)
    return (H @ H.T).toarray() / labels.shape[1]


def sklearn_linkage(labels: np.ndarray, n_clusters: int) -> np.ndarray:
    from sklearn.cluster import AgglomerativeClustering

    model = AgglomerativeClustering(n_clusters, metric="precomputed", linkage="average")
    return model.fit_predict(1.0 - dense_coassociation(labels))


def sklearn_spectral(labels: np.ndarray, n_clusters: int) -> np.ndarray:
    from sklearn.cluster import SpectralClustering

    model = SpectralClustering(n_clusters, affinity="precomputed", random_state=SEED)
    return model.fit_predict(dense_coassociation(labels))


def sklearn_kmeans(labels: np.ndarray, n_clusters: int) -> np.ndarray:
    from sklearn.cluster import KMeans

    return KMeans(n_clusters, n_init=10, random_state=SEED).fit_predict(one_hot(labels))


# -- ensembleclustering ----------------------------------------------------------------------


def ensembleclustering(solver: str, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    from ensembleclustering import cluster_ensembles

    partitions = labels.T.astype(np.float64)
    return cluster_ensembles(partitions, nclass=n_clusters, solver=solver, random_state=SEED)


# -- consensusclustering ---------------------------------------------------------------------


class Replay:
    """A clustering algorithm that returns existing partitions, one per call."""

    def __init__(self, labels: np.ndarray) -> None:
        self.partitions = iter(labels.T)
        self.n_clusters = 0

    def set_params(self, n_clusters: int) -> None:
        self.n_clusters = n_clusters

    def fit_predict(self, samples: np.ndarray) -> np.ndarray:
        return next(self.partitions)[samples[:, 0]]


def consensusclustering(labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Compute the package's consensus matrix of the partitions, then SciPy's average linkage.

    The package draws samples, clusters features and returns the matrix. It fails unless every draw
    omits at least two samples, so each partition is replayed for all samples but two. These are
    drawn without a seed, which not every version accepts.
    """
    from consensusclustering import ConsensusClustering
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    n, m = labels.shape
    model = ConsensusClustering(Replay(labels), n_clusters, n_clusters, m, (n - 1.5) / n)
    model.fit(np.arange(n)[:, None])
    distance = 1.0 - model.consensus_k(n_clusters)
    np.fill_diagonal(distance, 0)
    tree = linkage(squareform(distance, checks=False), "average")
    return fcluster(tree, n_clusters, "maxclust")


# -- partita ---------------------------------------------------------------------------------


def partita_method(key: str, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    from partita.registry import prepare

    return prepare(key, n_clusters, SEED).fit_predict(labels)


def ours(key: str, name: str) -> Contender:
    return Contender("partita", name, key, partial(partita_method, key))


PEERS = (
    Contender("scikit-learn", "average linkage of 1 - CA", "eac", sklearn_linkage),
    Contender("scikit-learn", "spectral clustering of CA", "sec", sklearn_spectral),
    Contender("scikit-learn", "k-means of one-hot labels", "ccc", sklearn_kmeans),
    Contender("consensusclustering", "replayed, then SciPy linkage", "eac", consensusclustering),
    *(
        Contender("ensembleclustering", solver, key, partial(ensembleclustering, solver))
        for solver, key in (
            ("cspa", "cspa"),
            ("hgpa", "hgpa"),
            ("mcla", "mcla"),
            ("hbgf", "hbgf"),
            ("nmf", "nmfc"),
        )
    ),
)
