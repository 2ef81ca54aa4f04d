"""Overview of a consensus of images: co-association, mean images and scores in one figure."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.plotting._consensus import ConsensusDisplay
from partita.plotting._scores import ScoresDisplay
from partita.plotting.style import INK, blues, new_figure

__all__ = ["draw_overview"]


def draw_overview(
    matrix: ConsensusDisplay,
    scores: ScoresDisplay,
    images: NDArray[Any],
    labels: NDArray[np.int64],
) -> Any:
    """Draw the consensus matrix, the mean image of each cluster, and the scores.

    Parameters
    ----------
    matrix : ConsensusDisplay
        Consensus matrix, drawn on the left.
    scores : ScoresDisplay
        Scores, drawn on the lower right.
    images : array of shape (n_samples, height, width)
        The samples.
    labels : array of shape (n_samples,)
        The consensus.

    Returns
    -------
    matplotlib Figure
    """
    figure = new_figure(10.4, 5.3)
    left, right = figure.subfigures(1, 2, width_ratios=[1.55, 1.0])
    matrix.plot(left.add_subplot())
    top, bottom = right.subfigures(2, 1, height_ratios=[1.0, 1.15])
    _draw_means(top, matrix.blocks.clusters, images, labels)
    ax = bottom.add_subplot()
    scores.plot(ax)
    ax.set_title("Against the true classes", loc="left", fontsize=11, color=INK)
    return figure


def _draw_means(
    figure: Any, clusters: NDArray[np.int64], images: NDArray[Any], labels: NDArray[np.int64]
) -> None:
    """Draw the mean image of each cluster with its number, in rows of five."""
    figure.suptitle("Mean image of each cluster", x=0.02, ha="left", fontsize=11, color=INK)
    columns = 5
    rows = -(-len(clusters) // columns)
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for ax in axes:
        ax.set_axis_off()
    for ax, cluster in zip(axes, clusters, strict=False):
        ax.imshow(images[labels == cluster].mean(axis=0), cmap=blues())
        ax.set_title(str(cluster), fontsize=8, color=INK, pad=2)
