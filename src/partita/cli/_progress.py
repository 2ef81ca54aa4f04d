"""The library's progress callback as bars on a terminal, for whatever takes its time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Lock, Timer
from time import monotonic
from typing import Any

from partita.config import Progress, config_context

__all__ = ["PATIENCE", "progress_bars"]

PATIENCE = 2.0  # seconds: what is done by then shows no bar
_COUNTABLE = 10_000  # steps; more are shown as a share


@contextmanager
def progress_bars(what: str, *, quiet: bool) -> Iterator[None]:
    """Bars with the time left for work over two seconds; nothing where stderr is no terminal.

    `what` names the whole; it is shown, without a time, while no task has reported any progress.
    """
    from rich.console import Console

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield
        return
    bars = _Bars(what, console)
    try:
        with config_context(progress=bars.advance):
            yield
    finally:
        bars.stop()


class _Bars:
    """A bar per task, shown once the task has run, or will run, longer than a person waits."""

    def __init__(self, what: str, console: Any) -> None:
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        self._bars = RichProgress(
            TextColumn("{task.description:<16}"),
            BarColumn(),
            TextColumn("{task.fields[count]}"),
            TimeElapsedColumn(),
            _time_left(),
            TextColumn("[dim]{task.fields[message]}"),
            console=console,
            transient=True,
        )
        self._tasks: dict[str, Any] = {}
        self._began: dict[str, float] = {}
        self._lock = Lock()
        self._stopped = False
        self._whole = self._bars.add_task(what, total=None, count="", message="", visible=False)
        self._timer = Timer(PATIENCE, self._show_the_whole)
        self._timer.daemon = True
        self._timer.start()

    def advance(self, step: Progress) -> None:
        now = monotonic()
        with self._lock:
            began = self._began.setdefault(step.task, now)
            if step.task not in self._tasks:
                if not _takes_its_time(now - began, step):
                    return
                self._tasks[step.task] = self._bars.add_task(step.task, count="", message="")
                self._bars.tasks[-1].start_time = self._bars.get_time() - (now - began)
                self._start()
            self._bars.update(
                self._tasks[step.task],
                completed=step.done,
                total=step.total,
                count=_count(step),
                message=step.message,
            )
            if step.done == step.total:  # it may come again, from the beginning
                self._bars.remove_task(self._tasks.pop(step.task))
                del self._began[step.task]

    def stop(self) -> None:
        self._timer.cancel()
        with self._lock:
            self._stopped = True
            self._bars.stop()

    def _show_the_whole(self) -> None:
        with self._lock:
            if not self._stopped:
                self._start()

    def _start(self) -> None:
        self._bars.update(self._whole, visible=not self._tasks)
        self._bars.start()


def _time_left() -> Any:
    """A column with the time left by the mean pace so far, from the first step on."""
    from rich.progress import ProgressColumn, Task
    from rich.text import Text

    class TimeLeft(ProgressColumn):
        max_refresh = 0.5

        def render(self, task: Task) -> Text:
            if not task.total or not task.completed or task.elapsed is None:
                return Text("")
            left = task.elapsed * (task.total - task.completed) / task.completed
            return Text(f"{timedelta(seconds=round(left))} left", style="cyan")

    return TimeLeft()


def _count(step: Progress) -> str:
    if step.total is None:
        return f"{step.done}"
    if step.total > _COUNTABLE:
        return f"{100 * step.done // step.total} %"
    return f"{step.done}/{step.total}"


def _takes_its_time(elapsed: float, step: Progress) -> bool:
    """Whether a task has run for two seconds or, by its pace so far, will run that long."""
    if elapsed >= PATIENCE:
        return True
    if not step.total or not step.done:
        return False
    return elapsed >= 0.1 and elapsed * step.total / step.done >= PATIENCE
