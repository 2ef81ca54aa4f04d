"""Clusterings that are no methods of the library: of the features, and by SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.cluster import KMeans
from sklearn.manifold import spectral_embedding
from sklearn.metrics import pairwise_distances
from sklearn.preprocessing import normalize

from partita.matrices import coassociation

BANDWIDTHS = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 50.0, 100.0)  # of the SPCE paper


class OneKMeans(KMeans):
    """One run of k-means from greedy k-means++."""

    def __init__(self, n_clusters: int, *, random_state: int) -> None:
        super().__init__(n_clusters, n_init=1, random_state=random_state)


class Spectral:
    """Spectral clustering of Ng, Jordan and Weiss (2001), with a Gaussian kernel.

    The kernel of two samples at the distance d is exp(-(d / (`width` * mean distance))²). The rows
    of the leading eigenvectors of the normalized affinity get the length 1, and one run of k-means
    clusters them. `sklearn.cluster.SpectralClustering` leaves the rows as they are.
    """

    def __init__(self, n_clusters: int, *, random_state: int, width: float = 1.0) -> None:
        self.n_clusters, self.width, self.random_state = n_clusters, width, random_state

    def fit(self, X: Any) -> Spectral:
        distances = pairwise_distances(X)
        embedding = spectral_embedding(
            gaussian(distances, self.width),
            n_components=self.n_clusters,
            drop_first=False,
            random_state=self.random_state,
        )
        kmeans = KMeans(self.n_clusters, n_init=1, random_state=self.random_state)
        self.labels_ = kmeans.fit_predict(normalize(embedding))
        return self


class SciPyEAC:
    """Linkage of the co-association matrix by SciPy, whose ties follow the order of the samples."""

    def __init__(self, n_clusters: int, *, random_state: int, linkage: str = "average") -> None:
        self.n_clusters, self.linkage = n_clusters, linkage

    def fit(self, partitions: NDArray[np.int64]) -> SciPyEAC:
        distances = 1.0 - coassociation(partitions)
        np.fill_diagonal(distances, 0.0)
        tree = linkage(squareform(distances), self.linkage)
        self.labels_ = fcluster(tree, self.n_clusters, "maxclust")
        return self


def spectral_partitions(
    X: NDArray[np.floating[Any]],
    *,
    n_clusters: int,
    draw: int,
    kernel: str = "squared distance",
    diagonal: bool = True,
    normalized: bool = True,
    unit_rows: bool = True,
) -> NDArray[np.int64]:
    """Return spectral partitions by other variants than that of `SpectralBandwidths`.

    `kernel` is "squared distance", exp(-d² / 2σ²), or "distance", exp(-d / 2σ). Without
    `normalized` the embedding is that of the smallest eigenvalues of D - W.
    """
    distances = pairwise_distances(X)
    n = len(distances)
    mean = distances.sum() / (n * (n - 1))
    seeds = np.random.default_rng(draw).integers(2**31, size=len(BANDWIDTHS))
    columns = []
    for width, seed in zip(BANDWIDTHS, seeds, strict=True):
        power = 1 if kernel == "distance" else 2
        W = np.exp(-0.5 * (distances / (width * mean)) ** power)
        if not diagonal:
            np.fill_diagonal(W, 0.0)
        degrees = np.maximum(W.sum(axis=1), np.finfo(float).tiny)
        if normalized:
            scaling = 1.0 / np.sqrt(degrees)
            W *= scaling[:, None] * scaling
        else:
            W -= np.diag(degrees)
        embedding = np.linalg.eigh(W)[1][:, -n_clusters:]
        if unit_rows:
            embedding = normalize(embedding)
        columns.append(KMeans(n_clusters, random_state=int(seed), n_init=10).fit_predict(embedding))
    return np.column_stack(columns).astype(np.int64)


BASELINES = {
    "features.kmeans": OneKMeans,
    "features.spectral": Spectral,
    "scipy.eac": SciPyEAC,
}


def gaussian(distances: NDArray[np.float64], width: float) -> NDArray[np.float64]:
    """Return the kernel of a matrix of distances, in units of the mean of different samples."""
    n = len(distances)
    mean = distances.sum() / (n * (n - 1))
    return np.exp(-((distances / (width * mean)) ** 2))
