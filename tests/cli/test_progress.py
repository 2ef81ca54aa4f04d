"""Bars for what takes its time, on a terminal, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO

import pytest
from rich.console import Console

from partita.cli import _progress
from partita.cli._progress import PATIENCE, _Bars, _is_slow, progress_bars
from partita.config import Progress, get_config, report_progress


@pytest.fixture
def screen() -> StringIO:
    return StringIO()


class Clock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waiting: list[tuple[float, Callable[[], None]]] = []

    def pass_seconds(self, seconds: float) -> None:
        self.now += seconds
        for at, function in self.waiting:
            if at <= self.now:
                function()
        self.waiting = [each for each in self.waiting if each[0] > self.now]

    def timer(self, seconds: float, function: Callable[[], None]) -> Clock:
        """Take the place of threading.Timer."""
        self.waiting.append((self.now + seconds, function))
        return self

    def start(self) -> None: ...

    def cancel(self) -> None:
        self.waiting.clear()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(_progress, "monotonic", lambda: clock.now)
    monkeypatch.setattr(_progress, "Timer", clock.timer)
    return clock


@pytest.fixture
def bars(screen: StringIO, clock: Clock):
    made = _Bars("whole", Console(file=screen, force_terminal=True, width=100))
    yield made
    made.stop()


def test_quick_tasks_show_nothing(bars: _Bars, screen: StringIO) -> None:
    for done in range(6):
        bars.advance(Progress("quick", done, 5))
    bars.stop()
    assert screen.getvalue() == ""


def test_a_long_task_shows_count_and_time_left(bars: _Bars, clock: Clock, screen: StringIO) -> None:
    bars.advance(Progress("long", 0, 100))
    clock.pass_seconds(0.15)
    bars.advance(Progress("long", 1, 100, "EAC"))
    clock.pass_seconds(2.5)
    bars.stop()
    shown = screen.getvalue()
    assert "long" in shown
    assert "1/100" in shown
    assert " left" in shown
    assert "EAC" in shown
    assert "whole" not in shown


def test_a_predicted_task_shows_the_time_left_at_once(bars: _Bars, screen: StringIO) -> None:
    bars.advance(Progress("scan", 0, 100, seconds=90.0))
    bars.stop()
    assert "0:01:30 left" in screen.getvalue()


@pytest.mark.parametrize(
    ("elapsed", "done", "seconds", "expected"),
    [
        (1.0, 0, None, None),
        (1.0, 10, None, 10.0),  # the pace of the first tenth
        (1.0, 0, 50.0, 50.0),  # the prediction
        (60.0, 0, 50.0, 60.0),  # which was too short
        (1.0, 5, 50.0, 35.0),  # half of each: the pace says 20
        (1.0, 10, 50.0, 10.0),
    ],
)
def test_the_pace_replaces_the_prediction(elapsed, done, seconds, expected) -> None:
    assert _progress._expected(elapsed, done, 100, seconds) == expected


def test_silence_is_shown_as_the_whole(bars: _Bars, clock: Clock, screen: StringIO) -> None:
    clock.pass_seconds(PATIENCE)
    bars.stop()
    assert "whole" in screen.getvalue()


def test_a_task_may_come_again(bars: _Bars, clock: Clock, screen: StringIO) -> None:
    for _ in range(2):
        for done in range(3):
            bars.advance(Progress("again", done, 2))
            clock.pass_seconds(1.5)
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
