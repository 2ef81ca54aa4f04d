"""The critical-difference picture: mean ranks on a line, bars over contenders that may be equal."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")
from matplotlib.figure import Figure

from benchmarks.scoreboard._statistics import Board, full_name

__all__ = ["cliques", "draw"]


def cliques(ranks: np.ndarray, difference: float) -> list[tuple[int, int]]:
    """Return the longest runs of sorted ranks whose ends differ by less than the difference."""
    runs = []
    for first in range(len(ranks)):
        last = int(np.flatnonzero(ranks - ranks[first] <= difference)[-1])
        if last > first and (not runs or last > runs[-1][1]):
            runs.append((first, last))
    return runs


def draw(board: Board, file: Path) -> None:
    """Draw the mean ranks of the contenders of a board."""
    order = np.argsort(board.ranks, kind="stable")
    ranks = board.ranks[order]
    names = [full_name(board.contenders[j]) for j in order]
    runs = cliques(ranks, board.critical_difference)
    half = (len(names) + 1) // 2
    depth = 0.22 * len(runs) + 0.2
    figure = Figure(figsize=(9, 0.9 + 0.26 * half + 0.25 * depth), layout="constrained")
    axes = figure.add_subplot()
    low, high = 1, len(names)
    axes.plot([low, high], [0, 0], color="black", linewidth=1)
    for tick in range(low, high + 1, 1 if high <= 24 else 5):
        axes.plot([tick, tick], [0, 0.12], color="black", linewidth=1)
        axes.text(tick, 0.18, str(tick), ha="center", va="bottom", fontsize=8)
    # with few sets, the difference can be larger than any two ranks can be apart
    bar = low, min(low + board.critical_difference, high)
    text = f"critical difference {board.critical_difference:.2f}"
    if board.critical_difference > high - low:
        text += ", longer than the axis"
    axes.plot(bar, [0.75, 0.75], color="black", linewidth=2)
    axes.text(low, 0.83, text, va="bottom", fontsize=8)
    for j, (first, last) in enumerate(runs):
        y = -0.2 - 0.22 * j
        axes.plot([ranks[first], ranks[last]], [y, y], color="#0072b2", linewidth=4)
    for j, (name, rank) in enumerate(zip(names, ranks, strict=True)):
        is_left = j < half
        y = -depth - 0.4 * (1 + (j if is_left else len(names) - 1 - j))
        edge = low - 0.3 if is_left else high + 0.3
        axes.plot([rank, rank, edge], [0, y, y], color="black", linewidth=0.7)
        axes.text(
            edge - 0.1 if is_left else edge + 0.1,
            y,
            f"{name}  {rank:.1f}",
            ha="right" if is_left else "left",
            va="center",
            fontsize=8,
        )
    width = high - low
    axes.set_xlim(low - 0.45 * width - 1, high + 0.45 * width + 1)
    axes.set_axis_off()
    axes.set_title(f"Mean rank on {len(board.sets)} sets: {board.title}", fontsize=10)
    # the same records give the same file, and its text can be read and searched
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": board.title}):
        figure.savefig(file, dpi=100, metadata={"Date": None} if file.suffix == ".svg" else None)
