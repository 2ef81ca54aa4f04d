"""Bars for what takes its time, on a terminal, and nowhere else."""

from __future__ import annotations

from io import StringIO
from time import sleep

import pytest
from rich.console import Console

from partita.cli import _progress
from partita.cli._progress import PATIENCE, _Bars, _is_slow, progress_bars
from partita.config import Progress, get_config, report_progress


@pytest.fixture
def screen() -> StringIO:
    return StringIO()


@pytest.fixture
def bars(screen: StringIO, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(_progress, "PATIENCE", 0.3)
    made = _Bars("whole", Console(file=screen, force_terminal=True, width=100))
    yield made
    made.stop()


def test_quick_tasks_show_nothing(bars: _Bars, screen: StringIO) -> None:
    for done in range(6):
        bars.advance(Progress("quick", done, 5))
    bars.stop()
    assert screen.getvalue() == ""


def test_a_long_task_shows_count_and_time_left(bars: _Bars, screen: StringIO) -> None:
    bars.advance(Progress("long", 0, 100))
    sleep(0.15)
    bars.advance(Progress("long", 1, 100, "EAC"))
    sleep(0.3)
    bars.stop()
    shown = screen.getvalue()
    assert "long" in shown
    assert "1/100" in shown
    assert " left" in shown
    assert "EAC" in shown
    assert "whole" not in shown


def test_silence_is_shown_as_the_whole(bars: _Bars, screen: StringIO) -> None:
    sleep(0.7)
    bars.stop()
    assert "whole" in screen.getvalue()


def test_a_task_may_come_again(bars: _Bars, screen: StringIO) -> None:
    for _ in range(2):
        for done in range(3):
            bars.advance(Progress("again", done, 2))
            sleep(0.2)
    bars.stop()
    assert "again" in screen.getvalue()


@pytest.mark.parametrize(
    ("elapsed", "done", "total", "shown"),
    [
        (PATIENCE, 0, None, True),
        (PATIENCE / 2, 1, None, False),
        (PATIENCE / 2, 0, 10, False),
        (PATIENCE / 2, 9, 10, False),
        (PATIENCE / 2, 1, 10, True),
    ],
)
def test_what_is_slow(elapsed: float, done: int, total: int | None, shown: bool) -> None:
    assert _is_slow(elapsed, Progress("task", done, total)) is shown


def test_large_counts_are_shares() -> None:
    assert _progress._count(Progress("reading", 500_000, 1_000_000)) == "50 %"


def test_nothing_is_drawn_where_nobody_watches(capfd: pytest.CaptureFixture[str]) -> None:
    with progress_bars("whole", quiet=False):
        assert get_config().progress is None
        report_progress("task", 1, 100)
    assert capfd.readouterr() == ("", "")
