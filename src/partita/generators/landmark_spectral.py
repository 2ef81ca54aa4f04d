"""Make base partitions by spectral clustering through random landmarks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import isqrt
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from partita._sklearn_compat import Interval
from partita._threads import thread_pools
from partita.config import report_progress
from partita.generators._base import MISSING, POSITIVE_INT, BaseGenerator, Labels
from partita.generators._batched_kmeans import batched_kmeans
from partita.generators._features import (
    Preparation,
    count_distinct_rows,
    distinct_rows,
    has_direction,
    row_blocks,
    warn_without_direction,
)
from partita.generators._graph_generator import DrawnGraph, GraphGenerator
from partita.generators._kmeans import CentroidModel, kmeans
from partita.generators._landmark_graph import (
    LandmarkGraphs,
    LandmarkModel,
    nearest_landmarks,
    tie,
)
from partita.generators._ranges import check_range, choose_k_range, draw_integer

__all__ = ["LandmarkSpectral"]

_MOST_CLUSTERS = 60  # by default without n_clusters, as in the paper
_SAMPLE_ROWS_PER_CLUSTER = 40  # of the embedding, for k-means
_SAMPLE_ROWS_AT_LEAST = 2000
_KMEANS_ITERATIONS = 50
_BLOCK = 4096  # samples whose vectors are held at once


class LandmarkSpectral(GraphGenerator):
    """Spectral clustering through random landmarks, with everything drawn anew.

    For each partition, p random rows are the landmarks. Sample x is tied to its r nearest
    landmarks y with weights

        b_xy = exp(-d(x, y)² / (2 s_x t_y)),

    where s_x is the mean distance of x to these landmarks, and t_y that of y to the samples tied to
    it. The normalized cut of this bipartite graph needs only the leading eigenvectors V of
    D_y^-½ Bᵀ D_x^-1 B D_y^-½ (transfer cut). The rows of D_x^-1 B D_y^-½ V, divided by their
    length, are clustered by k-means into K_i clusters, with

        K_i ~ uniform{k_min, ..., k_max},    r ~ uniform{5, ..., 8}.

    The partitions follow clusters of any shape, which those of k-means do not.

    Parameters
    ----------
    n_partitions : int, default=100
        Number of base partitions.
    n_clusters : int, optional
        Expected number of clusters K of the consensus. It is the default of `k_min`.
    k_min, k_max : int, optional
        Range of K_i, both ends included. By default `k_min` is `n_clusters`, or 2 without it;
        `k_max` is 3 `n_clusters`, or min(floor(sqrt(n)), 60) without it, at most `n_landmarks`.
    n_landmarks : int, default=1000
        Number of landmarks p, at least `k_max`; all distinct rows if there are not more. With all
        rows, partitions with equal K_i and r are often the same; fewer landmarks make them differ,
        not better.
    n_neighbors : (int, int), default=(5, 8)
        Range of r, both ends included. More ties join clusters that are thin or close to each
        other, fewer cut clusters into pieces.
    metric : {"euclidean", "cosine"}, default="euclidean"
        "cosine" divides every row by its length first (the usual choice for text); a row of zeros
        has no direction and stays unlabeled (-1).
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
    models_ : list
        One model per partition, which ties new samples to the same landmarks.

    Notes
    -----
    Cost: O(n p d) for the distances, a sparse p x p eigenproblem, and k-means on a sample of the
    embedding. Memory O(n d) single-precision numbers once, and O(n (r + K_i)) per job; nothing has
    an entry per pair of samples. `transform` of the training samples returns `labels_`. The fitted
    generator keeps the features of all landmarks: at most m p d numbers and at most the data.

    If the graph has more connected components than the partition has clusters, r is doubled until
    it has not, up to 80.

    If all rows are landmarks, all partitions with equal r share one graph and its eigenvectors.

    Deviations from the paper: landmarks are random rows instead of the centers of k-means, because
    they follow thin shapes better and cost nothing; widths are local instead of one mean distance;
    nearest landmarks are exact; r is drawn; rows of the embedding have unit length.

    References
    ----------
    Huang, Wang, Wu, Lai, Kwoh. Ultra-scalable spectral clustering and ensemble clustering. IEEE
    TKDE 32(6), 2020. https://doi.org/10.1109/TKDE.2019.2903410
    Li, Wu, Chang. Segmentation using superpixels: a bipartite graph partitioning approach. CVPR
    2012 (transfer cut). https://doi.org/10.1109/CVPR.2012.6247750
    Zelnik-Manor, Perona. Self-tuning spectral clustering. NIPS 2004 (local widths).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from partita.generators import LandmarkSpectral
    >>> generator = LandmarkSpectral(n_partitions=20, n_clusters=3, random_state=0)
    >>> generator.fit_transform(load_iris().data).shape
    (150, 20)
    >>> bool(generator.n_clusters_.min() >= 3), bool(generator.n_clusters_.max() <= 9)
    (True, True)
    """

    _preparation: Preparation
    _rows: Any  # prepared features of the landmarks; of all samples during a fit
    _shared: LandmarkGraphs | None  # during a fit, if all rows are landmarks of every partition

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseGenerator._parameter_constraints,
        "n_partitions": [POSITIVE_INT],
        "n_clusters": [None, POSITIVE_INT],
        "k_min": [None, POSITIVE_INT],
        "k_max": [None, POSITIVE_INT],
        "n_landmarks": [Interval(Integral, 2, None, closed="left")],
        "n_neighbors": [tuple, list],
    }

    def __init__(
        self,
        n_partitions: int = 100,
        *,
        n_clusters: int | None = None,
        k_min: int | None = None,
        k_max: int | None = None,
        n_landmarks: int = 1000,
        n_neighbors: Sequence[int] = (5, 8),
        metric: str = "euclidean",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_partitions = n_partitions
        self.n_clusters = n_clusters
        self.k_min = k_min
        self.k_max = k_max
        self.n_landmarks = n_landmarks
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Make the base partitions of X.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Features.
        y : ignored
            Present for scikit-learn.

        Returns
        -------
        self
        """
        super().fit(X, y)
        self._shared = None
        # Partitions share landmarks, so that each of them is kept only once.
        kept = np.unique(np.concatenate([model.landmarks for model in self.models_]))
        self._rows = self._rows[kept]
        self.models_ = [
            replace(model, landmarks=np.searchsorted(kept, model.landmarks))
            for model in self.models_
        ]
        return self

    def _count(self) -> int:
        return self.n_partitions

    def _prepare(self, X: Any, *, fitting: bool) -> Any:
        if not fitting:
            return self._preparation.apply(X)
        check_range("n_neighbors", self.n_neighbors, (5, 8))
        self._k_range(X.shape[0])
        self._preparation = Preparation.of(X, unit=self.metric == "cosine")
        self._rows = self._preparation.apply(X)
        if self.metric == "cosine":
            warn_without_direction(self._rows)
        part = self._part(self._rows)[1]
        self._shared = None
        if part.shape[0] <= self.n_landmarks:
            landmarks = distinct_rows(part, np.arange(part.shape[0]))
            most = self._k_range(X.shape[0])[1]
            self._shared = LandmarkGraphs(part, landmarks, most, self.n_neighbors[1])
        return self._rows

    def labels_for_each(self, X: Any, numbers: Sequence[int]) -> Iterable[Labels]:
        """Return the labels of partitions of X into each of several numbers of clusters.

        They are made as by a fit with `k_min = k_max = k` for every number k. All numbers share the
        graphs and their eigenvectors. If all rows are landmarks, all partitions with equal r share
        them too and are cut at once. Their labels are then others than those of the fit, because
        the random numbers are used in another order.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Features.
        numbers : sequence of int
            Numbers of clusters.

        Returns
        -------
        iterable of int32 arrays of shape (n_samples, n_partitions)
            One table of labels per number.
        """
        fixed = clone(self).set_params(k_min=max(numbers), k_max=max(numbers))
        fixed._validate_params()
        prepared = fixed._prepare(fixed._validate(X, reset=True), fitting=True)
        if fixed._shared is None or len(fixed._shared.landmarks) == 0:
            return super().labels_for_each(X, numbers)
        return list(fixed._batches(prepared, fixed._shared, numbers))

    def _batches(self, X: Any, graphs: LandmarkGraphs, numbers: Sequence[int]) -> Iterator[Labels]:
        """Yield the labels of all partitions into each number, made at once."""
        usable, _ = self._part(X)
        streams = self._streams()
        for done, k in enumerate(numbers, start=1):
            labels = np.full((X.shape[0], len(streams)), MISSING, np.int32)
            rngs = [np.random.default_rng(stream) for stream in streams]
            n_ties = np.asarray([draw_integer(self.n_neighbors, rng) for rng in rngs])
            k = min(k, len(graphs.landmarks))
            with thread_pools().limit(limits=1, user_api="blas"):
                for r in np.unique(n_ties):
                    columns = np.flatnonzero(n_ties == r)
                    graph = graphs.connected(int(r), k)
                    rows = graph.ties.embed(graph.project(k))
                    weights = np.ones((len(columns), len(usable)), np.float32)
                    chosen = [rngs[i] for i in columns]
                    cut = batched_kmeans(
                        rows, weights, count_distinct_rows(rows, k), _KMEANS_ITERATIONS, chosen
                    )
                    labels[np.ix_(usable, columns)] = cut.T
            report_progress("generate", done, len(numbers))
            yield labels

    def _part(self, X: Any) -> tuple[NDArray[np.int64], Any]:
        """Return the places of rows with a direction, all rows if none is needed, and the rows."""
        if self.metric == "cosine" and not (is_usable := has_direction(X)).all():
            usable = np.flatnonzero(is_usable)
            return usable, X[usable]
        return np.arange(X.shape[0]), X

    def _k_range(self, n_rows: int) -> tuple[int, int]:
        """Return the smallest and largest K_i for partitions of `n_rows` rows."""
        default_max = min(isqrt(n_rows), _MOST_CLUSTERS)
        if self.n_clusters is not None:
            default_max = min(3 * self.n_clusters, n_rows)
        default_max = min(default_max, self.n_landmarks)
        limits = choose_k_range(n_rows, self.k_min, self.k_max, self.n_clusters, default_max)
        if limits[1] > self.n_landmarks:
            raise ValueError(
                f"n_landmarks={self.n_landmarks} must be at least the number of clusters of a "
                f"partition, {limits[0]} to {limits[1]}: a partition has no more clusters than "
                "landmarks. Raise n_landmarks, or lower n_clusters or k_max."
            )
        return limits

    def _draw(self, X: Any, rng: np.random.Generator) -> tuple[int, _LandmarkDraw]:
        usable, part = self._part(X)
        k = draw_integer(self._k_range(X.shape[0]), rng)
        r = draw_integer(self.n_neighbors, rng)
        graphs = self._shared
        if graphs is None:
            drawn = np.sort(rng.choice(part.shape[0], self.n_landmarks, replace=False))
            graphs = LandmarkGraphs(part, distinct_rows(part, drawn), k, r)
        return k, _LandmarkDraw(graphs, X.shape[0], usable, r)

    def _predict(self, model: LandmarkModel, X: Any) -> Labels:
        labels = np.full(X.shape[0], MISSING, np.int32)
        if len(model.landmarks) == 0:
            return labels
        landmarks, centers = self._rows[model.landmarks], CentroidModel(model.centers)
        for block in row_blocks(X.shape[0], _BLOCK):
            rows = X[block]
            indices, distances = nearest_landmarks(rows, landmarks, model.n_neighbors)
            vectors = tie(indices, distances, model.widths).embed(model.projection)
            labels[block] = centers.nearest(vectors)
        if self.metric == "cosine":
            labels[~has_direction(X)] = MISSING
        return labels


class _LandmarkDraw(DrawnGraph):
    """The landmarks and the number of ties of one partition.

    Parameters
    ----------
    graphs : LandmarkGraphs
        Graphs of the rows with a direction.
    n_samples : int
        Number of all samples.
    usable : array of shape (n_usable,)
        Samples that these rows belong to.
    n_neighbors : int
        Number of ties per sample, at least.
    """

    def __init__(
        self,
        graphs: LandmarkGraphs,
        n_samples: int,
        usable: NDArray[np.int64],
        n_neighbors: int,
    ) -> None:
        self._graphs, self._n_samples = graphs, n_samples
        self._usable, self._n_neighbors = usable, n_neighbors

    def cut(self, k: int, rng: np.random.Generator) -> tuple[Labels, LandmarkModel]:
        labels = np.full(self._n_samples, MISSING, np.int32)
        n_usable = len(self._usable)
        if n_usable == 0:  # no row has a direction, so none gets a label
            nothing = np.zeros((0, 1), np.float32)
            model = LandmarkModel(self._usable, self._n_neighbors, np.zeros(0), nothing, nothing)
            return labels, model
        k = min(k, len(self._graphs.landmarks))
        graph = self._graphs.connected(self._n_neighbors, k)
        projection = graph.project(k)
        n_rows = max(_SAMPLE_ROWS_PER_CLUSTER * k, _SAMPLE_ROWS_AT_LEAST)
        ties = graph.ties
        if n_rows < n_usable:
            ties = ties.rows(np.sort(rng.choice(n_usable, n_rows, replace=False)))
        rows = ties.embed(projection)
        k = count_distinct_rows(rows, k)
        centers = kmeans(rows, k, 1, _KMEANS_ITERATIONS, rng).centers
        nearest = CentroidModel(centers).nearest
        if ties is graph.ties:
            labels[self._usable] = nearest(rows)
        else:
            for block in row_blocks(n_usable, _BLOCK):
                labels[self._usable[block]] = nearest(graph.ties.rows(block).embed(projection))
        landmarks, n_neighbors = self._usable[self._graphs.landmarks], graph.ties.indices.shape[1]
        return labels, LandmarkModel(landmarks, n_neighbors, graph.widths, projection, centers)
