"""Colours and figures: readable in grey and by the colour-blind, no global state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["ACCENT", "INK", "MUTED", "QUIET", "blues", "new_figure", "save_figure"]

INK = "#1b2a41"
MUTED = "#6b7a8f"
QUIET = "#c9d3df"
ACCENT = "#d9722b"


def blues() -> Any:
    """White to navy; lightness falls steadily, so that grey prints keep the order."""
    from matplotlib.colors import LinearSegmentedColormap

    stops = ["#ffffff", "#dbe8f2", "#9cc3dc", "#4f93bd", "#20608f", "#0c2c54"]
    return LinearSegmentedColormap.from_list("partita_blues", stops)


def new_figure(width: float, height: float) -> Any:
    """A figure outside pyplot's book-keeping: safe without a screen and in threads."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained", facecolor="white")


def save_figure(figure: Any, path: str | Path, dpi: int = 130) -> Path:
    """Write a figure, in the format that the file's name asks for."""
    path = Path(path)
    figure.savefig(path, dpi=dpi)
    return path
