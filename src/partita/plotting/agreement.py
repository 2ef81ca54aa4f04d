"""`AgreementDisplay`: which base partitions say the same, which stand alone."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from partita.diagnostics import Diagnosis, diagnose
from partita.ensemble import as_ensemble
from partita.plotting._display import Display
from partita.plotting._style import ACCENT, INK, MUTED, blues, new_figure, plain_text

__all__ = ["AgreementDisplay"]

_MOST_NAMED = 40


class AgreementDisplay(Display):
    """NMI between all base partitions, similar ones side by side.

    Partitions that are one and the same result are framed together; a triangle on the right marks
    a bad run, whose agreement with the consensus is far below the others'.

    Parameters
    ----------
    pairwise : array of shape (n_partitions, n_partitions)
        NMI, in the order it is drawn in.
    names : sequence
    agreement : array of shape (n_partitions,)
        NMI of every partition with the consensus.
    redundancy : array of shape (n_partitions,)
        Partitions with the same number are the same result.
    bad_runs : array of shape (n_partitions,), bool
    n_left_out : int
        Partitions that the picture leaves out.

    Attributes
    ----------
    im_, colorbar_ : the image and its color bar

    Examples
    --------
    >>> from partita.plotting import AgreementDisplay
    >>> partitions = [[0, 0, 1, 1], [0, 1, 0, 1], [5, 5, 6, 6]]
    >>> AgreementDisplay.from_partitions(partitions, [0, 0, 1, 1]).names
    [0, 2, 1]
    """

    im_: Any
    colorbar_: Any

    def __init__(
        self,
        pairwise: ArrayLike,
        names: Sequence[Any],
        agreement: ArrayLike,
        redundancy: ArrayLike,
        bad_runs: ArrayLike,
        n_left_out: int = 0,
    ) -> None:
        self.pairwise = np.asarray(pairwise, np.float64)
        self.names = list(names)
        self.agreement = np.asarray(agreement, np.float64)
        self.redundancy = np.asarray(redundancy, np.int64)
        self.bad_runs = np.asarray(bad_runs, bool)
        self.n_left_out = n_left_out

    @classmethod
    def from_partitions(cls, X: Any, labels: Any) -> Self:
        """From base partitions and a consensus of them; see `diagnose`.

        Columns of a data frame and partitions of an `Ensemble` keep their names.
        """
        ensemble = as_ensemble(X)
        names = ensemble.partition_names
        return cls.from_diagnosis(
            diagnose(ensemble, labels), names=None if names is None else names.tolist()
        )

    @classmethod
    def from_diagnosis(
        cls, diagnosis: Diagnosis, *, names: Sequence[Any] | None = None, limit: int = 400
    ) -> Self:
        """From what `diagnose` found.

        Parameters
        ----------
        diagnosis : Diagnosis
        names : sequence, optional
            Names of the partitions in place of 0, 1, ...
        limit : int
            Of more partitions than this, bad runs and an even choice of the others are kept.
        """
        m = len(diagnosis.agreement)
        names = list(range(m)) if names is None else list(names)
        order = _ordered(diagnosis.pairwise, diagnosis.redundancy)
        kept = _thinned(order, diagnosis.bad_runs, limit)
        return cls(
            diagnosis.pairwise[np.ix_(kept, kept)],
            [names[i] for i in kept],
            diagnosis.agreement[kept],
            diagnosis.redundancy[kept],
            diagnosis.bad_runs[kept],
            m - len(kept),
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw, into a new figure where no `ax` is given."""
        if ax is None:
            ax = new_figure(6.6, 5.0).add_subplot()
        n = len(self.names)
        self.ax_, self.figure_ = ax, ax.figure
        self.im_ = ax.imshow(
            self.pairwise, cmap=blues(), vmin=0, vmax=1, interpolation="nearest", aspect="equal"
        )
        self._frame_repeats(ax)
        bad = np.flatnonzero(self.bad_runs)
        ax.plot(
            np.full(len(bad), n - 0.5 + 0.025 * n),
            bad,
            "<",
            color=ACCENT,
            mec=INK,
            mew=0.5,
            ms=7,
            clip_on=False,
        )
        ax.set_xlim(-0.5, n - 0.5)
        ax.set_ylim(n - 0.5, -0.5)
        ax.set_xticks([])
        few = n <= _MOST_NAMED
        ax.set_yticks(range(n) if few else [], map(plain_text, self.names) if few else [])
        ax.tick_params(length=0, labelsize=8 if n <= 25 else 6.5, labelcolor=INK)
        ax.set_title("Agreement of the base partitions", loc="left", fontsize=11, color=INK)
        ax.set_xlabel(self._caption(), fontsize=8, color=MUTED)
        for spine in ax.spines.values():
            spine.set(color=MUTED, linewidth=0.8)
        self.colorbar_ = ax.figure.colorbar(self.im_, ax=ax, shrink=0.6, aspect=24, pad=0.05)
        self.colorbar_.set_label("NMI of two partitions", fontsize=8, color=MUTED)
        self.colorbar_.ax.tick_params(labelsize=8, labelcolor=MUTED, length=0)
        self.colorbar_.outline.set_visible(False)
        return self

    def _frame_repeats(self, ax: Any) -> None:
        start = 0
        for _, members in groupby(self.redundancy):
            size = len(list(members))
            if size > 1:
                ends = start - 0.5, start + size - 0.5
                x = [ends[0], ends[1], ends[1], ends[0], ends[0]]
                y = [ends[0], ends[0], ends[1], ends[1], ends[0]]
                ax.plot(x, y, color=ACCENT, lw=1.8, clip_on=False)
            start += size

    def _caption(self) -> str:
        parts = []
        sizes = np.bincount(self.redundancy)
        if np.any(sizes > 1):
            parts.append(f"framed: the same result ({int(np.count_nonzero(sizes > 1))} groups)")
        if self.bad_runs.any():
            parts.append(f"triangle: bad run ({int(self.bad_runs.sum())})")
        if self.n_left_out:
            parts.append(f"{self.n_left_out} partitions left out")
        return "  ·  ".join(parts) or "no repeated partitions, no bad runs"


def _ordered(pairwise: NDArray[np.float64], redundancy: NDArray[np.int64]) -> NDArray[np.int64]:
    """Similar partitions side by side, equal ones in one piece."""
    groups, first = np.unique(redundancy, return_index=True)
    if len(groups) > 2:
        distance = np.clip(1.0 - pairwise[np.ix_(first, first)], 0.0, None)
        np.fill_diagonal(distance, 0.0)
        groups = groups[leaves_list(linkage(squareform(distance, checks=False), "average"))]
    return np.concatenate([np.flatnonzero(redundancy == group) for group in groups])


def _thinned(
    order: NDArray[np.int64], bad_runs: NDArray[np.bool_], limit: int
) -> NDArray[np.int64]:
    if len(order) <= limit:
        return order
    good = np.flatnonzero(~bad_runs[order])
    bad = np.flatnonzero(bad_runs[order])[:limit]
    chosen = good[np.linspace(0, len(good) - 1, limit - len(bad)).astype(np.int64)]
    return order[np.sort(np.concatenate([chosen, bad]))]
