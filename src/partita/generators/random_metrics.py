"""Make base partitions by spectral clustering with random metrics on random features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isqrt
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita._sklearn_compat import Interval
from partita.generators._base import MISSING, POSITIVE_INT, BaseGenerator, Labels
from partita.generators._features import (
    Preparation,
    count_distinct_rows,
    has_direction,
    row_blocks,
    squared_norms,
    unit_rows,
    warn_without_direction,
)
from partita.generators._graph_generator import DrawnGraph, GraphGenerator
from partita.generators._graph_vectors import LeadingVectors, graph_components
from partita.generators._kmeans import CentroidModel, kmeans, select_features
from partita.generators._ranges import check_range, choose_k_range, draw_integer

__all__ = ["RandomMetrics"]

_KMEANS_ITERATIONS = 100
_DISTANCES = 1 << 21  # distances that are held at once

Double = NDArray[np.float64]


class RandomMetrics(GraphGenerator):
    """Spectral clustering with a random similarity kernel on random features (MDEC).

    Partition i takes round(ratio d) random features, and, with squared distances d_xy in them and
    the mean e_x of d_xy over the r nearest neighbors y of x, the scaled exponential kernel

        w_xy = exp(-d_xy² / (2 s²)) / s,    s = mu (e_x + e_y + d_xy) / 3.

    Every sample keeps its r strongest edges. The leading eigenvectors of the normalized graph,
    rows divided by their length, are clustered by k-means into K_i clusters. All is random:

        mu ~ uniform(0.2, 0.8),    r ~ uniform{5, ..., 20},    K_i ~ uniform{k_min, ..., k_max}.

    Parameters
    ----------
    n_partitions : int, default=100
        Number of base partitions.
    ratio : float in (0, 1], default=0.5
        Share of the features that a partition uses.
    n_clusters : int, optional
        Expected number of clusters K of the consensus. It is the default of `k_min`.
    k_min, k_max : int, optional
        Range of K_i, both ends included. By default `k_min` is `n_clusters`, or 2 without it, and
        `k_max` is floor(sqrt(n)).
    n_neighbors : (int, int), default=(5, 20)
        Range of r, both ends included.
    multipliers : (float, float), default=(0.2, 0.8)
        Range of mu.
    metric : {"euclidean", "cosine"}, default="euclidean"
        "cosine" divides every row by its length first, computed from the chosen features; a
        partition does not label (-1) a row that is zero in all of them.
    n_init : int, default=3
        Restarts of k-means on the embedding.
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
        Number of clusters of each partition.

    Notes
    -----
    There is no `transform`: spectral clustering does not label new samples.

    Time O(n² d) per partition for the distances, twice; memory O(n (d + r + K_i)) per job, as
    distances are computed for a block of samples at a time. `LandmarkSpectral` is linear in n.

    Deviations from the authors' program: K_i begins at `n_clusters` if that is set; k-means starts
    from k-means++; a partition with more connected components than clusters uses one vector per
    component.

    References
    ----------
    Huang, Wang, Lai, Kwoh. Toward multidiversified ensemble clustering of high-dimensional data:
    from subspaces to metrics and beyond. IEEE TCYB 52(11), 2022.
    https://doi.org/10.1109/TCYB.2021.3049633

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from partita.generators import RandomMetrics
    >>> generator = RandomMetrics(n_partitions=10, n_clusters=3, random_state=0)
    >>> generator.fit_transform(load_iris().data).shape
    (150, 10)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseGenerator._parameter_constraints,
        "n_partitions": [POSITIVE_INT],
        "ratio": [Interval(Real, 0, 1, closed="right")],
        "n_clusters": [None, POSITIVE_INT],
        "k_min": [None, POSITIVE_INT],
        "k_max": [None, POSITIVE_INT],
        "n_neighbors": [tuple, list],
        "multipliers": [tuple, list],
        "n_init": [POSITIVE_INT],
    }

    def __init__(
        self,
        n_partitions: int = 100,
        *,
        ratio: float = 0.5,
        n_clusters: int | None = None,
        k_min: int | None = None,
        k_max: int | None = None,
        n_neighbors: Sequence[int] = (5, 20),
        multipliers: Sequence[float] = (0.2, 0.8),
        metric: str = "euclidean",
        n_init: int = 3,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_partitions = n_partitions
        self.ratio = ratio
        self.n_clusters = n_clusters
        self.k_min = k_min
        self.k_max = k_max
        self.n_neighbors = n_neighbors
        self.multipliers = multipliers
        self.metric = metric
        self.n_init = n_init
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _predicts(self) -> bool:
        return False

    def _count(self) -> int:
        return self.n_partitions

    def _k_range(self, n_rows: int) -> tuple[int, int]:
        """Return the smallest and largest K_i for partitions of `n_rows` rows."""
        return choose_k_range(n_rows, self.k_min, self.k_max, self.n_clusters, isqrt(n_rows))

    def _prepare(self, X: Any, *, fitting: bool) -> Any:
        check_range("n_neighbors", self.n_neighbors, (5, 20))
        check_range("multipliers", self.multipliers, (0.2, 0.8))
        self._k_range(X.shape[0])
        unit = self.metric == "cosine"
        prepared = Preparation.of(X, unit=unit).apply(X)
        if unit:
            warn_without_direction(prepared)
        return prepared

    def _draw(self, X: Any, rng: np.random.Generator) -> tuple[int, _MetricDraw]:
        n, d = X.shape
        unit = self.metric == "cosine"
        features = np.sort(rng.choice(d, max(1, round(self.ratio * d)), replace=False))
        part = select_features(X, features, unit)
        usable = np.flatnonzero(has_direction(part)) if unit else np.arange(n)
        k = draw_integer(self._k_range(n), rng)
        r = min(draw_integer(self.n_neighbors, rng), len(usable) - 1)
        mu = float(rng.uniform(self.multipliers[0], self.multipliers[1]))
        return k, _MetricDraw(part[usable], n, usable, r, mu, k, self.n_init)


class _MetricDraw(DrawnGraph):
    """The graph of one partition.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_usable, n_features)
        Drawn features of rows with a direction.
    n_samples : int
        Number of all samples.
    usable : array of shape (n_usable,)
        Samples that these rows belong to.
    r, mu : int and float
        Number of edges per sample and multiplier of the widths.
    most : int
        Largest number of clusters into which the graph will be cut.
    n_init : int
        Number of runs of k-means.
    """

    def __init__(
        self,
        X: Any,
        n_samples: int,
        usable: NDArray[np.int64],
        r: int,
        mu: float,
        most: int,
        n_init: int,
    ) -> None:
        self._X, self._n_samples, self._usable, self._n_init = X, n_samples, usable, n_init
        if len(usable) < 2:
            return
        graph = _graph(X, r, mu)
        degrees = np.asarray(graph.sum(axis=1)).ravel()
        scaling = sp.diags(1 / np.sqrt(degrees))
        normalized = (scaling @ graph @ scaling).tocsr()
        self._vectors = LeadingVectors(normalized, degrees, graph_components(normalized), most)

    def cut(self, k: int, rng: np.random.Generator) -> tuple[Labels, None]:
        labels = np.full(self._n_samples, MISSING, np.int32)
        if len(self._usable) < 2:
            labels[self._usable] = 0
            return labels, None
        k = count_distinct_rows(self._X, k)
        vectors = self._vectors.leading(k)
        rows = np.ascontiguousarray(unit_rows(vectors), np.float32)
        k = count_distinct_rows(rows, k)
        centers = kmeans(rows, k, self._n_init, _KMEANS_ITERATIONS, rng).centers
        labels[self._usable] = CentroidModel(centers).nearest(rows)
        return labels, None


def _graph(X: Any, r: int, mu: float) -> Any:
    """Return the sparse graph of the r strongest edges of every row, symmetric."""
    n = X.shape[0]
    scales = np.concatenate(
        [np.sort(d, axis=1)[:, 1 : r + 1].mean(axis=1) for _, d in _distances(X)]
    )
    tiny = np.finfo(float).eps  # keeps the width of repeated rows positive
    columns = np.empty((n, r), np.int64)
    weights = np.empty((n, r))
    for block, distances in _distances(X):
        widths = mu * (scales[block, None] + scales + distances + tiny) / 3
        kernel = np.exp(-0.5 * np.square(distances / widths)) / widths
        kernel[np.arange(len(kernel)), np.arange(block.start, block.stop)] = -1  # no loops
        chosen = np.argpartition(kernel, n - r, axis=1)[:, n - r :]
        columns[block] = chosen
        weights[block] = np.take_along_axis(kernel, chosen, axis=1)
    table = (weights.ravel(), columns.ravel(), np.arange(0, n * r + 1, r))
    graph = sp.csr_matrix(table, shape=(n, n))
    return graph.maximum(graph.T).tocsr()


def _distances(X: Any) -> Iterator[tuple[slice, Double]]:
    """Yield squared distances of blocks of rows to all rows; those to themselves are 0."""
    n = X.shape[0]
    X = X.astype(np.float64)
    norms = squared_norms(X)
    for block in row_blocks(n, max(1, _DISTANCES // n)):
        products = X[block] @ X.T
        products = products.toarray() if sp.issparse(products) else products
        distances = norms[block, None] + norms - 2 * products
        np.maximum(distances, 0, out=distances)
        rows = np.arange(block.start, block.stop)
        distances[rows - block.start, rows] = 0
        yield block, distances
