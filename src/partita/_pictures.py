"""Small pictures as SVG text, which results show in a notebook without a plotting library."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["draw_bars", "draw_curve", "draw_tree"]

_WIDTH, _HEIGHT = 420, 130
_LEFT, _RIGHT, _TOP, _BOTTOM = 40, 8, 18, 22
_MOST_BARS = 200
_COLORS = ("#394fa6", "#dc6318")  # readable on a white and on a dark page
_TEXT = "font-family='sans-serif' font-size='10' fill='currentColor'"


def draw_bars(
    values: ArrayLike, title: str, groups: ArrayLike | None = None, names: Sequence[str] = ()
) -> str:
    """Return a picture of values as bars from 0 to the largest one, or to 1.

    Parameters
    ----------
    values : array of shape (n_bars,)
        Heights; NaN has no bar. Of many, some at equal distances are drawn.
    title : str
        Text above the bars.
    groups : array of shape (n_bars,), int, optional
        Bars of neighboring groups have different colors. By default there is one group.
    names : sequence of str, default=()
        Names below the bars, if they are few.
    """
    heights = np.asarray(values, np.float64)
    colors = np.zeros(len(heights), np.int64) if groups is None else np.asarray(groups) % 2
    if len(heights) > _MOST_BARS:
        chosen = np.linspace(0, len(heights) - 1, _MOST_BARS).astype(np.int64)
        heights, colors, names = heights[chosen], colors[chosen], ()
    top = max(1.0, float(np.nanmax(heights, initial=0.0)))
    left, step = _LEFT, (_WIDTH - _LEFT - _RIGHT) / max(len(heights), 1)
    parts = [_axis(0.0, top, top)]
    for i, height in enumerate(heights.tolist()):
        if height == height:
            y = _y(height, 0.0, top)
            parts.append(
                f"<rect x='{left + i * step:.1f}' y='{y:.1f}' width='{max(0.85 * step, 0.5):.1f}' "
                f"height='{_HEIGHT - _BOTTOM - y:.1f}' fill='{_COLORS[colors[i]]}'/>"
            )
    parts += [_text(left + (i + 0.4) * step, _HEIGHT - 8, name) for i, name in enumerate(names)]
    return _svg(parts, title)


def draw_curve(
    x: ArrayLike, y: ArrayLike, errors: ArrayLike, title: str, best: int | None = None
) -> str:
    """Return a picture of a curve with bars of one standard error; `best` is marked.

    Parameters
    ----------
    x, y, errors : arrays of shape (n_points,)
        The points and their standard errors.
    title : str
        Text above the curve.
    best : int, optional
        The value of x to mark. By default none is.
    """
    places, heights = np.asarray(x, np.float64), np.nan_to_num(np.asarray(y, np.float64))
    spread = np.nan_to_num(np.asarray(errors, np.float64))
    low = min(0.0, float((heights - spread).min()))
    high = max(float((heights + spread).max()), low + 1e-9)
    span = max(float(np.ptp(places)), 1e-9)
    across = _LEFT + 12 + (places - places.min()) / span * (_WIDTH - _LEFT - _RIGHT - 24)
    levels = [_y(height, low, high) for height in heights.tolist()]
    line = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across.tolist(), levels, strict=True))
    parts = [
        _axis(low, high, high),
        f"<polyline points='{line}' fill='none' stroke='{_COLORS[0]}'/>",
    ]
    for i, (a, b) in enumerate(zip(across.tolist(), levels, strict=True)):
        ends = [_y(float(heights[i] + sign * spread[i]), low, high) for sign in (-1, 1)]
        color = _COLORS[int(places[i] == best)]
        parts.append(
            f"<path d='M{a:.1f} {ends[0]:.1f}V{ends[1]:.1f}' stroke='{color}'/>"
            f"<circle cx='{a:.1f}' cy='{b:.1f}' r='{4 if places[i] == best else 2.5}' "
            f"fill='{color}'/>"
        )
        parts.append(_text(a, _HEIGHT - 8, f"{places[i]:g}"))
    return _svg(parts, title)


def draw_tree(
    levels: Sequence[NDArray[np.float64]], edges: Sequence[tuple[int, int, int, float]], title: str
) -> str:
    """Return a picture of clusters on levels and the flows between them.

    Parameters
    ----------
    levels : sequence of arrays
        Size of each cluster of each level as a share of the samples, from left to right.
    edges : sequence of (level, place, next place, share)
        Flow from a cluster of a level to one of the next level, as a share of the samples.
    title : str
        Text above the tree.
    """
    height = max(_HEIGHT, _TOP + 34 * len(levels))

    def place(level: int, i: int) -> tuple[float, float]:
        y = _TOP + 12 + level * (height - _TOP - 24) / max(len(levels) - 1, 1)
        return (i + 0.5) * _WIDTH / len(levels[level]), y

    parts = []
    for level, i, j, share in edges:
        (a, b), (c, d) = place(level, i), place(level + 1, j)
        parts.append(
            f"<path d='M{a:.1f} {b:.1f}L{c:.1f} {d:.1f}' stroke='{_COLORS[0]}' "
            f"stroke-opacity='0.5' stroke-width='{max(8 * share, 0.5):.1f}'/>"
        )
    for level, sizes in enumerate(levels):
        for i, size in enumerate(sizes.tolist()):
            a, b = place(level, i)
            radius = 2 + 8 * float(np.sqrt(size))
            parts.append(f"<circle cx='{a:.1f}' cy='{b:.1f}' r='{radius:.1f}' fill='#dc6318'/>")
    return _svg(parts, title, height)


def _y(value: float, low: float, high: float) -> float:
    return _TOP + (high - value) / (high - low) * (_HEIGHT - _TOP - _BOTTOM)


def _axis(low: float, high: float, top: float) -> str:
    zero = _y(0.0, low, high)
    line = f"<path d='M{_LEFT} {zero:.1f}H{_WIDTH - _RIGHT}' stroke='currentColor'/>"
    return line + "".join(
        f"<text x='{_LEFT - 4}' y='{_y(v, low, high) + 3:.1f}' text-anchor='end' {_TEXT}>{v:.3g}"
        "</text>"
        for v in (0.0, top)
    )


def _text(x: float, y: float, text: str) -> str:
    return f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='middle' {_TEXT}>{escape(text)}</text>"


def _svg(parts: Sequence[str], title: str, height: int = _HEIGHT) -> str:
    return (
        f"<svg width='{_WIDTH}' height='{height}' viewBox='0 0 {_WIDTH} {height}' role='img'>"
        f"<title>{escape(title)}</title><text x='4' y='11' {_TEXT}>{escape(title)}</text>"
        f"{''.join(parts)}</svg>"
    )
