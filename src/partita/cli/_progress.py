"""Progress bars on a terminal, driven by the progress callback of the library."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Lock, Timer
from time import monotonic
from typing import Any

from partita.config import Progress, config_context

__all__ = ["PATIENCE", "progress_bars"]

PATIENCE = 2.0  # seconds; shorter tasks show no bar
_BAR_WIDTH = 20  # characters
_REPRESENTATIVE = 0.1  # share of the steps whose mean time is that of all
_MAX_COUNT = 10_000  # steps; more are shown in percent


@contextmanager
def progress_bars(title: str, *, quiet: bool) -> Iterator[None]:
    """Show bars with the remaining time for tasks that take more than two seconds.

    A task that says how long it will take has its bar and its time at once, others after a step.
    Nothing is shown if stderr is not a terminal. `title` is shown, without a time, as long as no
    task has reported progress.
    """
    from rich.console import Console

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield
        return
    bars = _Bars(title, console)
    try:
        with config_context(progress=bars.advance):
            yield
    finally:
        bars.stop()


class _Bars:
    """One bar per task, shown when the task takes longer than `PATIENCE`."""

    def __init__(self, title: str, console: Any) -> None:
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress
        from rich.table import Column

        self._bars = RichProgress(
            TextColumn("{task.description:<16}", table_column=Column(no_wrap=True)),
            BarColumn(_BAR_WIDTH),
            TextColumn("{task.fields[count]}", table_column=Column(no_wrap=True)),
            TimeElapsedColumn(table_column=Column(no_wrap=True)),
            _time_left(),
            TextColumn(
                "[dim]{task.fields[message]}",
                table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1),
            ),
            console=console,
            expand=True,
            transient=True,
        )
        self._tasks: dict[str, Any] = {}
        self._began: dict[str, float] = {}
        self._lock = Lock()
        self._stopped = False
        self._title = self._bars.add_task(
            title, total=None, count="", message="", seconds=None, visible=False
        )
        self._timer = Timer(PATIENCE, self._show_title)
        self._timer.daemon = True
        self._timer.start()

    def advance(self, step: Progress) -> None:
        now = monotonic()
        with self._lock:
            began = self._began.setdefault(step.task, now)
            state: dict[str, Any] = {
                "completed": step.done,
                "total": step.total,
                "count": _count(step),
                "message": step.message,
                "seconds": step.seconds,
            }
            if step.task not in self._tasks:
                if not _is_slow(now - began, step):
                    return
                self._tasks[step.task] = self._bars.add_task(step.task, **state)
                self._bars.tasks[-1].start_time = self._bars.get_time() - (now - began)
                self._start()
            self._bars.update(self._tasks[step.task], **state)
            if step.done == step.total:  # a task of this name may start again
                self._bars.remove_task(self._tasks.pop(step.task))
                del self._began[step.task]

    def stop(self) -> None:
        self._timer.cancel()
        with self._lock:
            self._stopped = True
            self._bars.stop()

    def _show_title(self) -> None:
        with self._lock:
            if not self._stopped:
                self._start()

    def _start(self) -> None:
        self._bars.update(self._title, visible=not self._tasks)
        self._bars.start()


def _time_left() -> Any:
    """Return a column with the remaining time.

    It follows the mean time per step so far. If the task says how long it will take, its first
    steps count less, because they need not be like the others.
    """
    from rich.progress import ProgressColumn, Task
    from rich.table import Column
    from rich.text import Text

    class TimeLeft(ProgressColumn):
        max_refresh = 0.5

        def render(self, task: Task) -> Text:
            whole = _expected(task.elapsed, task.completed, task.total, task.fields["seconds"])
            if whole is None or task.elapsed is None:
                return Text("")
            left = timedelta(seconds=round(max(whole - task.elapsed, 0.0)))
            return Text(f"{left} left", style="cyan")

    return TimeLeft(table_column=Column(no_wrap=True))


def _expected(
    elapsed: float | None, done: float, total: float | None, seconds: float | None
) -> float | None:
    """Return the seconds that a task takes as a whole; None if nothing says it."""
    if elapsed is None or not total or (not done and seconds is None):
        return None
    share = done / total
    by_pace = elapsed / share if share else 0.0
    if seconds is None:
        return by_pace
    weight = min(share / _REPRESENTATIVE, 1.0)
    return weight * by_pace + (1 - weight) * max(seconds, elapsed)


def _count(step: Progress) -> str:
    if step.total is None:
        return f"{step.done}"
    if step.total > _MAX_COUNT:
        return f"{100 * step.done // step.total} %"
    return f"{step.done}/{step.total}"


def _is_slow(elapsed: float, step: Progress) -> bool:
    """Return whether a task has taken `PATIENCE` seconds or, by what is known of it, will."""
    if elapsed >= PATIENCE or (step.seconds or 0.0) >= PATIENCE:
        return True
    if not step.total or not step.done:
        return False
    return elapsed >= 0.1 and elapsed * step.total / step.done >= PATIENCE
