"""Order label rows independently of the names of labels and of the order of rows and columns.

The table is a graph of rows, clusters and partitions. Color refinement distinguishes rows by their
neighbors. Where it cannot, one row is individualized (gets a color of its own) and the refinement
continues, as in canonical labeling of graphs. Rows that still tie at the end can be exchanged
without changing the table, so their order does not matter.
"""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _kernels
from partita._threads import run_shares

__all__ = ["canonical_order"]

_EFFORT = 30_000_000  # labels read, about 0.2 s; beyond it, first appearance breaks the ties
_ROUNDS = (3, 16)  # least and largest number of rounds of a refinement

_OPERATIONS = 100  # elementary operations per label: several rounds

Colors = NDArray[np.uint64]


def canonical_order(
    codes: NDArray[np.unsignedinteger],
    missing_code: int,
    offsets: NDArray[np.int64],
    weights: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Return the indices of the rows of `codes`, all distinct, in canonical order.

    Take two tables that differ in the order of rows and columns, the names of labels and a factor
    of the weights. If their rows are put in this order, their labels numbered by appearance and
    their columns sorted, the tables are equal. O(n m) unless many rows tie.

    Parameters
    ----------
    codes : array of shape (n, m)
        Codes of the labels.
    missing_code : int
        The code of a missing label.
    offsets : array of shape (m + 1,)
        Index of the first base cluster of each partition, and their number at the end.
    weights : array of shape (n,)
        Positive weights of the rows.
    """
    refinement = _Refinement(codes, missing_code, offsets)
    colors = refinement.refine(_weight_colors(weights))
    order = np.argsort(colors)
    if (colors[order[1:]] != colors[order[:-1]]).all():
        return order
    refinement.find_twins(colors)
    return np.argsort(refinement.break_ties(colors), kind="stable")


class _Refinement:
    """Color refinement of one table, and a count of the work done.

    The limit of the work depends only on quantities that are the same for every order of the rows.
    """

    def __init__(
        self, codes: NDArray[np.unsignedinteger], missing_code: int, offsets: NDArray[np.int64]
    ) -> None:
        self.codes, self.missing_code, self.offsets = codes, missing_code, offsets
        self.effort = self.n_refinements = self.frontier = 0
        self.round_effort = codes.size + 3 * len(codes) + 3000  # a pass, a sort, the calls
        self.rounds = int(np.clip(_EFFORT // self.round_effort, *_ROUNDS))
        self.twins = self.representatives = np.arange(len(codes))

    def affords(self, n_refinements: int) -> bool:
        """Return whether the effort allows that many more, each of the mean cost so far."""
        return self.effort * (1 + n_refinements / self.n_refinements) <= _EFFORT

    def refine(self, colors: Colors) -> Colors:
        """Refine until a round distinguishes no more rows.

        One more round is needed even when all rows differ: only then do the colors depend on how
        all rows are connected.
        """
        self.n_refinements += 1
        colors = colors.copy()
        of_cluster = np.empty(self.offsets[-1], np.uint64)
        n_colors = _count_distinct(colors)
        for _ in range(self.rounds):
            n_before = n_colors
            self.effort += self.round_effort
            self._round(colors, of_cluster)
            if n_before < len(colors):
                n_colors = _count_distinct(colors)
            if n_colors == n_before:
                break
        return colors

    def _round(self, colors: Colors, of_cluster: Colors) -> None:
        """Run one round in place: from rows to clusters and back."""
        n, m = self.codes.shape
        missing_code = self.codes.dtype.type(self.missing_code)
        table = self.codes, missing_code, self.offsets.astype(np.uint32)
        gather = _kernels.rows.gather_colors.at(_OPERATIONS * self.codes.size)
        spread = _kernels.rows.spread_colors.at(_OPERATIONS * self.codes.size)
        run_shares(
            lambda first, last: gather(*table, colors, first, last, of_cluster),
            m,
            self.codes.size,
        )
        run_shares(
            lambda start, stop: spread(*table, of_cluster, start, stop, colors),
            n,
            self.codes.size,
        )

    def find_twins(self, colors: Colors) -> None:
        """Find twins: rows that, in every partition, agree or are each alone in their cluster.

        Twins can be exchanged and never differ in color. There may be many, so they are not
        individualized one by one. `twins` is the class of each row, `representatives` has one row
        of every class.
        """
        _, color, counts = np.unique(colors, return_inverse=True, return_counts=True)
        tied = np.flatnonzero(counts[color] > 1)
        size = np.zeros(self.offsets[-1])
        missing_code = self.codes.dtype.type(self.missing_code)
        offsets = self.offsets.astype(np.int32)
        add_up = _kernels.contingency.cluster_sums.at(_OPERATIONS * self.codes.size)
        ones = np.ones(len(colors))
        add_up(self.codes, missing_code, offsets, ones, 0, self.codes.shape[1], size)
        is_labeled = self.codes[tied] != self.missing_code
        cluster = np.where(is_labeled, self.codes[tied] + self.offsets[:-1], -1)
        cluster[is_labeled & (size[cluster] == 1)] = -2
        description = np.column_stack([color[tied], cluster])
        _, first, twin = np.unique(description, axis=0, return_index=True, return_inverse=True)
        self.twins[tied] = tied[first][twin.reshape(-1)]
        self.representatives = np.unique(self.twins)

    def smallest_tie(self, colors: Colors) -> NDArray[np.int64]:
        """Return the smallest set of rows that share a color without being twins, or no row."""
        self.effort += 2 * self.round_effort
        values, counts = np.unique(colors[self.representatives], return_counts=True)
        is_tied = counts > 1
        if not is_tied.any():
            return self.representatives[:0]
        smallest = values[is_tied][np.argmin(counts[is_tied])]
        return self.representatives[colors[self.representatives] == smallest]

    def break_ties(self, colors: Colors) -> Colors:
        """Individualize one row after the other until only twins tie, or the effort is spent."""
        while len(tie := self.smallest_tie(colors)) and self.affords(len(tie)):
            colors = self._individualize_one(colors, tie)
        return colors

    def _individualize_one(self, colors: Colors, tie: NDArray[np.int64]) -> Colors:
        """Return the colors after one row of the tie is individualized.

        The row is chosen by the resulting colors, if necessary after more rows are individualized
        in turn. Rows whose results are equal as far as the effort allows to look ahead count as
        exchangeable.
        """
        outcomes = [self._individualize(colors, row) for row in tie]
        n_steps = 0
        for depth in count():
            self.frontier = 0
            fingerprints = [self._fingerprint(outcome, depth) for outcome in outcomes]
            least = min(fingerprints)
            outcomes = [o for o, f in zip(outcomes, fingerprints, strict=True) if f == least]
            n_steps += self.frontier  # cost of the next depth, which starts anew
            if len(outcomes) == 1 or self.frontier == 0 or not self.affords(n_steps):
                break
        return outcomes[0]

    def _individualize(self, colors: Colors, row: int) -> Colors:
        return self.refine(np.where(self.twins == self.twins[row], ~colors, colors))

    def _fingerprint(self, colors: Colors, depth: int) -> tuple[int, list[Any]]:
        """Return fingerprints of the colors and of all their outcomes up to `depth` steps ahead."""
        tie = self.smallest_tie(colors)
        ahead: list[Any] = []
        if depth:
            outcomes = (self._individualize(colors, row) for row in tie)
            ahead = sorted(self._fingerprint(outcome, depth - 1) for outcome in outcomes)
        else:
            self.frontier += len(tie)
        return int(colors.sum()), ahead


def _count_distinct(colors: Colors) -> int:
    in_order = np.sort(colors)
    return 1 + int(np.count_nonzero(in_order[1:] != in_order[:-1]))


def _weight_colors(weights: NDArray[np.float64]) -> Colors:
    """Return equal numbers for weights that are equal up to rounding and a common factor."""
    bits = np.ascontiguousarray(weights / weights.max()).view(np.uint64)
    return (bits + np.uint64(1 << 11)) >> np.uint64(12)
