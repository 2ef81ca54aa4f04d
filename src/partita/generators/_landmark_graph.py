"""The graph that ties every sample to its nearest landmarks, and its leading eigenvectors.

No array has an entry for every pair of samples: with r neighbors among p landmarks the graph has
n r edges, and only a sparse p x p matrix is decomposed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita.generators._features import row_blocks, squared_norms
from partita.generators._graph_vectors import LeadingVectors, graph_components

__all__ = [
    "LandmarkGraph",
    "LandmarkGraphs",
    "LandmarkModel",
    "Ties",
    "nearest_landmarks",
    "tie",
]

MOST_TIES = 80  # per sample, of a graph that has more components than clusters

_BLOCK = 256  # samples whose distances to all landmarks are held at once
_GROUPED = 8  # landmarks of a group; only the minimum of a group is compared with other groups

Double = NDArray[np.float64]


@dataclass(frozen=True)
class Ties:
    """The edges of samples to their nearest landmarks.

    Attributes
    ----------
    indices : array of shape (n_samples, r)
        Nearest landmarks of every sample.
    weights : array of shape (n_samples, r)
        Weights of the edges, divided by the largest of the row.
    scales : array of shape (n_samples,)
        That largest weight. It may underflow to zero for a sample far from all landmarks.
    """

    indices: NDArray[np.int64]
    weights: Double
    scales: Double

    def embed(self, projection: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the weighted mean of the landmarks' vectors for every sample, of unit length."""
        means = np.asarray(self._averaging @ projection[: self._averaging.shape[1]])
        lengths = np.sqrt(squared_norms(means))
        lengths[lengths == 0] = 1
        means /= lengths[:, None]
        return means

    @cached_property
    def _averaging(self) -> sp.csr_matrix:
        """The weights of each sample, with sum 1, as a matrix up to the last landmark with an edge.

        Cuts into several numbers of clusters share it: on few samples, to make it takes longer
        than the product.
        """
        n, r = self.indices.shape
        shares = (self.weights / self.weights.sum(axis=1, keepdims=True)).astype(np.float32)
        return sp.csr_matrix((shares.ravel(), self.indices.ravel(), np.arange(0, n * r + 1, r)))

    def rows(self, rows: Any) -> Ties:
        """Return the edges of some samples."""
        return Ties(self.indices[rows], self.weights[rows], self.scales[rows])


def nearest_landmarks(X: Any, landmarks: Any, n_neighbors: int) -> tuple[NDArray[np.int64], Double]:
    """Return the nearest landmarks of every row of X, nearest first, and their distances.

    Exact. Products of single-precision features are summed in double precision, so that distances
    much smaller than the spread of the data keep their digits. O(n p d).

    Parameters
    ----------
    X : float32 array or CSR matrix of shape (n, d)
        Samples.
    landmarks : float32 array or CSR matrix of shape (p, d)
        Landmarks.
    n_neighbors : int
        Number of landmarks per sample, at most p.
    """
    n = X.shape[0]
    products = _Products(landmarks)
    indices = np.empty((n, n_neighbors), np.int64)
    distances = np.empty((n, n_neighbors))
    for block in row_blocks(n, _BLOCK):
        rows = X[block].astype(np.float64)
        indices[block], smallest = _smallest(products.with_rows(rows), n_neighbors)
        # |x - l|² = |x|² + 2 (|l|²/2 - x·l)
        squares = squared_norms(rows)[:, None] + 2 * smallest
        distances[block] = np.sqrt(np.maximum(squares, 0))
    return indices, distances


class _Products:
    """The scores |l|²/2 - x·l of all landmarks l, padded with infinity to whole groups."""

    def __init__(self, landmarks: Any) -> None:
        p = landmarks.shape[0]
        landmarks = landmarks.astype(np.float64)
        n_padded = -(-p // _GROUPED) * _GROUPED
        self.half_norms = np.full(n_padded, np.inf)
        self.half_norms[:p] = 0.5 * squared_norms(landmarks)
        self.factor: Any
        if sp.issparse(landmarks):
            landmarks.resize(n_padded, landmarks.shape[1])
            self.factor = landmarks.T.tocsr()
        else:
            # One more feature, which is 1 for every sample, adds |l|²/2 within the product.
            self.factor = np.zeros((landmarks.shape[1] + 1, n_padded))
            self.factor[:-1, :p] = -landmarks.T
            self.factor[-1] = self.half_norms

    def with_rows(self, rows: Any) -> Double:
        """Return the scores for some samples, shape (len(rows), n_padded)."""
        if sp.issparse(rows):
            return np.asarray(self.half_norms - (rows @ self.factor).toarray())
        return np.asarray(np.hstack([rows, np.ones((len(rows), 1))]) @ self.factor)


def _smallest(scores: Double, count: int) -> tuple[NDArray[np.int64], Double]:
    """Return places and values of the smallest entries of every row, ascending; overwrites scores.

    Repeated minima over the minima of groups: three times as fast as `np.argpartition`.
    """
    rows = np.arange(len(scores))
    grouped = scores.reshape(len(scores), _GROUPED, -1)
    n_groups = grouped.shape[2]
    minima = grouped.min(axis=1)
    places = np.empty((len(scores), count), np.int64)
    values = np.empty((len(scores), count))
    for step in range(count):
        group = minima.argmin(axis=1)
        entries = grouped[rows, :, group]
        inside = entries.argmin(axis=1)
        places[:, step] = inside * n_groups + group
        values[:, step] = minima[rows, group]
        grouped[rows, inside, group] = np.inf
        entries[rows, inside] = np.inf
        minima[rows, group] = entries.min(axis=1)
    return places, values


def tie(indices: NDArray[np.int64], distances: Double, widths: Double) -> Ties:
    """Weight the edges by exp(-d²/(2 s t)).

    s is the mean distance of the sample to its landmarks, t the width of the landmark.
    """
    scales = 2 * distances.mean(axis=1, keepdims=True) * widths[indices]
    exponents = np.divide(distances**2, scales, out=np.zeros_like(distances), where=scales > 0)
    smallest = exponents.min(axis=1, keepdims=True)
    return Ties(indices, np.exp(smallest - exponents), np.exp(-smallest[:, 0]))


@dataclass(frozen=True)
class LandmarkGraph:
    """The bipartite graph of samples and landmarks.

    Attributes
    ----------
    ties : Ties
        Edges of the samples.
    widths : array of shape (p,)
        Mean distance t of every landmark to the samples that are tied to it.
    degrees : array of shape (p,)
        Sum of the weights of a landmark's edges.
    n_components : int
        Number of connected components.
    vectors : LeadingVectors
        Eigenvectors of D_y^-½ Bᵀ D_x^-1 B D_y^-½ for the edges B and the degrees of samples and
        landmarks.
    """

    ties: Ties
    widths: Double
    degrees: Double
    n_components: int
    vectors: LeadingVectors

    @classmethod
    def of(
        cls, indices: NDArray[np.int64], distances: Double, p: int, most_clusters: int
    ) -> LandmarkGraph:
        """Return the graph of samples with these nearest landmarks, out of p.

        It can be cut into at most `most_clusters`.
        """
        n, r = indices.shape
        counts = np.bincount(indices.ravel(), minlength=p)
        widths = _sum_by_landmark(indices, distances, p) / np.maximum(counts, 1)
        # A landmark that only its own row chose has no width of its own.
        widths[widths == 0] = widths[widths > 0].mean() if widths.any() else 1.0
        ties = tie(indices, distances, widths)
        edges = ties.weights * ties.scales[:, None]
        degrees = _sum_by_landmark(indices, edges, p)
        root = np.sqrt(ties.scales / ties.weights.sum(axis=1))
        normalized = ties.weights * root[:, None] / np.sqrt(degrees)[indices]
        table = (normalized.ravel(), indices.ravel(), np.arange(0, n * r + 1, r))
        scaled = sp.csr_matrix(table, shape=(n, p))
        gram = (scaled.T @ scaled).tocsr()
        components = graph_components(gram)
        vectors = LeadingVectors(gram, degrees, components, most_clusters)
        return cls(ties, widths, degrees, int(components.max()) + 1, vectors)

    def project(self, k: int) -> NDArray[np.float32]:
        """Return the vectors D_y^-½ V of the landmarks, for k leading eigenvectors V.

        If there are more than k components, there is a vector for each of them.
        """
        vectors = self.vectors.leading(k)
        return np.asarray(vectors / np.sqrt(self.degrees)[:, None], np.float32)


class LandmarkGraphs:
    """The graphs that tie samples to the same landmarks, one for every number of ties.

    Partitions may share them on several threads: a graph and its eigenvectors are the same whoever
    asks first.

    Parameters
    ----------
    X : float32 array or CSR matrix of shape (n, d)
        Samples.
    landmarks : array of shape (p,)
        Rows of X that are landmarks, all different.
    most_clusters : int
        Largest number of clusters into which a graph will be cut.
    most_ties : int
        Number of ties per sample of most graphs, at most. More are computed when they are needed.
    """

    def __init__(
        self, X: Any, landmarks: NDArray[np.int64], most_clusters: int, most_ties: int
    ) -> None:
        self.X, self.landmarks = X, landmarks
        self._most_clusters = min(most_clusters, len(landmarks))
        self._most_ties = most_ties
        self._ties: tuple[NDArray[np.int64], Double] | None = None
        self._graphs: dict[int, LandmarkGraph] = {}  # by the number of ties
        self._lock = Lock()

    def connected(self, r: int, k: int) -> LandmarkGraph:
        """Return the graph with r ties per sample for a cut into k clusters.

        While it has more than k connected components, the number of ties is doubled.
        """
        p = len(self.landmarks)
        while True:
            r = min(r, p)
            with self._lock:
                if r not in self._graphs:
                    self._graphs[r] = self._make(r)
            if self._graphs[r].n_components <= k or r in (p, MOST_TIES):
                return self._graphs[r]
            r = min(2 * r, MOST_TIES)

    def _make(self, r: int) -> LandmarkGraph:
        p = len(self.landmarks)
        if self._ties is None or self._ties[0].shape[1] < r:
            count = min(max(r, self._most_ties), p)
            self._ties = nearest_landmarks(self.X, self.X[self.landmarks], count)
        indices, distances = self._ties[0][:, :r].copy(), self._ties[1][:, :r].copy()
        return LandmarkGraph.of(indices, distances, p, self._most_clusters)


@dataclass(frozen=True)
class LandmarkModel:
    """What labels a sample: its nearest landmarks, their vectors, the nearest center.

    Attributes
    ----------
    landmarks : array of shape (p,)
        Places of the landmarks among the rows that the generator keeps.
    n_neighbors : int
        Number of landmarks to which a sample is tied.
    widths : array of shape (p,)
        Widths of the landmarks.
    projection : array of shape (p, n_vectors)
        Vectors of the landmarks.
    centers : array of shape (K_i, n_vectors)
        Cluster centers.
    """

    landmarks: NDArray[np.int64]
    n_neighbors: int
    widths: NDArray[np.float64]
    projection: NDArray[np.float32]
    centers: NDArray[np.float32]


def _sum_by_landmark(indices: NDArray[np.int64], values: Double, p: int) -> Double:
    """Return the sum of the values of the edges of each of p landmarks."""
    return np.asarray(np.bincount(indices.ravel(), values.ravel(), minlength=p), np.float64)
