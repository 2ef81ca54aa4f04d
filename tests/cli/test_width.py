"""Tables and bars on a terminal of 80 columns."""

from __future__ import annotations

import re
from io import StringIO

import pytest
from rich.console import Console

from partita.cli._messages import print_table
from partita.cli._progress import _Bars
from partita.config import Progress


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> StringIO:
    """A terminal of 80 columns, and what was printed on it."""
    output = StringIO()
    monkeypatch.setattr(
        "rich.console.Console",
        lambda **_: Console(file=output, force_terminal=True, width=80, no_color=True),
    )
    return output


def shown_lines(output: StringIO) -> list[str]:
    """Return the lines without the codes for colors."""
    return re.sub("\x1b\\[[0-9;]*m", "", output.getvalue()).splitlines()


def test_columns_that_do_not_fit_are_left_out_and_named(terminal: StringIO) -> None:
    names = ["K", *(f"measure number {i}" for i in range(8))]
    print_table(names, [["2", *["0.123 (0.456)"] * 8]], numbers=True, optional=names[:2:-1])
    lines = shown_lines(terminal)
    assert max(map(len, lines)) <= 80
    shown = [name for name in names if any(name in line for line in lines[:3])]
    assert shown == names[:5]
    text = " ".join(line.strip() for line in lines[-2:])
    assert text.endswith("a wider terminal, a pipe or --json has them")
    assert "measure number 7" in text


def test_only_text_that_may_wrap_wraps(terminal: StringIO) -> None:
    rows = [["key", "a long name of a method " * 3, "learned matrix"]]
    print_table(["key", "name", "family"], rows, wrapped=("name",))
    lines = shown_lines(terminal)
    assert max(map(len, lines)) <= 80
    assert any("learned matrix" in line for line in lines)
    assert not any("memory" in line for line in lines)


@pytest.mark.parametrize("command", [["methods"], ["methods", "--family", "graph"]])
def test_methods_fit(terminal: StringIO, partita, command: list[str]) -> None:
    assert partita(*command).exit_code == 0
    lines = shown_lines(terminal)
    assert max(map(len, lines)) <= 80
    assert any("learned matrix" in line or "graph" in line for line in lines)


def test_a_pipe_gets_every_column(partita) -> None:
    assert "memory" in partita("methods").stdout


def test_a_bar_has_one_line() -> None:
    output = StringIO()
    bars = _Bars("scan", Console(file=output, force_terminal=True, width=80, no_color=True))
    bars.advance(Progress("scan", 1, 994, "ensemble and halves of its partitions"))
    bars._began["scan"] -= 10
    bars.advance(Progress("scan", 28, 994, "ensemble and halves of its partitions"))
    rendered = bars._bars.get_renderable()
    bars.stop()
    console = Console(width=80, file=StringIO())
    lines = [
        line for line in console.render_lines(rendered) if "".join(s.text for s in line).strip()
    ]
    assert len(lines) == 1
    text = "".join(segment.text for segment in lines[0])
    assert "28/994" in text
    assert "left" in text
