"""Thin shapes without clusters, which k-means cuts into tight pieces, for `choosing_k`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["THIN_SHAPES", "thin_shape"]

THIN_SHAPES = (
    "arc",
    "ring",
    "one spiral",
    "sine wave",
    "helix",
    "two arms of an L",
    "ellipse",
    "parabola",
    "zigzag",
    "knot",
    "figure eight",
    "rolled sheet",
    "fork",
    "cross",
)

Points = NDArray[np.float64]


def thin_shape(kind: str, seed: int) -> Points:
    """Return 100 to 400 points along a line or a sheet, with noise around it."""
    rng = np.random.default_rng([3000 + THIN_SHAPES.index(kind), seed])
    n, width = int(rng.choice([100, 200, 400])), float(rng.uniform(0.02, 0.08))
    points = _line(kind, n, rng)
    return points + width * rng.normal(size=points.shape)


def _line(kind: str, n: int, rng: np.random.Generator) -> Points:
    """Return points without noise."""
    t = rng.random(n)
    if kind in ("arc", "ring"):
        return _circle(t * 2 * np.pi * (1.0 if kind == "ring" else rng.uniform(0.3, 0.9)))
    if kind == "one spiral":
        turn = 0.5 + rng.uniform(1.5, 3) * t
        return turn[:, None] * _circle(2 * turn)
    if kind == "sine wave":
        x = rng.uniform(4, 12) * t
        return np.column_stack([x, np.sin(x)])
    if kind == "helix":
        angle = rng.uniform(1, 4) * 2 * np.pi * t
        return np.column_stack([_circle(angle), rng.uniform(0.1, 0.3) * angle])
    if kind == "two arms of an L":
        return _along([[rng.uniform(0.6, 1.6), 0], [0, 0], [0, 1]], t)
    if kind == "ellipse":
        return _along(_circle(np.linspace(0, 2 * np.pi, 500)) * [rng.uniform(1.3, 3), 1], t)
    if kind == "parabola":
        x = np.linspace(-1, 1, 500)
        return _along(np.column_stack([x, rng.uniform(0.5, 3) * x**2]), t)
    if kind == "zigzag":
        corners = np.arange(rng.integers(3, 7))
        return _along(np.column_stack([corners, rng.uniform(0.5, 1.5) * (corners % 2)]), t)
    if kind == "knot":
        angle = 2 * np.pi * t
        away = np.sin(angle) + 2 * np.sin(2 * angle), np.cos(angle) - 2 * np.cos(2 * angle)
        return np.column_stack([*away, -np.sin(3 * angle)])
    if kind == "figure eight":
        angle = np.linspace(0, 2 * np.pi, 500)
        return _along(np.column_stack([np.sin(angle), np.sin(angle) * np.cos(angle)]) * 1.5, t)
    if kind == "rolled sheet":
        angle = np.pi * (1 + rng.uniform(1, 2.5) * t)
        height = rng.uniform(0, rng.uniform(0.5, 3), n)
        return np.column_stack([angle[:, None] * _circle(angle) / 5, height])
    n_arms = 3 if kind == "fork" else 4
    arms = _circle(2 * np.pi * np.arange(n_arms) / n_arms) * rng.uniform(0.7, 1.5, (n_arms, 1))
    return arms[rng.integers(0, n_arms, n)] * t[:, None]


def _circle(angle: Points) -> Points:
    return np.column_stack([np.cos(angle), np.sin(angle)])


def _along(corners: object, t: Points) -> Points:
    """Return the points at shares t of the length of a line through corners."""
    ends = np.asarray(corners, np.float64)
    steps = np.linalg.norm(np.diff(ends, axis=0), axis=1)
    at = np.concatenate([[0.0], np.cumsum(steps)])
    return np.column_stack([np.interp(t * at[-1], at, column) for column in ends.T])
