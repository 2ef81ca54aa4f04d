"""`TrackingDisplay`: where the samples of every cluster go as K grows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from partita.alignment import cluster_tree
from partita.plotting._display import Display
from partita.plotting._style import INK, MUTED, PALETTE, new_figure, text_on
from partita.select_k import KScan

__all__ = ["TrackingDisplay"]

_NOWHERE = "#ffffff"  # samples without a cluster
_LEAST_SHARE = 0.025  # of the width: what a name needs


class TrackingDisplay(Display):
    """One row per number of clusters, one column per group of samples, colored by cluster.

    Samples are ordered so that those which stay together stand together, and a cluster keeps its
    name and color from one K to the next as far as its samples do (`align_labels`). A clean split
    cuts a band in two; confetti means that K + 1 clusters were drawn anew. Names are written into
    the bands, since after eight clusters colors come again.

    Parameters
    ----------
    k : array of shape (n_k,)
    bands : array of shape (n_k, n_columns)
        Cluster of each column's sample, -1 for none.
    n_samples : int
        Samples that the columns stand for.

    Examples
    --------
    >>> from partita.plotting import TrackingDisplay
    >>> display = TrackingDisplay.from_results({2: [0, 0, 1, 1], 3: [7, 7, 5, 6]})
    >>> display.bands
    array([[0, 0, 1, 1],
           [0, 0, 1, 2]])
    """

    def __init__(self, k: ArrayLike, bands: ArrayLike, n_samples: int) -> None:
        self.k = np.asarray(k, np.int64)
        self.bands = np.asarray(bands, np.int64)
        self.n_samples = n_samples

    @classmethod
    def from_scan(cls, scan: KScan, *, resolution: int = 1000) -> Self:
        """From the results of `scan_k` for every K."""
        return cls.from_results(scan.labels, resolution=resolution)

    @classmethod
    def from_results(
        cls, results: Mapping[int, Any] | Sequence[Any], *, resolution: int = 1000
    ) -> Self:
        """From labels of the same samples for several numbers of clusters.

        Parameters
        ----------
        results : mapping of K to labels, or sequence of labels
            In the order in which they are drawn, coarse to fine.
        resolution : int
            Columns of the picture; of more samples, an even choice along their order is shown.
        """
        levels = list(results.values()) if isinstance(results, Mapping) else list(results)
        tree = cluster_tree(levels)
        numbers = list(results) if isinstance(results, Mapping) else tree.n_clusters
        order = np.lexsort(tree.labels.T[::-1])
        n = len(order)
        columns = order
        if n > resolution:
            columns = order[((np.arange(resolution) + 0.5) * n / resolution).astype(np.int64)]
        return cls(numbers, tree.labels[columns].T, n)

    def plot(self, ax: Any = None) -> Self:
        """Draw, into a new figure where no `ax` is given."""
        if ax is None:
            ax = new_figure(7.4, 1.1 + 0.34 * len(self.k)).add_subplot()
        self.ax_, self.figure_ = ax, ax.figure
        n_columns = self.bands.shape[1]
        for row, band in enumerate(self.bands):
            edges = np.concatenate([[0], np.flatnonzero(np.diff(band)) + 1, [n_columns]])
            clusters, widths = band[edges[:-1]], np.diff(edges)
            colors = [_NOWHERE if c < 0 else PALETTE[c % len(PALETTE)] for c in clusters]
            # the gaps between bands show the cut also where two grays are alike
            ax.barh(row, widths, left=edges[:-1], height=0.86, color=colors, ec="white", lw=0.6)
            for cluster, left, width, color in zip(
                clusters, edges[:-1], widths, colors, strict=True
            ):
                if width >= _LEAST_SHARE * n_columns and cluster >= 0:
                    ax.text(
                        left + width / 2,
                        row,
                        str(cluster),
                        ha="center",
                        va="center",
                        fontsize=8,
                        color=text_on(color),
                    )
        ax.set_xlim(0, n_columns)
        ax.set_ylim(len(self.k) - 0.45, -0.55)
        ax.set_xticks([])
        ax.set_yticks(range(len(self.k)), [f"K = {k}" for k in self.k])
        ax.tick_params(length=0, labelsize=8, labelcolor=INK)
        for spine in ax.spines.values():
            spine.set_visible(False)
        ax.set_title("Clusters tracked over K", loc="left", fontsize=11, color=INK)
        shown = "" if n_columns == self.n_samples else f", {n_columns:,} of them drawn"
        ax.set_xlabel(
            f"{self.n_samples:,} samples, those that stay together side by side{shown}",
            fontsize=8,
            color=MUTED,
        )
        return self
