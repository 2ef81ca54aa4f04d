"""Utilities of a partition against an ensemble whose maximum label k-means finds.

For a convex function μ of the proportions in which the clusters of partition i appear, let

    U(π, π_i) = Σ_k p_k μ(P_k^(i)) - μ(P^(i)),

P^(i) being the proportions among all samples, P_k^(i) among those of consensus cluster k and p_k
that cluster's share. Maximising Σ_i w_i U(π, π_i) is k-means on the label rows b with the centers
P_k and the distance that μ generates (Wu et al. 2015, Theorem 1),

    f(b, P_k) = Σ_i w_i ( μ(b_i) - μ(P_k^(i)) - ∇μ(P_k^(i)) · (b_i - P_k^(i)) ).
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from partita.scale import Chunk, RowParts, Rows, Totals, n_labeled, row_sums
from partita.solvers.label_kmeans.search import Tables
from partita.solvers.label_kmeans.statistics import overall_statistics

__all__ = ["UTILITIES", "UtilityGeometry"]

UTILITIES = ("c", "h", "cos", "lp")
_EPS = float(np.finfo(np.float64).eps)
_RESIDUE = 1e-12  # share of a partition's weight below which rounding, not a sample, is left


class _Convex(Protocol):
    """μ on blocks of proportions: rows are clusters, columns are groups."""

    at_vertex: float  # μ of a one-hot block
    power: float  # of proportions whose squared distance is nearest to what a union loses

    def value(self, P: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
        """μ(P) of every block, shape (m, K)."""

    def gradient(self, P: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
        """∇μ(P), up to a constant that all of a block's entries share, shape (L, K)."""

    def offset(self, P: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
        """∇μ(P) · P - μ(P) of every block, with that constant, shape (m, K)."""


def _block_sums(values: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.add.reduceat(values, offsets[:-1], axis=0)


def _spread(values: NDArray[Any], offsets: NDArray[np.int64]) -> NDArray[Any]:
    """Values per partition, repeated for each of its clusters."""
    return np.repeat(values, np.diff(offsets), axis=0)


class _SquaredNorm:
    """Category utility: μ = ‖P‖², squared Euclidean distance."""

    at_vertex = 1.0
    power = 1.0  # it is just that

    def value(self, P: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
        return _block_sums(P**2, offsets)

    def gradient(self, P: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
        return 2.0 * P

    def offset(self, P: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
        return self.value(P, offsets)


class _NegativeEntropy:
    """Mutual information: μ = -H(P) in bits, Kullback-Leibler divergence."""

    at_vertex = 0.0
    power = 0.5  # the Hellinger distance, near to the Jensen-Shannon divergence

    def value(self, P: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
        return _block_sums(P * np.log2(np.where(P > 0, P, 1.0)), offsets)

    def gradient(self, P: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
        # a label that a group has not seen costs 52 bits, not infinitely many
        return np.log2(P + _EPS)

    def offset(self, P: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.zeros((len(offsets) - 1, P.shape[1]))


class _Norm:
    """μ = ‖P‖_p; p = 2 is the cosine. Homogeneous, so that ∇μ(P) · P = μ(P)."""

    at_vertex = 1.0

    def __init__(self, p: float) -> None:
        self.p = p
        self.power = 0.5 if p <= 2 else 1.0  # by trial

    def value(self, P: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
        # relative to the largest entry, whose p-th power might be too small for a double
        largest = np.maximum.reduceat(P, offsets[:-1], axis=0)
        relative = _block_sums((P / _spread(largest, offsets)) ** self.p, offsets)
        return largest * relative ** (1.0 / self.p)

    def gradient(self, P: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
        return (P / _spread(self.value(P, offsets), offsets)) ** (self.p - 1.0)

    def offset(self, P: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.zeros((len(offsets) - 1, P.shape[1]))


def _convex(utility: str, p: float) -> _Convex:
    match utility:
        case "c":
            return _SquaredNorm()
        case "h":
            return _NegativeEntropy()
        case "cos":
            return _Norm(2.0)
        case "lp":
            return _Norm(p)
    raise ValueError(f"utility must be one of {UTILITIES}, got {utility!r}")


class UtilityGeometry:
    """The geometry of label k-means that maximizes a utility.

    Parameters
    ----------
    rows : Rows
    utility : {"c", "h", "cos", "lp"}
    partition_weights : array of shape (n_partitions,)
        w_i, in the order of the rows' columns.
    normalized : bool
        Divide w_i by |μ(P^(i))|. A partition of one cluster has no entropy and says nothing;
        it keeps its weight.
    p : float
        Order of the norm for "lp".

    Notes
    -----
    A missing label takes part in no distance and in no center. A group none of whose members
    partition i labels has the overall proportions P^(i) there. Sums over k run over the samples
    that i labels, and U(π, π_i) counts with their share of all samples.
    """

    def __init__(
        self,
        rows: Rows,
        utility: str,
        partition_weights: NDArray[np.float64],
        *,
        normalized: bool = False,
        p: float = 5.0,
    ) -> None:
        self.offsets, self.missing_code = rows.offsets, rows.missing_code
        self.convex = _convex(utility, p)
        sums = np.zeros(1)
        rows.accumulate(self._add_up, (sums,))
        self.n = float(sums[0])
        sizes, self.labeled = overall_statistics(rows)
        self.overall = (sizes / _spread(self.labeled, self.offsets))[:, None]
        self.at_overall = self.convex.value(self.overall, self.offsets)[:, 0]
        divisor = np.abs(self.at_overall)
        self.weights = partition_weights.copy()
        if normalized:
            self.weights /= np.where(divisor > 0, divisor, 1.0)
        self.cluster_weights = _spread(self.weights, self.offsets)

    def _add_up(self, chunk: Chunk, totals: Totals) -> None:
        """How much weight all labeled rows have."""
        totals[0][:] += (chunk.weights * (n_labeled(chunk.codes, self.missing_code) > 0)).sum()

    def row_parts(self, labels: NDArray[Any]) -> RowParts:
        ones = np.ones(len(labels))
        # μ(b_i) w_i, over the partitions that label a row
        weight = row_sums(labels, self.missing_code, self.offsets, self.cluster_weights)
        constant = self.convex.at_vertex * weight
        return RowParts(constant, ones, ones, n_labeled(labels, self.missing_code))

    def row_mass(self, labels: NDArray[Any]) -> NDArray[np.float64]:
        return np.ones(len(labels))

    def _centers(
        self, counts: NDArray[np.float64], masses: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        filled = masses > _RESIDUE * self.labeled[:, None]
        shares = np.maximum(counts, 0.0) / _spread(np.where(filled, masses, 1.0), self.offsets)
        return np.where(_spread(filled, self.offsets), shares, self.overall)

    def tables(self, counts: NDArray[np.float64], masses: NDArray[np.float64]) -> Tables:
        P = self._centers(counts, masses)
        return Tables(
            lookup=-self.cluster_weights[:, None] * self.convex.gradient(P, self.offsets),
            slope=self.weights[:, None] * self.convex.offset(P, self.offsets),
        )

    def _captured(
        self, counts: NDArray[np.float64], masses: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Σ_k n_k^(i) μ(P_k^(i)) for every partition i."""
        value = self.convex.value(self._centers(counts, masses), self.offsets)
        return np.sum(masses * value, axis=1)

    def objective(
        self, counts: NDArray[np.float64], masses: NDArray[np.float64], tables: Tables
    ) -> float:
        at_rows = self.convex.at_vertex * self.labeled
        return float(self.weights @ (at_rows - self._captured(counts, masses)))

    def inner_products(
        self, counts: NDArray[np.float64], masses: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        points = self._centers(counts, masses) ** self.convex.power
        points *= np.sqrt(self.cluster_weights)[:, None]
        return np.asarray(points.T @ points)

    def utility(self, counts: NDArray[np.float64], masses: NDArray[np.float64]) -> float:
        """Σ_i w_i (share of samples that i labels) U(π, π_i)."""
        at_all = self.labeled * self.at_overall
        return float(self.weights @ (self._captured(counts, masses) - at_all)) / self.n
