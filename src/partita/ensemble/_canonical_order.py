"""An order of label rows that knows neither the names of labels nor the order of rows or columns.

The table is seen as a graph of rows, clusters and partitions. Color refinement tells rows apart by
what they are connected to; where it cannot, one row is singled out and the refinement goes on from
there, the way graphs are brought to a canonical form. Rows that tie to the end can be exchanged
without changing the table, and then it does not matter which comes first.
"""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._threads import run_shares

__all__ = ["canonical_order"]

_EFFORT = 30_000_000  # labels read before first appearance decides what is left, about 0.2 s
_ROUNDS = (3, 16)  # of refinement, at least and at most, as many as the effort allows

Colors = NDArray[np.uint64]


def canonical_order(
    labels: NDArray[np.unsignedinteger],
    missing: int,
    offsets: NDArray[np.int64],
    weights: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Positions of the rows of `labels`, all distinct, in canonical order.

    Two tables that differ by the order of rows and columns, the names of labels and a factor of
    the weights are the same table when their rows are put in this order, their labels numbered by
    appearance and their columns sorted. O(n m) unless many rows tie.
    """
    refinement = _Refinement(labels, missing, offsets)
    colors = refinement.refined(_weight_colors(weights))
    order = np.argsort(colors)
    if (colors[order[1:]] != colors[order[:-1]]).all():
        return order
    refinement.find_twins(colors)
    return np.argsort(refinement.without_ties(colors), kind="stable")


class _Refinement:
    """Color refinement of one table, and the work it has been so far.

    Whether more work is done depends only on what any order of the same rows would have met.
    """

    def __init__(
        self, labels: NDArray[np.unsignedinteger], missing: int, offsets: NDArray[np.int64]
    ) -> None:
        self.labels, self.missing, self.offsets = labels, missing, offsets
        self.effort = self.n_refinements = self.frontier = 0
        self.round_effort = labels.size + 3 * len(labels) + 3000  # a pass, a sort, the calls
        self.rounds = int(np.clip(_EFFORT // self.round_effort, *_ROUNDS))
        self.twins = self.members = np.arange(len(labels))

    def affords(self, n_refinements: int) -> bool:
        """Whether that many are within the effort, if they take what they have taken so far."""
        return self.effort * (1 + n_refinements / self.n_refinements) <= _EFFORT

    def refined(self, colors: Colors) -> Colors:
        """Refine until a round tells no more rows apart, not even when all are: colors that differ
        by one round less would not yet show how the rows are connected."""
        self.n_refinements += 1
        colors = colors.copy()
        of_cluster = np.empty(self.offsets[-1], np.uint64)
        n_colors = _count_distinct(colors)
        for _ in range(self.rounds):
            before = n_colors
            self.effort += self.round_effort
            self._round(colors, of_cluster)
            if before < len(colors):
                n_colors = _count_distinct(colors)
            if n_colors == before:
                break
        return colors

    def _round(self, colors: Colors, of_cluster: Colors) -> None:
        """One round of refinement, in place: from rows to clusters and back."""
        n, m = self.labels.shape
        code = self.labels.dtype.type(self.missing)
        table = self.labels, code, self.offsets.astype(np.uint32)
        kernels = _kernels.rows
        run_shares(
            lambda first, last: kernels.gather_colors(*table, colors, first, last, of_cluster),
            m,
            self.labels.size,
        )
        run_shares(
            lambda start, stop: kernels.spread_colors(*table, of_cluster, start, stop, colors),
            n,
            self.labels.size,
        )

    def find_twins(self, colors: Colors) -> None:
        """Find rows that agree in every partition or are alone in their clusters there.

        They can be exchanged and share a color for good; there may be many of them, and singling
        them out one by one would be wasted. `twins` holds a class per row, `members` a row of
        every class.
        """
        _, color, counts = np.unique(colors, return_inverse=True, return_counts=True)
        tied = np.flatnonzero(counts[color] > 1)
        size = np.zeros(self.offsets[-1])
        code, offsets = self.labels.dtype.type(self.missing), self.offsets.astype(np.int32)
        _kernels.contingency.cluster_sums(
            self.labels, code, offsets, np.ones(len(colors)), 0, self.labels.shape[1], size
        )
        labeled = self.labels[tied] != self.missing
        cluster = np.where(labeled, self.labels[tied] + self.offsets[:-1], -1)
        cluster[labeled & (size[cluster] == 1)] = -2
        described = np.column_stack([color[tied], cluster])
        _, first, alike = np.unique(described, axis=0, return_index=True, return_inverse=True)
        self.twins[tied] = tied[first][alike.reshape(-1)]
        self.members = np.unique(self.twins)

    def smallest_tie(self, colors: Colors) -> NDArray[np.int64]:
        """The fewest rows that share a color without being twins; none if all differ."""
        self.effort += 2 * self.round_effort
        values, counts = np.unique(colors[self.members], return_counts=True)
        tied = counts > 1
        if not tied.any():
            return self.members[:0]
        smallest = values[tied][np.argmin(counts[tied])]
        return self.members[colors[self.members] == smallest]

    def without_ties(self, colors: Colors) -> Colors:
        """Single out one row after the other until only twins tie, or the effort is spent."""
        while len(tie := self.smallest_tie(colors)) and self.affords(len(tie)):
            colors = self.single_one_out(colors, tie)
        return colors

    def single_one_out(self, colors: Colors, tie: NDArray[np.int64]) -> Colors:
        """The colors once one row of the tie has a color of its own.

        Which row shows in what becomes of all colors, now or after singling out more rows. Rows
        that lead to the same as far as can be foreseen are taken to be exchangeable.
        """
        outcomes = [self._without(colors, row) for row in tie]
        n_steps = 0
        for depth in count():
            self.frontier = 0
            views = [self._view(outcome, depth) for outcome in outcomes]
            least = min(views)
            outcomes = [o for o, view in zip(outcomes, views, strict=True) if view == least]
            n_steps += self.frontier  # of the next depth, which starts anew
            if len(outcomes) == 1 or self.frontier == 0 or not self.affords(n_steps):
                break
        return outcomes[0]

    def _without(self, colors: Colors, row: int) -> Colors:
        return self.refined(np.where(self.twins == self.twins[row], ~colors, colors))

    def _view(self, colors: Colors, depth: int) -> tuple[int, list[Any]]:
        """Fingerprints of the colors and, `depth` steps ahead, of what can become of them."""
        tie = self.smallest_tie(colors)
        ahead: list[Any] = []
        if depth:
            ahead = sorted(self._view(self._without(colors, row), depth - 1) for row in tie)
        else:
            self.frontier += len(tie)
        return int(colors.sum()), ahead


def _count_distinct(colors: Colors) -> int:
    in_order = np.sort(colors)
    return 1 + int(np.count_nonzero(in_order[1:] != in_order[:-1]))


def _weight_colors(weights: NDArray[np.float64]) -> Colors:
    """Equal numbers for weights equal but for rounding, whatever their unit."""
    bits = np.ascontiguousarray(weights / weights.max()).view(np.uint64)
    return (bits + np.uint64(1 << 11)) >> np.uint64(12)
