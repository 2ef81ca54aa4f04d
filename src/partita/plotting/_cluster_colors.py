"""Colors of clusters, as many as there are clusters."""

from __future__ import annotations

from colorsys import hls_to_rgb

from partita.plotting.style import PALETTE

__all__ = ["cluster_colors"]

_GOLDEN = 0.618034  # of a turn: hues that follow each other are far apart


def cluster_colors(n_clusters: int) -> list[str]:
    """Return one color per cluster: the palette first, then further hues.

    Parameters
    ----------
    n_clusters : int
        Number of colors.

    Returns
    -------
    list of str
        Colors such as "#394fa6", all different.

    Examples
    --------
    >>> from partita.plotting import cluster_colors
    >>> cluster_colors(2)
    ['#394fa6', '#dc6318']
    """
    colors = list(PALETTE[:n_clusters])
    step = 0
    while len(colors) < n_clusters:
        lightness = (0.45, 0.65, 0.3)[step % 3]
        channels = hls_to_rgb(step * _GOLDEN % 1.0, lightness, 0.6)
        color = "#" + "".join(f"{round(255 * value):02x}" for value in channels)
        if color not in colors:
            colors.append(color)
        step += 1
    return colors
