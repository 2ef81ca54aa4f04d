"""`TrackingDisplay`: how clusters split as the number of clusters grows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from partita.alignment import cluster_tree
from partita.plotting._cluster_colors import cluster_colors
from partita.plotting._display import Display
from partita.plotting.style import INK, MUTED, text_on
from partita.select_k import KScan

__all__ = ["TrackingDisplay"]

_UNLABELED = "#ffffff"  # color of samples without a label
_NAME_WIDTH = 0.18  # of a cluster name, in inches


class TrackingDisplay(Display):
    """One row per number of clusters, one column per sample, colored by cluster.

    Samples that stay together are side by side. A cluster keeps its name and color from one K to
    the next if most of its samples stay together (`align_labels`). If a cluster splits, its band
    is cut in two; many narrow bands mean that the clusters for K + 1 are unrelated to those for K.
    Names are written into the bands.

    Parameters
    ----------
    k : array of shape (n_k,)
        Numbers of clusters, one per row.
    bands : array of shape (n_k, n_columns)
        Cluster of the sample of each column, -1 for a sample without a label.
    n_samples : int
        Number of samples that the columns represent.

    Examples
    --------
    >>> from partita.plotting import TrackingDisplay
    >>> display = TrackingDisplay.from_partitions({2: [0, 0, 1, 1], 3: [7, 7, 5, 6]})
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
        """Use the consensus for each K of `scan_k` or `scan_k_features`.

        Parameters
        ----------
        scan : KScan
            Result of the scan.
        resolution : int, default=1000
            Number of columns; of more samples, a regular selection in their order is drawn.
        """
        return cls.from_partitions(scan.labels, resolution=resolution)

    @classmethod
    def from_partitions(cls, partitions: Any, *, resolution: int = 1000) -> Self:
        """Use partitions of the same samples for several numbers of clusters.

        Parameters
        ----------
        partitions : mapping of K to label vectors, list of label vectors, table of labels, ...
            The partitions from coarse to fine, one per row.
        resolution : int, default=1000
            Number of columns; of more samples, a regular selection in their order is drawn.
        """
        is_mapping = isinstance(partitions, Mapping)
        tree = cluster_tree(list(partitions.values()) if is_mapping else partitions)
        numbers = list(partitions) if is_mapping else tree.n_clusters
        order = np.lexsort(tree.labels.T[::-1])
        n = len(order)
        columns = order
        if n > resolution:
            columns = order[((np.arange(resolution) + 0.5) * n / resolution).astype(np.int64)]
        return cls(numbers, tree.labels[columns].T, n)

    def plot(self, ax: Any = None) -> Self:
        """Draw the bands; see `Display.plot`."""
        if ax is None:
            ax = self._new_figure(7.4, 1.1 + 0.34 * len(self.k)).add_subplot()
        self.ax_, self.figure_ = ax, ax.figure
        n_columns = self.bands.shape[1]
        palette = [*cluster_colors(int(self.bands.max(initial=0)) + 1), _UNLABELED]
        least = _NAME_WIDTH / self._figure_size[0] * n_columns  # columns below a name
        for row, band in enumerate(self.bands):
            edges = np.concatenate([[0], np.flatnonzero(np.diff(band)) + 1, [n_columns]])
            clusters, widths = band[edges[:-1]], np.diff(edges)
            colors = [palette[c] for c in clusters]  # -1, no cluster, takes the last one
            # the gaps between bands show the cut where two grays are similar
            ax.barh(row, widths, left=edges[:-1], height=0.86, color=colors, ec="white", lw=0.6)
            for cluster, left, width, color in zip(
                clusters, edges[:-1], widths, colors, strict=True
            ):
                if width >= least and cluster >= 0:
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
        caption = f"{self.n_samples:,} samples; those that stay together are side by side{shown}"
        ax.set_xlabel(self._wrap(caption), fontsize=8, color=MUTED)
        return self
