"""Contrast of the page's colors in both themes (WCAG 2.2, level AA)."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from partita.plotting.style import ACCENT, INK, LINES, MUTED, QUIET, luminance
from partita.reporting._svg import _THEME

CSS = (files("partita.reporting") / "templates" / "report.css").read_text(encoding="utf-8")
PAIRS = re.findall(r"--(\w+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);", CSS)
THEMES = {
    "light": {name: light for name, light, _ in PAIRS},
    "dark": {name: dark for name, _, dark in PAIRS},
}
TEXT, THINGS = 4.5, 3.0


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_the_measure() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


def test_every_color_is_a_variable_with_two_themes() -> None:
    assert set(re.findall(r"var\(--(\w+)\)", CSS)) <= set(THEMES["light"])
    rules = CSS.partition("}")[2]  # behind the definitions
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b(?![\w-]* \{)", rules) == []


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("ground", ["page", "panel"])
def test_text_is_readable(theme: str, ground: str) -> None:
    colors = THEMES[theme]
    for name in ("ink", "muted", "link", "fine", "look"):
        assert contrast(colors[name], colors[ground]) >= TEXT, name


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("ground", ["page", "panel"])
def test_controls_focus_and_marks_are_visible(theme: str, ground: str) -> None:
    colors = THEMES[theme]
    for name in ("edge", "focus", "accent"):
        assert contrast(colors[name], colors[ground]) >= THINGS, name


@pytest.mark.parametrize("theme", THEMES)
def test_lines_of_figures_are_visible(theme: str) -> None:
    for line in LINES:
        variable = _THEME.get(line, line)
        color = THEMES[theme].get(variable[6:-1], variable)
        assert contrast(color, THEMES[theme]["panel"]) >= THINGS, line


def test_figures_use_the_variables_of_the_page() -> None:
    assert {variable[6:-1] for variable in _THEME.values()} <= set(THEMES["light"])
    assert set(_THEME) == {INK, MUTED, QUIET, ACCENT}
