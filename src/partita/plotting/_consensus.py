"""`ConsensusDisplay`: the co-association matrix in the order of a consensus."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from partita.plotting._blocks import BlockMeans, block_means
from partita.plotting._display import Display
from partita.plotting.style import INK, MUTED, ON_IMAGE, blues, plain_text

__all__ = ["ConsensusDisplay"]

_LINE_HEIGHT = 0.125  # of a line of text, in inches
_IMAGE_SHARE = 0.7  # of the figure that the image takes, about


class ConsensusDisplay(Display):
    """Co-association matrix, ordered by consensus cluster and by confidence inside a cluster.

    Dark squares on the diagonal are clusters that the base partitions agree on. A square that
    fades towards its lower right corner has doubtful samples. A dark area off the diagonal links
    two clusters. The image consists of block means, so its size does not grow with the number of
    samples.

    Parameters
    ----------
    blocks : BlockMeans
        Result of `block_means`. `from_labels` and `from_estimator` compute it.
    name : str, optional
        Name of the method for the title. By default the title names none.

    Attributes
    ----------
    im_ : matplotlib AxesImage
        The image, after `plot`.
    colorbar_ : matplotlib Colorbar or None
        Its color bar, after `plot`.

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
        cls, method: Any, partitions: Any, *, name: str | None = None, resolution: int = 480
    ) -> Self:
        """Use the labels of a fitted consensus method.

        Parameters
        ----------
        method : fitted estimator with `labels_`
            The consensus method.
        partitions : table of labels, data frame, list of label vectors, Ensemble or LabelStore
            The base partitions that it was fitted to.
        name : str, optional
            Name of the method for the title. By default the name of its class.
        resolution : int, default=480
            Number of rows of the image.
        """
        check_is_fitted(method, "labels_")
        name = type(method).__name__ if name is None else name
        return cls.from_labels(partitions, method.labels_, name=name, resolution=resolution)

    @classmethod
    def from_labels(
        cls, partitions: Any, labels: Any, *, name: str | None = None, resolution: int = 480
    ) -> Self:
        """Use any consensus of base partitions.

        Parameters
        ----------
        partitions : table of labels, data frame, list of label vectors, Ensemble or LabelStore
            The base partitions.
        labels : array-like of shape (n_samples,), or a fitted consensus method
            The consensus. -1, None and NaN are samples without a label.
        name : str, optional
            Name of the method for the title. By default the title names none.
        resolution : int, default=480
            Number of rows of the image.
        """
        return cls(block_means(partitions, labels, resolution=resolution), name=name)

    def plot(self, ax: Any = None, *, cmap: Any = None, colorbar: bool = True) -> Self:
        """Draw the image.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw into. By default those of a new figure.
        cmap : str or matplotlib Colormap, optional
            Color map. By default white to navy.
        colorbar : bool, default=True
            Whether to draw a color bar.
        """
        if ax is None:
            ax = self._new_figure(7.4, 6.4, square=True).add_subplot()
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
        self.colorbar_ = self._color_bar() if colorbar else None
        return self

    def _name_clusters(self, ax: Any, n: int) -> None:
        blocks = self.blocks
        centers = (blocks.bounds[:-1] + blocks.bounds[1:]) / 2
        named = _spaced(centers, self._line_height() * n)
        ax.set_yticks(centers[named], [plain_text(blocks.clusters[k]) for k in named])
        ax.set_xticks([])
        ax.tick_params(length=0, labelsize=9, labelcolor=INK)
        ax.set_ylabel("consensus cluster", color=MUTED, fontsize=9)
        for k in named:
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
        caption = self._caption(len(blocks.clusters) - len(named))
        ax.set_xlabel(self._wrap(caption), color=MUTED, fontsize=8)

    def _line_height(self) -> float:
        """Return the height of a line of text as a share of the image."""
        return _LINE_HEIGHT / (_IMAGE_SHARE * min(self._figure_size))

    def _title(self) -> str:
        consensus = f"{plain_text(self.name)} consensus" if self.name else "Consensus"
        n_samples, n_clusters = int(self.blocks.sizes.sum()), len(self.blocks.clusters)
        return f"{consensus}: {n_samples:,} samples in {n_clusters} clusters"

    def _caption(self, n_unnamed: int) -> str:
        parts = ["right: samples · mean co-association within the cluster"]
        if n_unnamed:
            parts.append(f"{n_unnamed} clusters not named")
        if self.blocks.n_unlabeled:
            parts.append(f"{self.blocks.n_unlabeled:,} samples without a label left out")
        return "\n".join(parts)

    def _color_bar(self) -> Any:
        label = "share of partitions that join two samples"
        return self._add_color_bar(self.im_, label, shrink=0.5, pad=0.03)


def _spaced(centers: NDArray[np.float64], distance: float) -> list[int]:
    """Return clusters, in order, whose names do not overlap."""
    named: list[int] = []
    for k, center in enumerate(centers):
        if not named or center - centers[named[-1]] >= distance:
            named.append(k)
    return named
