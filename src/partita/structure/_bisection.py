"""Divide samples in two, by the partitions that label them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["Bisection", "LabelTable", "bisect"]

_POWER_ITERATIONS = 30
_MAX_ITER = 50
_DENSE_CELLS = 1 << 17  # up to this size products with a dense table are faster
_SAME = 1e-9  # relative difference of scores that counts as a tie


@dataclass(frozen=True, eq=False)
class LabelTable:
    """Rows of labels with weights, as a table of incidence.

    Attributes
    ----------
    incidence : array or sparse matrix of shape (n_rows, n_base_clusters)
        1 where a row belongs to a base cluster.
    weights : array of shape (n_rows,)
        Number of samples that a row stands for.
    partition : array of shape (n_base_clusters,)
        Partition of each base cluster.
    n_partitions : int
        Number of partitions.
    """

    incidence: Any
    weights: NDArray[np.float64]
    partition: NDArray[np.int64]
    n_partitions: int

    @classmethod
    def of(
        cls, clusters: NDArray[np.int64], partition: NDArray[np.int64], weights: NDArray[np.float64]
    ) -> LabelTable:
        """Take base clusters, numbered over all partitions, or -1 for a missing label.

        `partition` is the partition of each base cluster. Base clusters without a row are dropped.
        """
        observed = clusters >= 0
        present = np.bincount(clusters[observed], minlength=len(partition)) > 0
        indices = (np.cumsum(present) - 1)[clusters[observed]]
        starts = np.concatenate([[0], np.cumsum(observed.sum(axis=1))])
        shape = len(clusters), int(present.sum())
        table = sp.csr_matrix((np.ones(len(indices)), indices, starts), shape)
        if np.prod(shape) <= _DENSE_CELLS:
            table = table.toarray()
        return cls(table, weights, partition[present], clusters.shape[1])

    def by_partition(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum one value per base cluster over the base clusters of each partition."""
        return np.bincount(self.partition, values, self.n_partitions).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Bisection:
    """Two sides of a cluster.

    Attributes
    ----------
    side : array of shape (n_rows,), bool
        Rows of the second side.
    explained : float
        Share of the disagreement of the rows that the two sides explain, 0 to 1.
    joined : array of shape (n_partitions,)
        Share of the pairs between the sides that each partition joins; NaN if it labels no pair.
    """

    side: NDArray[np.bool_]
    explained: float
    joined: NDArray[np.float64]


def bisect(table: LabelTable) -> Bisection:
    """Divide rows by 2-means on their rows of incidence, from the first principal component.

    A missing label has no part in the distance of its row to a center.
    """
    side = _principal_halves(table)
    total = table.incidence.T @ table.weights
    for _ in range(_MAX_ITER):
        inside = table.incidence.T @ np.where(side, table.weights, 0.0)
        preference = table.incidence @ (_scores(table, inside) - _scores(table, total - inside))
        tolerance = _SAME * max(float(np.abs(preference).max(initial=0.0)), 1.0)
        moved = np.where(np.abs(preference) <= tolerance, side, preference > 0)
        if np.array_equal(moved, side) or moved.all() or not moved.any():
            break
        side = moved
    inside = table.incidence.T @ np.where(side, table.weights, 0.0)
    return Bisection(side, _explained(table, inside, total), _joined(table, inside, total))


def _principal_halves(table: LabelTable) -> NDArray[np.bool_]:
    """Cut the first principal component of the incidence where its two halves vary least."""
    b, w = table.incidence, table.weights
    counts = b.T @ w
    share = counts / table.by_partition(counts)[table.partition]
    vector = np.random.default_rng(0).standard_normal(len(share))
    score = np.zeros(len(w))
    for _ in range(_POWER_ITERATIONS):
        # a row minus the mean row, over the partitions that label the row
        score = b @ (vector - table.by_partition(share * vector)[table.partition])
        image = b.T @ (w * score)
        vector = image - share * table.by_partition(image)[table.partition]
        length = np.linalg.norm(vector)
        if length == 0.0:
            break
        vector /= length
    order = np.argsort(score, kind="stable")
    cumulated, moment = np.cumsum(w[order]), np.cumsum((w * score)[order])
    left, right = cumulated[:-1], cumulated[-1] - cumulated[:-1]
    between = moment[:-1] ** 2 / left + (moment[-1] - moment[:-1]) ** 2 / right
    side = np.zeros(len(w), bool)
    side[order[int(np.argmax(between)) + 1 :]] = True
    return side


def _scores(table: LabelTable, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 2 c - |c|² per base cluster: minus the squared distance to a center c, plus 1."""
    sizes = table.by_partition(counts)
    center = counts / np.where(sizes > 0, sizes, 1.0)[table.partition]
    return 2.0 * center - table.by_partition(center**2)[table.partition]


def _explained(table: LabelTable, inside: NDArray[np.float64], total: NDArray[np.float64]) -> float:
    def squares(counts: NDArray[np.float64]) -> float:
        sizes = table.by_partition(counts)
        return float((table.by_partition(counts**2) / np.where(sizes > 0, sizes, 1.0)).sum())

    spread = float(total.sum()) - squares(total)
    gain = squares(inside) + squares(total - inside) - squares(total)
    return gain / spread if spread > 0 else 0.0


def _joined(
    table: LabelTable, inside: NDArray[np.float64], total: NDArray[np.float64]
) -> NDArray[np.float64]:
    outside = total - inside
    pairs = table.by_partition(inside) * table.by_partition(outside)
    joined = table.by_partition(inside * outside)
    return np.divide(joined, pairs, out=np.full(len(pairs), np.nan), where=pairs > 0)
