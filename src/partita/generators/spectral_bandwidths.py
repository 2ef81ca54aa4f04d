"""Make base partitions by spectral clustering at several kernel bandwidths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackNoConvergence, eigsh
from sklearn.metrics import euclidean_distances

from partita._linalg import eigh
from partita._memory import require_memory
from partita.generators._base import POSITIVE_INT, BaseGenerator, Labels
from partita.generators._features import Preparation, count_distinct_rows, unit_rows
from partita.generators._kmeans import CentroidModel, kmeans

__all__ = ["SpectralBandwidths"]

_PUBLISHED = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 50.0, 100.0)
_KMEANS_ITERATIONS = 100
_CONNECTED = 1e-12  # weaker normalized edges do not connect a graph numerically
_LANCZOS_RESTARTS = 20  # a wide kernel needs one to three; beyond 20, LAPACK is faster


class SpectralBandwidths(BaseGenerator):
    """Spectral clustering with Gaussian kernels from very narrow to very wide.

    With d the mean distance between all pairs of samples, partition i takes

        W = exp(-||x - y||^2 / (2 sigma_i^2)),    sigma_i = d * multipliers[i],

    the K leading eigenvectors of D^-1/2 W D^-1/2, rows divided by their length, and k-means.

    Parameters
    ----------
    n_clusters : int, default=8
        K, the number of clusters of every partition; fewer if there are fewer distinct samples.
    multipliers : sequence of float, default=(0.01, 0.05, 0.1, 0.5, 1, 5, 10, 50, 100)
        Bandwidths as multiples of the mean distance, one per partition.
    metric : {"euclidean", "cosine"}, default="euclidean"
        "cosine" divides every row by its length first.
    n_init : int, default=10
        Restarts of k-means on the embedding.
    n_jobs : int, optional
        Number of partitions made at the same time, each with one n x n kernel. -1 uses all cores.
        By default `partita.get_config().n_threads`. The labels do not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        Seed. The same integer gives the same labels.

    Attributes
    ----------
    labels_ : int32 array of shape (n_samples, len(multipliers))
        Labels of the base partitions.
    n_clusters_ : array of shape (len(multipliers),)
        Number of clusters of each partition.
    mean_distance_ : float
        d, the mean distance between two samples.

    Notes
    -----
    There is no `transform`: spectral clustering does not label new samples.

    Memory O(n^2) doubles, compared with the budget before anything is allocated. Time O(n^2 d) for
    the distances and O(n^2 K) per Lanczos step, or O(n^3) if the kernel is hardly connected, as for
    narrow bandwidths. Such a kernel is close to the identity and its partition almost arbitrary;
    the published protocol contains these partitions on purpose.

    References
    ----------
    Zhou, Du, Liu, Shen, Fan, Li. Self-Paced Clustering Ensemble. IEEE TNNLS 32(4), 2021.
    https://doi.org/10.1109/TNNLS.2020.2984814
    Ng, Jordan, Weiss. On spectral clustering: analysis and an algorithm. NIPS 2001.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from partita.generators import SpectralBandwidths
    >>> SpectralBandwidths(n_clusters=3, random_state=0).fit_transform(load_iris().data).shape
    (150, 9)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseGenerator._parameter_constraints,
        "n_clusters": [POSITIVE_INT],
        "multipliers": ["array-like"],
        "n_init": [POSITIVE_INT],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        multipliers: Sequence[float] = _PUBLISHED,
        metric: str = "euclidean",
        n_init: int = 10,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.multipliers = multipliers
        self.metric = metric
        self.n_init = n_init
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _predicts(self) -> bool:
        return False

    def _count(self) -> int:
        return len(self.multipliers)

    def _prepare(self, X: Any, *, fitting: bool) -> NDArray[np.float64]:
        """Return squared distances in units of the squared mean distance."""
        multipliers = np.asarray(self.multipliers, float)
        if multipliers.ndim != 1 or not len(multipliers) or not np.all(multipliers > 0):
            raise ValueError(
                "multipliers must be a non-empty list of positive numbers, got "
                f"{self.multipliers!r}."
            )
        n = X.shape[0]
        if self.n_clusters > n:
            raise ValueError(
                f"n_clusters={self.n_clusters} must not exceed the number of samples, "
                f"n_samples={n}."
            )
        jobs = min(self._jobs(), self._count())
        require_memory(
            8 * n * n * (1 + 2 * jobs),
            f"Spectral clustering of {n} samples with {jobs} kernels at a time",
            lambda _: "Use n_jobs=1, or another generator for that many samples.",
        )
        prepared = Preparation.of(X, unit=self.metric == "cosine").apply(X)
        self._k = count_distinct_rows(prepared, self.n_clusters)
        if self.metric == "cosine":
            X = unit_rows(X)
        distances = euclidean_distances(X)
        self.mean_distance_ = float(distances.sum() / (n * (n - 1)))
        if self.mean_distance_ > 0:
            distances /= self.mean_distance_
        return np.square(distances, out=distances)

    def _partition(
        self, X: NDArray[np.float64], index: int, rng: np.random.Generator
    ) -> tuple[Labels, None]:
        kernel = X / (-2.0 * float(self.multipliers[index]) ** 2)
        np.exp(kernel, out=kernel)
        scaling = 1.0 / np.sqrt(kernel.sum(axis=1))
        kernel *= scaling
        kernel *= scaling[:, None]
        embedding = _leading_eigenvectors(kernel, self._k, rng)
        rows = np.ascontiguousarray(unit_rows(embedding), np.float32)
        k = count_distinct_rows(rows, self._k)
        centers = kmeans(rows, k, self.n_init, _KMEANS_ITERATIONS, rng).centers
        return CentroidModel(centers).predict(rows), None


def _leading_eigenvectors(
    M: NDArray[np.float64], k: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the eigenvectors of the k largest eigenvalues; M is overwritten.

    Lanczos for connected graphs, otherwise LAPACK: Lanczos fails on multiple eigenvalues, and is
    slow if the largest are almost equal.
    """
    n = len(M)
    start = rng.uniform(-1, 1, n)
    if 20 * k < n and _is_connected(M):
        try:
            return np.asarray(eigsh(M, k, which="LA", v0=start, maxiter=_LANCZOS_RESTARTS)[1])
        except ArpackNoConvergence:
            pass
    return np.asarray(eigh(M, subset_by_index=(n - k, n - 1), overwrite=True)[1])


def _is_connected(M: NDArray[np.float64]) -> bool:
    """Return whether edges that count connect all nodes: O(n^2) time, O(n) memory."""
    is_new = np.ones(len(M), bool)
    is_new[0] = False
    pending = [0]
    while pending:
        neighbors = np.flatnonzero((M[pending.pop()] > _CONNECTED) & is_new)
        is_new[neighbors] = False
        pending.extend(neighbors.tolist())
    return not is_new.any()
