"""`ConfidenceDisplay`: confidence of the samples of each cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from partita.diagnostics import Diagnosis, diagnose
from partita.plotting._display import Display
from partita.plotting.style import ACCENT, INK, MUTED, QUIET, plain_text, quiet_axes

__all__ = ["ConfidenceDisplay"]

_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_FEW_CLUSTERS = 12  # of more clusters, the lines are closer
_MOST_CLUSTERS = 30  # clusters with a readable line in one figure


class ConfidenceDisplay(Display):
    """Distribution of the confidence inside each cluster, highest median first.

    Thin line: 5 % to 95 % of the samples; box: 25 % to 75 %; mark: the median. A low
    confidence is no doubt if the partitions have more clusters than the consensus: they then
    separate samples of one cluster. See `Diagnosis.doubtful_samples`.

    Parameters
    ----------
    clusters : sequence
        Names of the clusters.
    sizes : array of shape (n_clusters,)
        Samples in each cluster.
    quantiles : array of shape (n_clusters, 5)
        Confidence at 5, 25, 50, 75 and 95 %; NaN for a cluster of one sample.

    Examples
    --------
    >>> from partita.plotting import ConfidenceDisplay
    >>> display = ConfidenceDisplay.from_labels([[0, 0, 1, 1], [0, 0, 0, 1]], [0, 0, 1, 1])
    >>> display.quantiles[:, 2]
    array([1. , 0.5])
    """

    def __init__(self, clusters: Sequence[Any], sizes: ArrayLike, quantiles: ArrayLike) -> None:
        self.clusters = list(clusters)
        self.sizes = np.asarray(sizes, np.float64)
        self.quantiles = np.asarray(quantiles, np.float64)

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
    def from_diagnosis(cls, diagnosis: Diagnosis, *, clusters: Sequence[Any] | None = None) -> Self:
        """Take the values from a diagnosis.

        Parameters
        ----------
        diagnosis : Diagnosis
            Result of `diagnose`.
        clusters : sequence, optional
            Names of the clusters. By default those of the diagnosis.
        """
        quantiles = np.full((diagnosis.n_clusters, len(_QUANTILES)), np.nan)
        finite = np.isfinite(diagnosis.confidence)
        for k in range(diagnosis.n_clusters):
            own = diagnosis.confidence[finite & (diagnosis.labels == k)]
            if len(own):
                quantiles[k] = np.quantile(own, _QUANTILES)
        names = diagnosis.cluster_names.tolist() if clusters is None else clusters
        return cls(list(names), diagnosis.sizes, quantiles)

    def plot(self, ax: Any = None) -> Self:
        """Draw the distributions; see `Display.plot`."""
        order = np.argsort(-self.quantiles[:, 2], kind="stable")
        order = order[np.isfinite(self.quantiles[order, 2])]
        shown = order[-_MOST_CLUSTERS:]  # of more clusters, those with the lowest confidence
        if ax is None:
            ax = self._new_figure(
                6.2, 1.0 + _row_height(len(shown)) * max(len(shown), 2)
            ).add_subplot()
        self.ax_, self.figure_ = ax, ax.figure
        places = np.arange(len(shown))
        low, first, middle, third, high = self.quantiles[shown].T
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
        ax.set_xlabel(self._wrap(self._caption(len(order) - len(shown))), fontsize=8, color=MUTED)
        ax.set_title("Confidence of the samples", loc="left", fontsize=11, color=INK)
        quiet_axes(ax, grid="x")
        return self

    def _caption(self, n_hidden: int) -> str:
        parts = ["share of partitions that join a sample with its cluster  ·  right: samples"]
        if n_hidden:
            parts.append(f"{n_hidden} clusters with higher confidence not shown")
        n_single = int(np.isnan(self.quantiles[:, 2]).sum())
        if n_single:
            parts.append(f"{n_single} clusters of one sample have no confidence")
        return "\n".join(parts)


def _row_height(n_clusters: int) -> float:
    """Return the height of the line of a cluster in inches."""
    return 0.3 if n_clusters <= _FEW_CLUSTERS else 0.2
