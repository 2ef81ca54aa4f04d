"""Colors of clusters, as many as there are clusters."""

from __future__ import annotations

from colorsys import hls_to_rgb

from partita.plotting.style import PALETTE

__all__ = ["cluster_colors"]

# For more clusters: each is the color that is farthest from all before it, for all three readers.
_MORE_COLORS = (
    "#1414f8", "#44f8b0", "#7c4cec", "#bc8c5c", "#145c80", "#5cf8f8", "#f8a414", "#a41414",
    "#381498", "#a48cf8", "#d4145c", "#98e080", "#98b098", "#a480bc", "#f8e014", "#c8b050",
)  # fmt: skip
_TINTS = (0.0, 0.45, -0.5)  # share of white, or of black if negative, of each round of colors
_GOLDEN = 0.618034  # of a turn: hues that follow each other are far apart


def cluster_colors(n_clusters: int) -> list[str]:
    """Return one color per cluster: the palette, sixteen more, their tints, then further hues.

    The first 24 colors are distinct for normal, red-blind and green-blind readers. Of more
    clusters, neighbors may look alike: figures write names beside the colors.

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
    base = (*PALETTE, *_MORE_COLORS)
    colors = [_tint(color, share) for share in _TINTS for color in base][:n_clusters]
    step = 0
    while len(colors) < n_clusters:
        lightness = (0.45, 0.65, 0.3)[step % 3]
        channels = hls_to_rgb(step * _GOLDEN % 1.0, lightness, 0.6)
        color = "#" + "".join(f"{round(255 * value):02x}" for value in channels)
        if color not in colors:
            colors.append(color)
        step += 1
    return colors


def _tint(color: str, share: float) -> str:
    """Mix a color with a share of white, or of black if the share is negative."""
    goal = 255 if share > 0 else 0
    channels = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(c + abs(share) * (goal - c)):02x}" for c in channels)
