"""`ConfidenceDisplay`: how sure the ensemble is of the members of every cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from partita.diagnostics import Diagnosis, diagnose
from partita.plotting._display import Display
from partita.plotting._names import cluster_names
from partita.plotting._style import ACCENT, INK, MUTED, QUIET, new_figure, plain_text, quiet_axes

__all__ = ["ConfidenceDisplay"]

_LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
_MOST = 30  # clusters that one picture can name
_DOUBTFUL = 0.5


class ConfidenceDisplay(Display):
    """Spread of the confidence (item consensus) inside every cluster, most certain first.

    Thin line: 5 % to 95 % of the members; box: 25 % to 75 %; mark: the median. Left of one half,
    the partitions part a sample from its cluster more often than they join them.

    Parameters
    ----------
    clusters : sequence
        Names.
    sizes : array of shape (n_clusters,)
    quantiles : array of shape (n_clusters, 5)
        Of the confidence at 5, 25, 50, 75 and 95 %; NaN for a cluster of one.

    Examples
    --------
    >>> from partita.plotting import ConfidenceDisplay
    >>> display = ConfidenceDisplay.from_partitions([[0, 0, 1, 1], [0, 0, 0, 1]], [0, 0, 1, 1])
    >>> display.quantiles[:, 2]
    array([1. , 0.5])
    """

    def __init__(self, clusters: Sequence[Any], sizes: ArrayLike, quantiles: ArrayLike) -> None:
        self.clusters = list(clusters)
        self.sizes = np.asarray(sizes, np.float64)
        self.quantiles = np.asarray(quantiles, np.float64)

    @classmethod
    def from_partitions(cls, X: Any, labels: Any) -> Self:
        """From base partitions and a consensus of them; see `diagnose`."""
        return cls.from_diagnosis(diagnose(X, labels), clusters=cluster_names(labels))

    @classmethod
    def from_diagnosis(cls, diagnosis: Diagnosis, *, clusters: Sequence[Any] | None = None) -> Self:
        """From what `diagnose` found; `clusters` gives names in place of 0, 1, ..."""
        quantiles = np.full((diagnosis.n_clusters, len(_LEVELS)), np.nan)
        known = np.isfinite(diagnosis.confidence)
        for k in range(diagnosis.n_clusters):
            own = diagnosis.confidence[known & (diagnosis.labels == k)]
            if len(own):
                quantiles[k] = np.quantile(own, _LEVELS)
        names = range(diagnosis.n_clusters) if clusters is None else clusters
        return cls(list(names), diagnosis.sizes, quantiles)

    def plot(self, ax: Any = None) -> Self:
        """Draw, into a new figure where no `ax` is given."""
        order = np.argsort(-self.quantiles[:, 2], kind="stable")
        order = order[np.isfinite(self.quantiles[order, 2])]
        shown = order[-_MOST:]  # the least certain, if not all
        if ax is None:
            ax = new_figure(6.2, 1.0 + 0.3 * max(len(shown), 2)).add_subplot()
        self.ax_, self.figure_ = ax, ax.figure
        places = np.arange(len(shown))
        low, first, middle, third, high = self.quantiles[shown].T
        ax.axvspan(0, _DOUBTFUL, color=QUIET, alpha=0.35, lw=0)
        ax.hlines(places, low, high, color=MUTED, lw=1.2)
        ax.barh(places, third - first, left=first, height=0.55, color=QUIET, edgecolor=MUTED, lw=1)
        ax.plot(middle, places, "D", color=ACCENT, ms=5, mec=INK, mew=0.6)
        ax.set_yticks(places, [plain_text(self.clusters[k]) for k in shown])
        ax.set_ylim(len(shown) - 0.4, -0.6)
        ax.set_xlim(0, 1.02)
        for place, k in zip(places, shown, strict=True):
            ax.annotate(
                f"{self.sizes[k]:,.6g}",
                (1.02, place),
                (6, 0),
                textcoords="offset points",
                va="center",
                fontsize=8,
                color=MUTED,
                annotation_clip=False,
            )
        ax.set_ylabel("consensus cluster", fontsize=9, color=MUTED)
        ax.set_xlabel(self._caption(len(order) - len(shown)), fontsize=8, color=MUTED)
        ax.set_title("Confidence of the members", loc="left", fontsize=11, color=INK)
        quiet_axes(ax, grid="x")
        return self

    def _caption(self, n_above: int) -> str:
        parts = ["mean share of partitions that join a sample with its cluster  ·  right: samples"]
        if n_above:
            parts.append(f"{n_above} more certain clusters not shown")
        alone = int(np.isnan(self.quantiles[:, 2]).sum())
        if alone:
            parts.append(f"{alone} clusters of one sample have no confidence")
        return "\n".join(parts)
