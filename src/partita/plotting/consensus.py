"""`ConsensusDisplay`: how far the base partitions agree with a consensus, as one picture."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from partita.plotting._display import Display
from partita.plotting._style import INK, MUTED, ON_IMAGE, blues, new_figure, plain_text
from partita.plotting.blocks import BlockMeans, block_means

__all__ = ["ConsensusDisplay"]

_LEAST_SHARE = 0.022  # of the picture's height: what a line of text needs


class ConsensusDisplay(Display):
    """Co-association matrix ordered by consensus cluster, and inside a cluster by confidence.

    Dark squares on the diagonal are clusters that the base partitions agree on; a square that
    fades towards its lower right corner has doubtful members, and dark off the diagonal ties two
    clusters together. Drawn from block means: a million samples make the same small image.

    Parameters
    ----------
    blocks : BlockMeans
        See `block_means`; better made by `from_estimator` or `from_partitions`.
    name : str, optional
        What made the consensus, for the title.

    Attributes
    ----------
    ax_, figure_ : matplotlib's Axes and Figure
    im_ : the image
    colorbar_ : the color bar, or None

    Examples
    --------
    >>> from partita import EAC
    >>> from partita.plotting import ConsensusDisplay
    >>> partitions = [[0, 0, 1, 1, 2], [0, 0, 1, 1, 1], [0, 0, 0, 1, 1]]
    >>> display = ConsensusDisplay.from_estimator(EAC(n_clusters=2).fit(partitions), partitions)
    >>> display.blocks.sizes
    array([3, 2])
    """

    im_: Any
    colorbar_: Any

    def __init__(self, blocks: BlockMeans, *, name: str | None = None) -> None:
        self.blocks = blocks
        self.name = name

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, name: str | None = None, resolution: int = 480
    ) -> Self:
        """From a fitted consensus method and the partitions it was fitted on.

        Parameters
        ----------
        estimator : fitted estimator with `labels_`
        X : array-like of shape (n_samples, n_partitions), data frame, list, or Ensemble
        name : str, optional
            The class's name by default.
        resolution : int
            Rows of the image.
        """
        check_is_fitted(estimator, "labels_")
        name = type(estimator).__name__ if name is None else name
        return cls.from_partitions(X, estimator.labels_, name=name, resolution=resolution)

    @classmethod
    def from_partitions(
        cls, X: Any, labels: Any, *, name: str | None = None, resolution: int = 480
    ) -> Self:
        """From base partitions and any consensus of them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_partitions), data frame, list, or Ensemble
        labels : array of shape (n_samples,)
            Negative labels are left out of the picture.
        name : str, optional
        resolution : int
            Rows of the image.
        """
        return cls(block_means(X, labels, resolution=resolution), name=name)

    def plot(self, ax: Any = None, *, cmap: Any = None, colorbar: bool = True) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure without one; nothing is registered with pyplot.
        cmap : str or colormap, optional
            White to navy by default.
        colorbar : bool
        """
        if ax is None:
            ax = new_figure(7.4, 6.4).add_subplot()
        blocks, n = self.blocks, len(self.blocks.image)
        self.ax_, self.figure_ = ax, ax.figure
        self.im_ = ax.imshow(
            blocks.image,
            cmap=blues() if cmap is None else cmap,
            vmin=0.0,
            vmax=1.0,
            interpolation="nearest",
            extent=(0, n, n, 0),
            aspect="equal",
        )
        for bound in blocks.bounds[1:-1]:
            ax.axhline(bound, color=ON_IMAGE, lw=0.5, alpha=0.45)
            ax.axvline(bound, color=ON_IMAGE, lw=0.5, alpha=0.45)
        self._name_clusters(ax, n)
        self.colorbar_ = self._add_colorbar(ax) if colorbar else None
        return self

    def _name_clusters(self, ax: Any, n: int) -> None:
        blocks = self.blocks
        centers = (blocks.bounds[:-1] + blocks.bounds[1:]) / 2
        wide = np.flatnonzero(np.diff(blocks.bounds) >= _LEAST_SHARE * n)
        ax.set_yticks(centers[wide], [plain_text(blocks.clusters[k]) for k in wide])
        ax.set_xticks([])
        ax.tick_params(length=0, labelsize=9, labelcolor=INK)
        ax.set_ylabel("consensus cluster", color=MUTED, fontsize=9)
        for k in wide:
            ax.annotate(
                f"{blocks.sizes[k]:,}  ·  {blocks.confidence[k]:.2f}",
                (n, centers[k]),
                (5, 0),
                textcoords="offset points",
                va="center",
                fontsize=8,
                color=MUTED,
                annotation_clip=False,
            )
        for spine in ax.spines.values():
            spine.set(color=INK, linewidth=0.8)
        ax.set_title(self._title(), loc="left", fontsize=11, color=INK)
        ax.set_xlabel(self._caption(len(blocks.clusters) - len(wide)), color=MUTED, fontsize=8)

    def _title(self) -> str:
        consensus = f"{plain_text(self.name)} consensus" if self.name else "Consensus"
        n_samples, n_clusters = int(self.blocks.sizes.sum()), len(self.blocks.clusters)
        return f"{consensus}: {n_samples:,} samples in {n_clusters} clusters"

    def _caption(self, n_unnamed: int) -> str:
        parts = ["right: samples · mean co-association within the cluster"]
        if n_unnamed:
            parts.append(f"{n_unnamed} small clusters not named")
        if self.blocks.n_unlabeled:
            parts.append(f"{self.blocks.n_unlabeled:,} samples without a label left out")
        return "\n".join(parts)

    def _add_colorbar(self, ax: Any) -> Any:
        bar = ax.figure.colorbar(self.im_, ax=ax, shrink=0.5, aspect=24, pad=0.03)
        bar.set_label("share of partitions that join two samples", fontsize=8, color=MUTED)
        bar.ax.tick_params(labelsize=8, labelcolor=MUTED, length=2, color=MUTED)
        bar.outline.set_visible(False)
        return bar
