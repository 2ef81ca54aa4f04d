"""`AgreementDisplay`: similarity of the base partitions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita.diagnostics import Diagnosis, diagnose
from partita.plotting._display import Display
from partita.plotting.style import ACCENT, INK, MUTED, blues, plain_text
from partita.solvers.linkage import agglomerate

__all__ = ["AgreementDisplay"]

_NAMED_PER_INCH = 6.0  # partitions whose names fit beside an inch of the figure


class AgreementDisplay(Display):
    """NMI between all base partitions, with similar partitions side by side.

    A frame encloses equal partitions. A triangle on the right marks a bad partition, whose
    agreement with the consensus is far below the others'.

    Parameters
    ----------
    pairwise : array of shape (n_partitions, n_partitions)
        NMI between partitions, in the order of the image.
    names : sequence
        Names of the partitions.
    agreement : array of shape (n_partitions,)
        NMI of each partition with the consensus.
    redundancy : array of shape (n_partitions,)
        Number of a group of equal partitions.
    bad_partitions : array of shape (n_partitions,), bool
        Which partitions are bad.
    n_left_out : int, default=0
        Number of partitions that are not in the image.

    Attributes
    ----------
    im_ : matplotlib AxesImage
        The image, after `plot`.
    colorbar_ : matplotlib Colorbar
        Its color bar, after `plot`.

    Examples
    --------
    >>> from partita.plotting import AgreementDisplay
    >>> partitions = [[0, 0, 1, 1], [0, 1, 0, 1], [5, 5, 6, 6]]
    >>> AgreementDisplay.from_labels(partitions, [0, 0, 1, 1]).names
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
        bad_partitions: ArrayLike,
        n_left_out: int = 0,
    ) -> None:
        self.pairwise = np.asarray(pairwise, np.float64)
        self.names = list(names)
        self.agreement = np.asarray(agreement, np.float64)
        self.redundancy = np.asarray(redundancy, np.int64)
        self.bad_partitions = np.asarray(bad_partitions, bool)
        self.n_left_out = n_left_out

    @classmethod
    def from_labels(cls, partitions: Any, labels: Any) -> Self:
        """Diagnose a consensus of base partitions.

        Parameters
        ----------
        partitions : table of labels, data frame, list of label vectors, Ensemble or LabelStore
            The base partitions.
        labels : array-like of shape (n_samples,), or a fitted consensus method
            The consensus. -1, None and NaN are samples without a label.
        """
        return cls.from_diagnosis(diagnose(partitions, labels))

    @classmethod
    def from_diagnosis(
        cls, diagnosis: Diagnosis, *, names: Sequence[Any] | None = None, limit: int = 400
    ) -> Self:
        """Take the values from a diagnosis.

        Parameters
        ----------
        diagnosis : Diagnosis
            Result of `diagnose`.
        names : sequence, optional
            Names of the partitions. By default those of the diagnosis.
        limit : int, default=400
            Largest number of partitions in the image. Of more partitions, the bad ones and a
            regular selection of the others are kept.
        """
        m = len(diagnosis.agreement)
        names = diagnosis.partition_names if names is None else list(names)
        order = _order_by_similarity(diagnosis.pairwise, diagnosis.redundancy)
        kept = _select(order, diagnosis.bad_partitions, limit)
        return cls(
            diagnosis.pairwise[np.ix_(kept, kept)],
            [names[i] for i in kept],
            diagnosis.agreement[kept],
            diagnosis.redundancy[kept],
            diagnosis.bad_partitions[kept],
            m - len(kept),
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw the image; see `Display.plot`."""
        if ax is None:
            ax = self._new_figure(6.6, 5.0, square=True).add_subplot()
        n = len(self.names)
        self.ax_, self.figure_ = ax, ax.figure
        self.im_ = ax.imshow(
            self.pairwise, cmap=blues(), vmin=0, vmax=1, interpolation="nearest", aspect="equal"
        )
        self._frame_equal_partitions(ax)
        bad = np.flatnonzero(self.bad_partitions)
        if len(bad):  # marks without a place would take space in the corner of the figure
            places = np.full(len(bad), n - 0.5 + 0.025 * n)
            ax.plot(places, bad, "<", color=ACCENT, mec=INK, mew=0.5, ms=7, clip_on=False)
        ax.set_xlim(-0.5, n - 0.5)
        ax.set_ylim(n - 0.5, -0.5)
        ax.set_xticks([])
        few = n <= _NAMED_PER_INCH * self._figure_size[1]
        ax.set_yticks(range(n) if few else [], map(plain_text, self.names) if few else [])
        ax.tick_params(length=0, labelsize=8, labelcolor=INK)
        ax.set_title("Agreement of the base partitions", loc="left", fontsize=11, color=INK)
        ax.set_xlabel(self._wrap(self._caption()), fontsize=8, color=MUTED)
        for spine in ax.spines.values():
            spine.set(color=MUTED, linewidth=0.8)
        self.colorbar_ = self._add_color_bar(
            self.im_, "NMI of two partitions", shrink=0.6, pad=0.05
        )
        return self

    def _frame_equal_partitions(self, ax: Any) -> None:
        start = 0
        for _, group in groupby(self.redundancy):
            size = len(list(group))
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
            n_groups = int(np.count_nonzero(sizes > 1))
            parts.append(f"framed: equal partitions ({n_groups} group{'s' * (n_groups > 1)})")
        if self.bad_partitions.any():
            parts.append(f"triangle: bad partition ({int(self.bad_partitions.sum())})")
        if self.n_left_out:
            parts.append(f"{self.n_left_out} partitions left out")
        return "  ·  ".join(parts) or "no equal partitions, no bad partitions"


def _order_by_similarity(
    pairwise: NDArray[np.float64], redundancy: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return an order with similar partitions side by side and equal ones in one piece."""
    groups, first = np.unique(redundancy, return_index=True)
    if len(groups) > 2:
        distance = np.clip(1.0 - pairwise[np.ix_(first, first)], 0.0, None)
        np.fill_diagonal(distance, 0.0)
        groups = groups[agglomerate(distance, overwrite=True).leaves()]
    return np.concatenate([np.flatnonzero(redundancy == group) for group in groups])


def _select(
    order: NDArray[np.int64], bad_partitions: NDArray[np.bool_], limit: int
) -> NDArray[np.int64]:
    """Return at most `limit` partitions of the order: bad ones, and every so many of the others."""
    if len(order) <= limit:
        return order
    good = np.flatnonzero(~bad_partitions[order])
    bad = np.flatnonzero(bad_partitions[order])[:limit]
    regular = good[np.linspace(0, len(good) - 1, limit - len(bad)).astype(np.int64)]
    return order[np.sort(np.concatenate([regular, bad]))]
