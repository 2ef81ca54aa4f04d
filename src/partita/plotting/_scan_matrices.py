"""`ScanMatricesDisplay`: the co-association matrix in the order of the consensus for every K."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from partita.plotting._blocks import BlockMeans, block_means
from partita.plotting._display import Display
from partita.plotting.style import INK, MUTED, ON_IMAGE, blues
from partita.select_k import KScan

__all__ = ["ScanMatricesDisplay"]

_COLUMNS, _PANEL = 4, 2.3  # images per row, inches per image


class ScanMatricesDisplay(Display):
    """Co-association matrices of a scan, one image per K in the order of the consensus for that K.

    Each square on the diagonal is a cluster. A light cross inside a square shows two clusters that
    the consensus joins: K is too small. A dark area between two squares shows a cluster that it
    cuts: K is too large.

    Parameters
    ----------
    k : sequence of int
        Numbers of clusters.
    blocks : sequence of BlockMeans
        One result of `block_means` per number. `from_scan` computes them.
    best_k : int, optional
        The suggested number of clusters, named in its title. By default none is.

    Attributes
    ----------
    axes_ : list of matplotlib Axes
        One per K, after `plot`; `ax_` is the first.

    Examples
    --------
    >>> from partita import scan_k
    >>> from partita.plotting import ScanMatricesDisplay
    >>> from partita.datasets import make_partitions
    >>> labels = make_partitions(60, 8, 3)[0]
    >>> scan = scan_k(labels, range(2, 5), n_resamples=2, n_null=2, random_state=0)
    >>> len(ScanMatricesDisplay.from_scan(labels, scan).plot().axes_)
    3
    """

    axes_: list[Any]

    def __init__(
        self, k: Sequence[int], blocks: Sequence[BlockMeans], best_k: int | None = None
    ) -> None:
        self.k = [int(each) for each in k]
        self.blocks = list(blocks)
        self.best_k = best_k

    @classmethod
    def from_scan(cls, partitions: Any, scan: KScan, *, resolution: int = 160) -> Self:
        """Use the result of `scan_k`.

        Parameters
        ----------
        partitions : table of labels, data frame, list of label vectors, Ensemble or LabelStore
            The base partitions.
        scan : KScan
            Result of the scan.
        resolution : int, default=160
            Number of rows of each image.
        """
        ks = scan.k.tolist()
        blocks = [block_means(partitions, scan.labels[k], resolution=resolution) for k in ks]
        return cls(ks, blocks, scan.best_k)

    def plot(self, ax: Any = None, *, cmap: Any = None) -> Self:
        """Draw one image per K.

        Parameters
        ----------
        ax : matplotlib Axes, or one per K, optional
            Axes to draw into. By default those of a new figure.
        cmap : str or matplotlib Colormap, optional
            Color map. By default white to navy.
        """
        axes = self._new_axes() if ax is None else list(np.ravel(ax))
        if len(axes) != len(self.k):
            raise ValueError(f"ax must have one Axes for each K of {self.k}, got {len(axes)}.")
        self.axes_, self.ax_, self.figure_ = axes, axes[0], axes[0].figure
        for panel, k, blocks in zip(axes, self.k, self.blocks, strict=True):
            n = len(blocks.image)
            panel.imshow(
                blocks.image,
                cmap=blues() if cmap is None else cmap,
                vmin=0.0,
                vmax=1.0,
                interpolation="nearest",
                extent=(0, n, n, 0),
                aspect="equal",
            )
            for bound in blocks.bounds[1:-1]:
                panel.axhline(bound, color=ON_IMAGE, lw=0.5, alpha=0.45)
                panel.axvline(bound, color=ON_IMAGE, lw=0.5, alpha=0.45)
            panel.set_xticks([])
            panel.set_yticks([])
            suggested = "  (suggested)" if k == self.best_k else ""
            panel.set_title(f"K = {k}{suggested}", loc="left", fontsize=9, color=INK)
            panel.set_xlabel(
                f"within clusters {blocks.confidence @ blocks.sizes / blocks.sizes.sum():.2f}",
                fontsize=8,
                color=MUTED,
            )
            for spine in panel.spines.values():
                spine.set(color=INK, linewidth=0.8)
        return self

    def _new_axes(self) -> list[Any]:
        columns = min(_COLUMNS, len(self.k))
        rows = -(-len(self.k) // columns)
        figure = self._new_figure(_PANEL * columns, (_PANEL + 0.4) * rows)
        axes = figure.subplots(rows, columns, squeeze=False).ravel()
        for spare in axes[len(self.k) :]:
            spare.remove()
        return list(axes[: len(self.k)])
