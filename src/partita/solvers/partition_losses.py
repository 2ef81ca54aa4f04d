"""Expected losses of a clustering against an ensemble, from counts, and the costs of moves.

A loss reads two tables of weights: `joint` of base clusters and groups, and `totals` of the labeled
rows of every partition in every group. With f(x) = x log2 x (variation of information) or x²
(Binder), and n_c, n_k, n_ck the sizes of base clusters, groups and their intersections,

    loss_i = [ a Σ_c f(n_c) + (2 - a) Σ_k f(n_k) - 2 Σ_ck f(n_ck) ] / s_i,  s_i = N_i or N_i²,

over the N_i samples that partition i labels. The expected loss is the mean over the partitions,
weighted by N_i.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

__all__ = ["AdjustedRandLoss", "CountLoss", "Loss", "Sizes"]

_EQUAL = 1e-12  # share of the pairs; smaller differences are rounding

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Sizes:
    """Sizes of the base clusters, their partitions, and the weight each partition labels."""

    clusters: Array
    partition_of: NDArray[np.int64]
    labeled: Array

    def by_partition(self, values: Array) -> Array:
        """Sum values of base clusters over every partition."""
        sums = np.bincount(self.partition_of, values, minlength=len(self.labeled))
        return sums.astype(np.float64, copy=False)


class Loss(Protocol):
    """An expected loss, and the costs of adding rows to groups."""

    def value(self, joint: Array, totals: Array) -> float:
        """Return the expected loss of all groups."""

    def prepare(self, joint: Array, totals: Array) -> None:
        """Read what the costs need of the state."""

    def shift(self, joint: Array, totals: Array, r: Array) -> None:
        """Follow a change by r of the counts of one row and one group, each of shape (m,)."""

    def costs(self, joint: Array, totals: Array, r: Array, own: Array | None) -> Array:
        """Return the loss, up to a constant of the row, after adding rows to each of the groups.

        Parameters
        ----------
        joint, totals : arrays of shape (n, m, K)
            Counts of the base clusters of each row, and of all labeled rows, without the row.
        r : array of shape (n, m)
            Weight of the row in every partition, 0 where its label is missing.
        own : array of shape (2, n, m) or None
            Counts `joint` and `totals` of the group that each row was removed from.
        """


class CountLoss:
    """Variation of information or Binder's loss."""

    def __init__(self, sizes: Sizes, loss: str, a: float) -> None:
        self.sizes, self.b = sizes, 2.0 - a
        self.is_binder = loss == "binder"
        share = sizes.labeled / sizes.labeled.sum()
        self.scale = share / (sizes.labeled**2 if self.is_binder else sizes.labeled)
        self.fixed = a * float(self.scale @ sizes.by_partition(self._f(sizes.clusters)))

    def _f(self, x: Array) -> Array:
        return np.square(x) if self.is_binder else xlogy(x, x) / np.log(2.0)

    def value(self, joint: Array, totals: Array) -> float:
        together = self.sizes.by_partition(self._f(joint).sum(axis=1))
        groups = self._f(totals).sum(axis=1)
        loss = self.fixed + float(self.scale @ (self.b * groups - 2.0 * together))
        return max(loss, 0.0)  # rounding errors may be negative

    def prepare(self, joint: Array, totals: Array) -> None:
        """Nothing: the costs depend on the counts of the row alone."""

    def shift(self, joint: Array, totals: Array, r: Array) -> None:
        """Nothing, as for `prepare`."""

    def costs(self, joint: Array, totals: Array, r: Array, own: Array | None) -> Array:
        r = r[..., None]
        if self.is_binder:
            # f(x + r) - f(x) without the square of r, which all groups share
            increase = (2.0 * r) * (self.b * totals - 2.0 * joint)
        else:
            increase = self.b * (self._f(totals + r) - self._f(totals))
            increase -= 2.0 * (self._f(joint + r) - self._f(joint))
        return np.asarray(self.scale @ increase)


class AdjustedRandLoss:
    """One minus the adjusted Rand index."""

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes
        self.share = sizes.labeled / sizes.labeled.sum()
        n = sizes.labeled
        self.by_clusters = sizes.by_partition(np.square(sizes.clusters)) - n
        self.pairs = n**2 - n
        self.both = self.by_groups = np.zeros(len(n))

    def value(self, joint: Array, totals: Array) -> float:
        self.prepare(joint, totals)
        loss = self._loss(self.both[:, None], self.by_groups[:, None])
        return float(self.share @ loss[:, 0])

    def prepare(self, joint: Array, totals: Array) -> None:
        itself = totals.sum(axis=1)
        self.both = self.sizes.by_partition(np.square(joint).sum(axis=1)) - itself
        self.by_groups = np.square(totals).sum(axis=1) - itself

    def shift(self, joint: Array, totals: Array, r: Array) -> None:
        self.both = self.both + r * (2.0 * joint + r) - r
        self.by_groups = self.by_groups + r * (2.0 * totals + r) - r

    def _loss(self, both: Array, by_groups: Array) -> Array:
        """Return the loss of partitions, with entries of shape (m, 1) or (n, m, K)."""
        by_clusters, pairs = self.by_clusters[:, None], np.maximum(self.pairs, 1.0)[:, None]
        expected = by_clusters * by_groups / pairs
        largest = (by_clusters + by_groups) / 2.0
        # no pair is joined by either partition, or all are: the partitions are equal
        is_equal = largest - expected <= _EQUAL * np.maximum(largest, 1.0)
        index = (both - expected) / np.where(is_equal, 1.0, largest - expected)
        return np.where(is_equal, 0.0, 1.0 - index)

    def costs(self, joint: Array, totals: Array, r: Array, own: Array | None) -> Array:
        both, by_groups = self.both[None, :, None], self.by_groups[None, :, None]
        if own is None:
            pairs_in_row = (r * (r - 1.0))[..., None]
            both, by_groups = both + pairs_in_row, by_groups + pairs_in_row
        else:  # the state contains the rows: take their pairs with others of the group away
            removed = (2.0 * own * r)[..., None]
            both, by_groups = both - removed[0], by_groups - removed[1]
        r = 2.0 * r[..., None]
        return np.asarray(self.share @ self._loss(both + r * joint, by_groups + r * totals))
