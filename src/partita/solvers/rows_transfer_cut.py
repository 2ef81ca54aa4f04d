"""Transfer cut of rows that are not all in memory; only the graph of base clusters is formed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._kernels.records import CodeTable
from partita._threads import run_blocks
from partita.scale import Chunk, Rows, Totals, row_sums
from partita.scale.checkpoint import Stages
from partita.solvers.components import component_vectors, connected_components
from partita.solvers.kmeans import TOLERANCE, kmeans_model
from partita.solvers.label_kmeans import RowSample, Tables, is_sampled
from partita.solvers.spectral import top_eigenvectors

__all__ = ["RowEmbedding", "RowsCut", "cluster_embedded_rows", "cluster_vectors", "inverse_degree"]

_TINY = 1e-10  # keeps the norm of a row without labels above 0
_ROWS = 4096
_MAX_ITER = 100


@dataclass(frozen=True)
class RowEmbedding:
    """Embedding of rows: the normalized sum of the vectors of a row's base clusters.

    Attributes
    ----------
    vectors : array of shape (L, K)
        One vector per base cluster.
    missing_code : int
    offsets : array of shape (n_partitions + 1,)
    work : float
        About how many elementary operations the embedding of all rows needs, in all passes.
    """

    vectors: NDArray[np.float64]
    missing_code: int
    offsets: NDArray[np.int64]
    work: float

    def __call__(self, codes: NDArray[Any]) -> NDArray[np.float64]:
        """Return the unit vectors of rows, shape (n, K)."""
        n, (_, width) = len(codes), self.vectors.shape
        out, zeros = np.empty((n, width)), np.zeros(n)
        no_slope = np.zeros((codes.shape[1], width))
        kernel = _kernels.label_kmeans.row_costs.at(self.work)
        costs = Tables(self.vectors, no_slope)
        table = CodeTable.of(codes, self.missing_code, self.offsets)
        run_blocks(
            lambda start, stop: kernel(table, False, costs, zeros, zeros, start, stop, out),
            n,
            _ROWS,
        )
        return out / (np.linalg.norm(out, axis=1, keepdims=True) + _TINY)


@dataclass(frozen=True)
class RowsCut:
    """Result of `cluster_embedded_rows`.

    Attributes
    ----------
    groups : callable
        Yields the groups of the rows chunk by chunk.
    inertia : float
        Of k-means on the embedding.
    """

    groups: Callable[[], Iterator[NDArray[np.int32]]]
    inertia: float


def cluster_vectors(
    gram: NDArray[np.float64],
    sizes: NDArray[np.float64],
    certainty: NDArray[np.float64],
    n_components: int,
) -> NDArray[np.float64]:
    """Return one vector per base cluster; their sums embed the rows as in the normalized cut.

    Parameters
    ----------
    gram : array of shape (L, L)
        Bᵀ D_x^-1 B of the unweighted incidence; the degree d_x of a row is the sum of the
        certainties of its base clusters.
    sizes : array of shape (L,)
        Weight of every base cluster.
    certainty : array of shape (L,)
        Weight of the edges of every base cluster.
    n_components : int

    Returns
    -------
    vectors : array of shape (L, n_components)
    """
    degree = certainty * sizes
    scale = np.where(degree > 0, certainty / np.sqrt(np.where(degree > 0, degree, 1.0)), 0.0)
    filled = np.flatnonzero(degree > 0)
    scaled = scale[filled, None] * gram[np.ix_(filled, filled)] * scale[filled]

    def first(most: int) -> NDArray[np.float64]:
        return component_vectors(
            connected_components(scaled, symmetric=True)[1], degree[filled], most
        )

    _, vectors = top_eigenvectors(scaled, n_components, first=first)
    out = np.zeros((len(sizes), n_components))
    out[filled, : vectors.shape[1]] = scale[filled, None] * vectors
    return out


@dataclass(frozen=True)
class _NearestCenters:
    """Assignment of rows to the nearest centers of their embedding."""

    embedding: RowEmbedding
    centers: NDArray[np.float64]

    def __call__(self, chunk: Chunk) -> NDArray[np.int32]:
        return self.groups(chunk)[0]

    def groups(
        self, chunk: Chunk
    ) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]:
        """Return groups (-1 for rows without labels), vectors and squared distances to centers."""
        points = self.embedding(chunk.codes)
        distances = (self.centers**2).sum(axis=1) - 2.0 * points @ self.centers.T
        groups = np.argmin(distances, axis=1).astype(np.int32)
        squared = (points**2).sum(axis=1) + distances[np.arange(len(groups)), groups]
        unlabeled = (chunk.codes == self.embedding.missing_code).all(axis=1)
        groups[unlabeled] = -1
        return groups, points, np.maximum(squared, 0.0)

    def add(self, chunk: Chunk, totals: Totals) -> None:
        """Add sums of vectors, weights and inertia of the groups to the totals."""
        sums, weights, inertia = totals
        groups, points, squared = self.groups(chunk)
        labeled = groups >= 0
        weight = chunk.weights[labeled]
        np.add.at(weights, groups[labeled], weight)
        for k in range(points.shape[1]):
            sums[:, k] += np.bincount(groups[labeled], weight * points[labeled, k], len(sums))
        inertia += float(weight @ squared[labeled])


def cluster_embedded_rows(
    rows: Rows,
    embedding: RowEmbedding,
    n_clusters: int,
    rng: np.random.Generator,
    *,
    n_init: int,
    stages: Stages,
) -> RowsCut:
    """Run k-means on the embedded rows: `n_init` restarts on a sample, the best one on all rows.

    If the sample contains all rows, the second run is omitted, and the labels are those of the
    transfer cut in memory. `stages` saves the centers after every iteration on all rows.
    """
    sample = RowSample.draw(rows, n_clusters, rng)
    n_done = int(stages.state.get("n_iter", 0))
    if "centers" in stages.state:
        centers = stages.state["centers"]
    else:
        core = sample.rows.ensemble
        points = embedding(sample.full_codes())
        n_groups = min(n_clusters, core.n_rows)  # there may be fewer distinct rows than clusters
        centers = kmeans_model(points, core.weights, n_groups, rng, n_init=n_init).cluster_centers_
    nearest = _NearestCenters(embedding, centers)
    totals = np.zeros(centers.shape), np.zeros(len(centers)), np.zeros(1)
    rows.accumulate(nearest.add, totals)
    for number in range(n_done, _MAX_ITER if is_sampled(rows, n_clusters) else 0):
        sums, weights, _ = totals
        filled = weights > 0
        means = np.where(filled[:, None], sums / np.where(filled, weights, 1.0)[:, None], centers)
        # as k-means in memory: stop when the centers move by less than TOLERANCE of the variance
        variance = 1.0 - float(((sums.sum(axis=0) / weights.sum()) ** 2).sum())
        converged = float(((means - centers) ** 2).sum()) <= TOLERANCE * variance / means.shape[1]
        centers, nearest = means, _NearestCenters(embedding, means)
        if not converged:  # a saved last iteration would be followed by one too many
            n_iter = np.asarray(number + 1)
            stages.finish(vectors=embedding.vectors, centers=centers, n_iter=n_iter)
        totals = np.zeros(centers.shape), np.zeros(len(centers)), np.zeros(1)
        rows.accumulate(nearest.add, totals)
        if converged:
            break
    return RowsCut(partial(rows.collect, nearest), float(totals[2][0]))


def inverse_degree(
    codes: NDArray[Any],
    missing_code: int,
    offsets: NDArray[np.int64],
    certainty: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return 1 / d_x, d_x being the sum of the certainties of a row's clusters; 0 if it is 0."""
    degree = row_sums(codes, missing_code, offsets, certainty)
    return np.where(degree > 0, 1.0 / np.where(degree > 0, degree, 1.0), 0.0)
