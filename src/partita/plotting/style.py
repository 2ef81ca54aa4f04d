"""Colors and axes of all figures: readable in gray and by color-blind readers, no global state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = [
    "ACCENT",
    "INK",
    "LINES",
    "MUTED",
    "ON_IMAGE",
    "PALETTE",
    "QUIET",
    "blues",
    "luminance",
    "new_figure",
    "plain_text",
    "quiet_axes",
    "save_figure",
    "text_on",
]

INK = "#1b2a41"
MUTED = "#5b6a7f"
QUIET = "#c9d3df"
ACCENT = "#d9722b"
ON_IMAGE = "#16243a"  # lines over a heat map, which has the same colors in every theme

# Distinct for normal, red-blind and green-blind readers, each with a different gray.
PALETTE = (
    "#394fa6",
    "#dc6318",
    "#95bdf5",
    "#177e68",
    "#ddea67",
    "#76202c",
    "#a79fb3",
    "#1d0f39",
)
# Dark enough for a white page, bright enough for a dark one. In gray, dashes distinguish lines.
LINES = (ACCENT, INK, "#3b82c4", MUTED, "#2c8c6e")
_LONGEST_NAME = 28  # characters of a name in a figure


def blues() -> Any:
    """Return a color map from white to navy; its lightness decreases, for prints in gray."""
    from matplotlib.colors import LinearSegmentedColormap

    stops = ["#ffffff", "#dbe8f2", "#9cc3dc", "#4f93bd", "#20608f", "#0c2c54"]
    return LinearSegmentedColormap.from_list("partita_blues", stops)


def luminance(color: str) -> float:
    """Return the relative luminance of `#rrggbb`, 0 for black to 1 for white (WCAG 2)."""
    channels = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def text_on(color: str) -> str:
    """Return near black or white, whichever is easier to read on a color."""
    dark, light = "#111111", "#ffffff"
    middle = (luminance(dark) + 0.05) * (luminance(light) + 0.05)
    return dark if (luminance(color) + 0.05) ** 2 > middle else light


def plain_text(name: Any) -> str:
    """Return a name as one short line that matplotlib does not read as a formula."""
    text = " ".join("".join(c if c.isprintable() else " " for c in str(name)).split())
    if len(text) > _LONGEST_NAME:
        text = text[: _LONGEST_NAME - 1] + "…"
    return text.replace("$", r"\$")


def quiet_axes(ax: Any, *, grid: str | None = None) -> None:
    """Keep only the bottom line of the frame; draw light grid lines along the axis `grid`."""
    ax.tick_params(length=0, labelsize=8, labelcolor=INK)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.spines["bottom"].set_color(QUIET)
    ax.set_axisbelow(True)
    if grid is not None:
        ax.grid(axis=grid, color=QUIET, lw=0.6, alpha=0.6)


def new_figure(width: float, height: float) -> Any:
    """Return a figure that pyplot does not register: safe in threads and without a screen."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained", facecolor="white")


def save_figure(figure: Any, path: str | Path, dpi: int = 130) -> Path:
    """Write a figure in the format of the file's suffix."""
    path = Path(path)
    figure.savefig(path, dpi=dpi)
    return path
