"""Greedy search for the clustering of weighted rows with the least expected loss."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from partita.ensemble import Ensemble
from partita.solvers.partition_losses import AdjustedRandLoss, CountLoss, Loss, Sizes

__all__ = ["PartitionSearch"]

_GAIN = 1e-12  # smaller decreases of the loss are rounding
_CELLS = 1 << 17  # counts that are read at once

Array = NDArray[np.float64]
Labels = NDArray[np.int64]


class PartitionSearch:
    """Groups of rows, their counts against an ensemble, and moves that lower the expected loss.

    Parameters
    ----------
    ensemble : Ensemble
        Partitions of weighted rows.
    loss : {"vi", "binder", "omari"}
        The loss.
    a : float
        Cost of separating a pair that a partition joins; 2 - a of joining one that it separates.
    max_groups : int
        Largest number of groups.
    exact : bool
        Whether a clustering must have exactly `max_groups` groups.
    """

    def __init__(
        self, ensemble: Ensemble, loss: str, a: float, max_groups: int, *, exact: bool
    ) -> None:
        n, m = ensemble.codes.shape
        length = ensemble.n_base_clusters
        self.max_groups, self.exact = max_groups, exact
        # the adjusted Rand index counts pairs of different samples: no sample below weight 1
        self.r = ensemble.weights / min(1.0, float(ensemble.weights.min()))
        observed = ensemble.observed
        self.row_weights = self.r[:, None] * observed
        clusters = ensemble.codes.astype(np.int64) + ensemble.offsets[:-1]
        self.clusters = np.where(observed, clusters, length)  # the last row of `joint` is empty
        self.sizes = Sizes(
            _sums(self.clusters.ravel(), self.row_weights, (1, length + 1))[0, :length],
            np.repeat(np.arange(m), ensemble.n_clusters),
            self.row_weights.sum(axis=0),
        )
        self.loss: Loss = (
            AdjustedRandLoss(self.sizes) if loss == "omari" else CountLoss(self.sizes, loss, a)
        )
        self.set_groups(np.full(n, -1))

    # -- state -------------------------------------------------------------------------------

    def set_groups(self, groups: Labels) -> None:
        """Count again; -1 is a row in no group."""
        n_cells, k = len(self.sizes.clusters) + 1, self.max_groups
        self.groups = groups.astype(np.int64, copy=True)
        rows = np.flatnonzero(groups >= 0)
        own = self.groups[rows, None]
        weights = self.row_weights[rows]
        cells = (self.clusters[rows] * k + own).ravel()
        self.joint = _sums(cells, weights, (n_cells, k))
        m = weights.shape[1]
        cells = (np.arange(m) * k + own).ravel()
        self.totals = _sums(cells, weights, (m, k))
        self.n_rows = np.bincount(self.groups[rows], minlength=k)
        self.loss.prepare(self.joint[:-1], self.totals)

    @property
    def n_groups(self) -> int:
        """Number of groups with a row."""
        return int(np.count_nonzero(self.n_rows))

    @property
    def value(self) -> float:
        """Expected loss."""
        return self.loss.value(self.joint[:-1], self.totals)

    def _add(self, row: int, group: int, sign: float) -> None:
        weights = sign * self.row_weights[row]
        self.loss.shift(self.joint[self.clusters[row], group], self.totals[:, group], weights)
        # a difference of very unequal weights may fall below zero
        counts = np.maximum(self.joint[self.clusters[row], group] + weights, 0.0)
        self.joint[self.clusters[row], group] = counts
        self.totals[:, group] = np.maximum(self.totals[:, group] + weights, 0.0)
        self.n_rows[group] += int(sign)
        if self.n_rows[group] == 0:  # remove rounding errors
            self.joint[:, group] = self.totals[:, group] = 0.0

    def _open_groups(self) -> int:
        """Return how many groups to compare: all in use and, if allowed, an empty one."""
        used = np.flatnonzero(self.n_rows)
        return min(self.max_groups, int(used[-1]) + 2 if len(used) else 1)

    # -- moves -------------------------------------------------------------------------------

    def _row_costs(self, row: int) -> Array:
        """Return the costs of a row that is in no group."""
        k = self._open_groups()
        joint, r = self.joint[self.clusters[row], :k], self.row_weights[row]
        return self.loss.costs(joint[None], self.totals[None, :, :k], r[None], None)[0]

    def allocate(self, rows: Iterable[int]) -> None:
        """Add rows in no group one by one, each to the group with the least cost."""
        for row in rows:
            self.groups[row] = group = int(np.argmin(self._row_costs(row)))
            self._add(row, group, 1.0)

    def _gains(self) -> tuple[Array, Array]:
        """Return the decrease of the loss by each row's best move, and by a group of its own."""
        n, m = self.clusters.shape
        k = self._open_groups()
        best, alone = np.empty(n), np.full(n, -np.inf)
        empty = np.flatnonzero(self.n_rows[:k] == 0)
        step = max(1, _CELLS // (m * k))
        for start in range(0, n, step):
            rows = np.arange(start, min(start + step, n))
            own, r = self.groups[rows], self.row_weights[rows]
            joint = self.joint[self.clusters[rows], :k]
            totals = np.broadcast_to(self.totals[:, :k], joint.shape).copy()
            at = (np.arange(len(rows)), slice(None), own)
            for counts in (joint, totals):
                counts[at] = np.maximum(counts[at] - r, 0.0)
            costs = self.loss.costs(joint, totals, r, np.stack([joint[at], totals[at]]))
            stay = costs[np.arange(len(rows)), own]
            best[rows] = stay - costs.min(axis=1)
            if len(empty):
                alone[rows] = stay - costs[:, empty[0]]
        return best, alone

    def sweep(self, order: Labels) -> bool:
        """Move every row to its best group, in an order; return whether a row moved.

        One look at all rows together selects those that gain; only they are looked at again.
        """
        is_candidate = self._gains()[0] > _GAIN
        moved = False
        for row in order[is_candidate[order]]:
            own = int(self.groups[row])
            if self.exact and self.n_rows[own] == 1:
                continue
            self._add(row, own, -1.0)
            costs = self._row_costs(row)
            best = int(np.argmin(costs))
            stay = costs[own] if own < len(costs) else np.inf
            if stay - costs[best] <= _GAIN:
                best = own
            self.groups[row] = best
            self._add(row, best, 1.0)
            moved |= best != own
        return moved

    def dissolve(self, order: Labels) -> bool:
        """Allocate the rows of each group anew, the smallest first, and keep what is better."""
        value, improved = self.value, False
        for group in np.argsort(self.n_rows, kind="stable"):
            before = self.groups.copy()
            rows = order[before[order] == group]
            if len(rows) == 0:
                continue
            self.set_groups(np.where(before == group, -1, before))
            self.allocate(rows)
            is_valid = not self.exact or self.n_groups == self.max_groups
            if is_valid and self.value < value - _GAIN:
                value, improved = self.value, True
            else:
                self.set_groups(before)
        return improved

    def fill(self) -> None:
        """Split off the rows with the least increase of the loss until no group is empty."""
        while self.n_groups < self.max_groups:
            deficit = self.max_groups - self.n_groups
            gains = self._gains()[1]
            for row in np.argsort(-gains, kind="stable"):
                own = int(self.groups[row])
                if self.n_rows[own] == 1:
                    continue
                self._add(row, own, -1.0)
                self.groups[row] = group = int(np.argmin(self.n_rows))
                self._add(row, group, 1.0)
                deficit -= 2
                if deficit <= 0:
                    break

    def descend(self, groups: Labels, order: Labels, max_iter: int) -> tuple[list[float], bool]:
        """Search from given groups; return the loss after each sweep and whether it converged."""
        self.set_groups(groups)
        self.allocate(order[groups[order] < 0])
        if self.exact:
            self.fill()
        self.set_groups(self.groups)  # count again: moves add up rounding errors
        history = [self.value]
        while len(history) <= max_iter:
            moved = self.sweep(order) or self.dissolve(order)
            self.set_groups(self.groups)
            history.append(self.value)
            if not moved:
                return history, True
        return history, False


def _sums(cells: Labels, weights: Array, shape: tuple[int, int]) -> Array:
    """Return a table of the sums of weights by cell."""
    sums = np.bincount(cells, weights.ravel(), shape[0] * shape[1])
    return sums.astype(np.float64, copy=False).reshape(shape)
