"""Colors are distinct for color-blind readers and in gray; names are shown as text."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from partita.plotting import PALETTE, cluster_colors
from partita.plotting.style import (
    ACCENT,
    INK,
    LINES,
    MUTED,
    blues,
    luminance,
    new_figure,
    plain_text,
    text_on,
)

# Linear RGB as seen with one kind of cone missing (Machado, Oliveira & Fernandes 2009, severity 1).
SIGHT = {
    "normal": np.eye(3),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
}
TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)


def lab(colors: tuple[str, ...], sight: np.ndarray) -> np.ndarray:
    """CIELAB coordinates under D65, where a distance of 2.3 is just noticeable."""
    rgb = np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in colors])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = np.clip(linear @ sight.T, 0, 1) @ TO_XYZ.T / [0.95047, 1.0, 1.08883]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.stack(
        [116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1
    )


def closest(colors: tuple[str, ...], sight: np.ndarray) -> float:
    places = lab(colors, sight)
    return min(float(np.linalg.norm(a - b)) for a, b in combinations(places, 2))


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("sight", SIGHT)
def test_no_two_colors_of_the_palette_look_alike(sight: str) -> None:
    assert closest(PALETTE, SIGHT[sight]) > 20  # about nine just noticeable differences


@pytest.mark.parametrize(
    ("sight", "least"), [("normal", 25), ("deuteranopia", 15), ("protanopia", 15)]
)
def test_no_two_of_24_clusters_look_alike(sight: str, least: float) -> None:
    colors = tuple(cluster_colors(24))
    assert colors[:8] == PALETTE
    assert closest(colors, SIGHT[sight]) > least  # 2.3 is just noticeable


def test_more_clusters_have_tints() -> None:
    colors = tuple(cluster_colors(72))
    assert closest(colors, SIGHT["normal"]) > 2.3
    assert len(set(cluster_colors(200))) == 200


def test_red_and_green_are_close_for_the_red_blind() -> None:
    pair = ("#b8534f", "#7d7d3c")
    assert closest(pair, SIGHT["normal"]) > 40
    assert closest(pair, SIGHT["deuteranopia"]) < 20


def test_no_two_colors_of_the_palette_have_the_same_gray() -> None:
    lightness = np.sort(lab(PALETTE, SIGHT["normal"])[:, 0])
    assert np.diff(lightness).min() > 8


def test_the_heat_map_keeps_its_order_for_all_kinds_of_sight() -> None:
    from matplotlib.colors import to_hex

    steps = tuple(to_hex(c) for c in blues()(np.linspace(0, 1, 33)))
    for sight in SIGHT.values():
        assert np.all(np.diff(lab(steps, sight)[:, 0]) < 0)


def test_names_are_readable_on_every_band() -> None:
    assert min(contrast(text_on(color), color) for color in cluster_colors(72)) >= 4.5


def test_text_and_lines_have_contrast_on_white() -> None:
    assert min(contrast(color, "#ffffff") for color in (INK, MUTED)) >= 4.5
    assert min(contrast(color, "#ffffff") for color in (ACCENT, *LINES)) >= 3


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("$x_1$", r"\$x_1\$"),
        ("two\nlines\tand\x00", "two lines and"),
        ("x" * 40, "x" * 27 + "…"),
        (3, "3"),
    ],
)
def test_names_are_shown_as_text(name: object, shown: str) -> None:
    assert plain_text(name) == shown


def test_a_name_like_a_formula_is_drawn_as_text() -> None:
    figure = new_figure(2, 1)
    text = figure.text(0, 0, plain_text(r"$\nosuchcommand$ and 5$"))
    figure.canvas.draw()
    assert text._preprocess_math(text.get_text()) == (r"$\nosuchcommand$ and 5$", False)
