"""Run the fits of a table that have no record, in processes, the cheap ones first."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from multiprocessing import get_context
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from benchmarks.papers._ensembles import read
from benchmarks.papers._expect import Expectation
from benchmarks.papers._fit import fit_task
from benchmarks.papers._records import FOLDER, OtherPartitionsError, Records, missing
from benchmarks.papers._tables import Table, Task
from partita.exceptions import InvalidFileError


def unavailable(table: Table) -> dict[str, str]:
    """Return the data sets of a table that are not at hand or are damaged, with the reason."""
    reasons = {}
    for name in table.data:
        try:
            read(name, json.loads(table.recipe(name))["kind"])
        except (FileNotFoundError, InvalidFileError) as error:
            reasons[name] = str(error)
    return reasons


def expectation(folder: Path = FOLDER) -> Expectation:
    papers = [path.stem for path in sorted(folder.glob("*.jsonl"))]
    return Expectation([Records(paper, folder) for paper in papers])


def run(
    table: Table,
    *,
    n_jobs: int = 1,
    minutes: float | None = None,
    longest: float | None = None,
    largest: int | None = None,
    folder: Path = FOLDER,
) -> dict[Task, BaseException]:
    """Compute the missing fits of a table and write each record at once.

    `minutes` ends the run after that time (fits that have begun are finished), `longest` leaves out
    fits that are expected to take more seconds, `largest` data sets of more samples. A draw whose
    partitions are not those of its records is left after its first fit. Returns the fits that
    failed.
    """
    console = Console(stderr=True)
    reasons = unavailable(table)
    for name, reason in reasons.items():
        console.print(f"{name} is left out. {reason}", highlight=False)
    records = Records(table.paper, folder)
    expected = expectation(folder)
    tasks = [t for t in missing(table.tasks(), {table.paper: records}) if t.data not in reasons]
    cost = {task: expected.seconds(task) for task in tasks}
    if longest is not None:
        tasks = [task for task in tasks if cost[task] <= longest]
    if largest is not None:
        tasks = [task for task in tasks if expected.sizes.get(task.data, 0) <= largest]
    tasks.sort(key=lambda task: (cost[task], task.draw))
    failures: dict[Task, BaseException] = {}
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task(table.key, total=len(tasks))
        end = None if minutes is None else time.monotonic() + 60 * minutes
        left: set[tuple[str, str, int]] = set()
        waiting = (t for t in tasks if (t.data, t.recipe, t.draw) not in left)
        for task, future in finished(waiting, n_jobs, end):
            error = future.exception()
            if error is None:
                try:
                    records.add(task, future.result())
                except OtherPartitionsError as other:
                    error = other
                    left.add((task.data, task.recipe, task.draw))
            if error is not None:
                failures[task] = error
                console.print(f"{task.data}, {task.key}: {error!r}", highlight=False)
            progress.update(bar, advance=1, description=f"{table.key} {task.data} {task.key}")
    return failures


def workers(n_jobs: int) -> Executor:
    """Return processes, or a thread for one job: it need not import the library again."""
    if n_jobs == 1:
        return ThreadPoolExecutor(1)
    return ProcessPoolExecutor(n_jobs, mp_context=get_context("spawn"))


def finished(
    tasks: Iterable[Task], n_jobs: int, end: float | None
) -> Iterator[tuple[Task, Future[dict[str, object]]]]:
    """Yield tasks as they end. No new task begins after `end`."""
    waiting = iter(tasks)
    with workers(n_jobs) as executor:
        running: dict[Future[dict[str, object]], Task] = {}
        while True:
            while len(running) < n_jobs and (end is None or time.monotonic() < end):
                task = next(waiting, None)
                if task is None:
                    break
                running[executor.submit(fit_task, task)] = task
            if not running:
                return
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield running.pop(future), future
