"""One figure of a consensus of images: agreement, what the clusters look like, and scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.plotting._style import INK, blues, new_figure
from partita.plotting.consensus import ConsensusDisplay
from partita.plotting.scores import ScoresDisplay

__all__ = ["draw_overview"]


def draw_overview(
    consensus: ConsensusDisplay,
    scores: ScoresDisplay,
    images: NDArray[Any],
    labels: NDArray[np.int64],
) -> Any:
    """Consensus heat map, mean image of every cluster, and the scores.

    Parameters
    ----------
    consensus : ConsensusDisplay
    scores : ScoresDisplay
    images : array of shape (n_samples, height, width)
    labels : array of shape (n_samples,)
        The consensus that is drawn.

    Returns
    -------
    matplotlib Figure
    """
    figure = new_figure(10.4, 5.3)
    left, right = figure.subfigures(1, 2, width_ratios=[1.55, 1.0])
    consensus.plot(left.add_subplot())
    top, bottom = right.subfigures(2, 1, height_ratios=[1.0, 1.15])
    _draw_means(top, consensus.blocks.clusters, images, labels)
    ax = bottom.add_subplot()
    scores.plot(ax)
    ax.set_title("Against the known classes", loc="left", fontsize=11, color=INK)
    return figure


def _draw_means(
    figure: Any, clusters: NDArray[np.int64], images: NDArray[Any], labels: NDArray[np.int64]
) -> None:
    """Mean image of each cluster, with its number, in rows of five."""
    figure.suptitle("Mean image of each cluster", x=0.02, ha="left", fontsize=11, color=INK)
    columns = 5
    rows = -(-len(clusters) // columns)
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for ax in axes:
        ax.set_axis_off()
    for ax, cluster in zip(axes, clusters, strict=False):
        ax.imshow(images[labels == cluster].mean(axis=0), cmap=blues())
        ax.set_title(str(cluster), fontsize=8, color=INK, pad=2)
