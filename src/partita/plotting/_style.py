"""Colors and figures: readable in gray and by the color-blind, no global state."""

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
ON_IMAGE = "#16243a"  # lines drawn over a heat map, whose colors are the same in every theme

# Far apart for normal, red-blind and green-blind eyes, and no two of the same gray.
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
# Dark enough for lines on white, bright enough on a dark page; dashes tell them apart in gray.
LINES = (ACCENT, INK, "#3b82c4", MUTED, "#2c8c6e")
_LONGEST = 28  # letters of a name in a picture


def blues() -> Any:
    """White to navy; lightness falls steadily, so that gray prints keep the order."""
    from matplotlib.colors import LinearSegmentedColormap

    stops = ["#ffffff", "#dbe8f2", "#9cc3dc", "#4f93bd", "#20608f", "#0c2c54"]
    return LinearSegmentedColormap.from_list("partita_blues", stops)


def luminance(color: str) -> float:
    """Relative luminance of `#rrggbb`, 0 for black to 1 for white (WCAG 2)."""
    channels = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def text_on(color: str) -> str:
    """Near black or white, whichever is easier to read on a color."""
    dark, light = "#111111", "#ffffff"
    middle = (luminance(dark) + 0.05) * (luminance(light) + 0.05)
    return dark if (luminance(color) + 0.05) ** 2 > middle else light


def plain_text(name: Any) -> str:
    """A user's name as matplotlib shows it letter by letter: one short line, no formulas."""
    text = " ".join("".join(c if c.isprintable() else " " for c in str(name)).split())
    if len(text) > _LONGEST:
        text = text[: _LONGEST - 1] + "…"
    return text.replace("$", r"\$")


def quiet_axes(ax: Any, *, grid: str | None = None) -> None:
    """No frame but the base line, small ticks, and light lines along one axis."""
    ax.tick_params(length=0, labelsize=8, labelcolor=INK)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.spines["bottom"].set_color(QUIET)
    ax.set_axisbelow(True)
    if grid is not None:
        ax.grid(axis=grid, color=QUIET, lw=0.6, alpha=0.6)


def new_figure(width: float, height: float) -> Any:
    """A figure outside pyplot's book-keeping: safe without a screen and in threads."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained", facecolor="white")


def save_figure(figure: Any, path: str | Path, dpi: int = 130) -> Path:
    """Write a figure, in the format that the file's name asks for."""
    path = Path(path)
    figure.savefig(path, dpi=dpi)
    return path
