"""The transfer cut of rows that are not all in memory: only the clusters' side is formed."""

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
from partita.solvers.kmeans import TOLERANCE, kmeans_model
from partita.solvers.label_kmeans import RowSample, Tables, is_sampled
from partita.solvers.spectral import top_eigenvectors

__all__ = ["RowEmbedding", "RowsCut", "cluster_vectors", "rows_transfer_cut"]

_TINY = 1e-10
_ROWS = 4096
_MAX_ITER = 100


@dataclass(frozen=True)
class RowEmbedding:
    """Unit vectors of label rows: sums of a vector per cluster (`vectors`, shape (L, K))."""

    vectors: NDArray[np.float64]
    missing_code: int
    offsets: NDArray[np.int64]

    def __call__(self, labels: NDArray[Any]) -> NDArray[np.float64]:
        n, (_, width) = len(labels), self.vectors.shape
        out, nothing = np.empty((n, width)), np.zeros(n)
        no_slope = np.zeros((labels.shape[1], width))
        kernel, costs = _kernels.label_kmeans.row_costs, Tables(self.vectors, no_slope)
        table = CodeTable.of(labels, self.missing_code, self.offsets)
        run_blocks(
            lambda start, stop: kernel(table, costs, nothing, nothing, start, stop, out), n, _ROWS
        )
        return out / (np.linalg.norm(out, axis=1, keepdims=True) + _TINY)


@dataclass(frozen=True)
class RowsCut:
    """Groups of the rows, chunk by chunk, and the inertia of their embedding."""

    groups: Callable[[], Iterator[NDArray[np.int32]]]
    inertia: float


def cluster_vectors(
    gram: NDArray[np.float64],
    sizes: NDArray[np.float64],
    certainty: NDArray[np.float64],
    n_components: int,
) -> NDArray[np.float64]:
    """Vectors whose sums over a row's clusters are its place in the normalized cut, (L, K).

    gram : Bᵀ D_x^-1 B of the plain incidence, the rows' degrees d_x being sums of certainties
    sizes : weight of every cluster
    """
    degree = certainty * sizes
    scale = np.where(degree > 0, certainty / np.sqrt(np.where(degree > 0, degree, 1.0)), 0.0)
    filled = np.flatnonzero(degree > 0)
    scaled = scale[filled, None] * gram[np.ix_(filled, filled)] * scale[filled]
    _, vectors = top_eigenvectors(scaled, n_components)
    out = np.zeros((len(sizes), n_components))
    out[filled, : vectors.shape[1]] = scale[filled, None] * vectors
    return out


@dataclass(frozen=True)
class _Nearest:
    """Rows of a chunk into the groups of their nearest centers."""

    embedding: RowEmbedding
    centers: NDArray[np.float64]

    def __call__(self, chunk: Chunk) -> NDArray[np.int32]:
        return self.groups(chunk)[0]

    def groups(
        self, chunk: Chunk
    ) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]:
        """Groups (-1 without any label), the rows' vectors, and their squared distances."""
        points = self.embedding(chunk.codes)
        distances = (self.centers**2).sum(axis=1) - 2.0 * points @ self.centers.T
        groups = np.argmin(distances, axis=1).astype(np.int32)
        squared = (points**2).sum(axis=1) + distances[np.arange(len(groups)), groups]
        unlabeled = (chunk.codes == self.embedding.missing_code).all(axis=1)
        groups[unlabeled] = -1
        return groups, points, np.maximum(squared, 0.0)

    def add_up(self, chunk: Chunk, totals: Totals) -> None:
        """Sums, weights and inertia of the groups."""
        sums, weights, inertia = totals
        groups, points, squared = self.groups(chunk)
        there = groups >= 0
        weight = chunk.weights[there]
        np.add.at(weights, groups[there], weight)
        for k in range(points.shape[1]):
            column = np.bincount(groups[there], weight * points[there, k], len(sums))
            sums[:, k] += column
        inertia += float(weight @ squared[there])


def rows_transfer_cut(
    rows: Rows,
    embedding: RowEmbedding,
    n_clusters: int,
    rng: np.random.Generator,
    *,
    n_init: int,
    stages: Stages,
) -> RowsCut:
    """k-means of the embedded rows: `n_init` starts on a sample, the best one run on all rows.

    A sample that is all rows needs no second run, and the labels are those of `transfer_cut`.
    """
    sample = RowSample.draw(rows, n_clusters, rng)
    done = int(stages.state.get("n_iter", 0))
    if "centers" in stages.state:
        centers = stages.state["centers"]
    else:
        core = sample.rows.ensemble
        points = embedding(sample.full_codes())
        n_groups = min(n_clusters, core.n_rows)  # so few may be all the different rows there are
        centers = kmeans_model(points, core.weights, n_groups, rng, n_init=n_init).cluster_centers_
    step = _Nearest(embedding, centers)
    totals = np.zeros(centers.shape), np.zeros(len(centers)), np.zeros(1)
    rows.accumulate(step.add_up, totals)
    for number in range(done, _MAX_ITER if is_sampled(rows, n_clusters) else 0):
        sums, weights, _ = totals
        filled = weights > 0
        moved = np.where(filled[:, None], sums / np.where(filled, weights, 1.0)[:, None], centers)
        # the rule of the k-means in memory: centers that move by a ten-thousandth of the variance
        spread = 1.0 - float(((sums.sum(axis=0) / weights.sum()) ** 2).sum())
        settled = float(((moved - centers) ** 2).sum()) <= TOLERANCE * spread / centers.shape[1]
        centers, step = moved, _Nearest(embedding, moved)
        if not settled:  # the last step must not be taken twice
            stages.keep(vectors=embedding.vectors, centers=centers, n_iter=np.asarray(number + 1))
        totals = np.zeros(centers.shape), np.zeros(len(centers)), np.zeros(1)
        rows.accumulate(step.add_up, totals)
        if settled:
            break
    return RowsCut(partial(rows.collect, step), float(totals[2][0]))


def inverse_degree(
    labels: NDArray[Any], missing: int, offsets: NDArray[np.int64], certainty: NDArray[np.float64]
) -> NDArray[np.float64]:
    """1 / d_x, d_x being the sum of the certainties of a row's clusters; 0 for a row without."""
    degree = row_sums(labels, missing, offsets, certainty)
    return np.where(degree > 0, 1.0 / np.where(degree > 0, degree, 1.0), 0.0)
