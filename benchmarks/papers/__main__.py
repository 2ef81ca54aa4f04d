"""Tables and figures of the papers: ours beside the printed values.

python -m benchmarks.papers list                      tables, what is done, what is left
python -m benchmarks.papers run 003-table4 [--quick]  compute what has no record
python -m benchmarks.papers report [--check]          write docs/papers from the records
python -m benchmarks.papers figures                   draw the figures from the records
python -m benchmarks.papers time                      time base partitions of what is left
python -m benchmarks.papers prune                     delete records that no table asks for
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table as Grid

from benchmarks.papers._ensembles import fetch_missing
from benchmarks.papers._expect import by_size, hours
from benchmarks.papers._explanations import reasons_text
from benchmarks.papers._figures import draw_figures
from benchmarks.papers._generation import time_partitions
from benchmarks.papers._pages import DOCS, stale, write_pages
from benchmarks.papers._records import FOLDER, Records, missing
from benchmarks.papers._run import expectation, run, unavailable
from benchmarks.papers._tables import Task, read_tables
from benchmarks.papers._verdicts import SIGNS, cells


def main() -> int:
    options = parse()
    match options.command:
        case "list":
            show_list()
        case "run":
            return run_tables(options)
        case "report":
            return report(check=options.check)
        case "figures":
            for line in draw_figures(DOCS / "images"):
                print(line)
        case "time":
            for line in time_partitions(left_tasks()):
                print(line)
        case "prune":
            for paper, tasks in asked_tasks().items():
                print(f"{paper}: {Records(paper).prune(tasks)} records deleted")
    return 0


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.papers", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="tables, what is done, what is left")
    compute = commands.add_parser("run", help="compute what has no record")
    compute.add_argument("tables", nargs="+", choices=[*read_tables(), "all"])
    compute.add_argument("--quick", action="store_true", help="few small sets and draws")
    compute.add_argument("--data", nargs="+", help="only these data sets")
    compute.add_argument("--draws", type=int, help="at most so many draws")
    compute.add_argument("--jobs", type=int, default=1, help="processes")
    compute.add_argument("--minutes", type=float, help="begin no fit after this time")
    compute.add_argument("--longest", type=float, help="leave out fits of more seconds")
    compute.add_argument("--largest", type=int, help="leave out data sets of more samples")
    compute.add_argument("--fetch", action="store_true", help="fetch missing sets from OpenML")
    compute.add_argument("--records", type=Path, default=FOLDER, help="folder of the records")
    pages = commands.add_parser("report", help="write docs/papers from the records")
    pages.add_argument("--check", action="store_true", help="only compare; 1 if out of date")
    commands.add_parser("figures", help="draw the figures from the records")
    commands.add_parser("time", help="time base partitions of what is left")
    commands.add_parser("prune", help="delete records that no table asks for")
    return parser.parse_args()


def asked_tasks() -> dict[str, list[Task]]:
    """Return every fit of the tables and figures, by paper."""
    tasks: dict[str, list[Task]] = {}
    for table in read_tables().values():
        tasks.setdefault(table.paper, []).extend(table.tasks())
    return tasks


def left_tasks() -> list[Task]:
    """Return every fit without a record."""
    tasks = asked_tasks()
    records = {paper: Records(paper) for paper in tasks}
    return [task for some in tasks.values() for task in missing(some, records)]


def show_list() -> None:
    """Print every table with its state and the expected hours of what is left."""
    expected, grid = expectation(), Grid("table", "title", "fits", "left", "hours left")
    every: list[Task] = []
    every_left: list[Task] = []
    notes: dict[tuple[str, str], list[str]] = {}
    tables = read_tables()
    records = {paper: Records(paper) for paper in {table.paper for table in tables.values()}}
    for table in tables.values():
        tasks = list(dict.fromkeys(table.tasks()))
        left = missing(tasks, records)
        every += tasks
        every_left += left
        grid.add_row(
            table.key, table.title, str(len(tasks)), str(len(left)), f"{hours(left, expected):.2g}"
        )
        for note in [*unavailable(table).items(), *table.missing.items()]:
            notes.setdefault(note, []).append(table.key)
    every, every_left = list(dict.fromkeys(every)), list(dict.fromkeys(every_left))
    grid.add_section()
    left_by_size = by_size(every_left, expected)
    for size, tasks in by_size(every, expected).items():
        left = left_by_size[size]
        numbers = str(len(tasks)), str(len(left)), f"{hours(left, expected):.2g}"
        grid.add_row("all", f"every fit once, data sets of {size}", *numbers)
    numbers = str(len(every)), str(len(every_left)), f"{hours(every_left, expected):.2g}"
    grid.add_row("all", "every fit once", *numbers)
    console = Console(width=140)
    console.print(grid)
    if notes:
        console.print("Not at hand:")
    for (data, why), keys in notes.items():
        console.print(f"{data} ({', '.join(keys)}): {why.rstrip('.')}.", highlight=False)


def run_tables(options: argparse.Namespace) -> int:
    """Run tables and print their cells."""
    if options.fetch:
        fetch_missing()
    tables = read_tables()
    failures = 0
    for key in tables if "all" in options.tables else options.tables:
        table = tables[key].limited(quick=options.quick, data=options.data, draws=options.draws)
        limits = {n: getattr(options, n) for n in ("minutes", "longest", "largest")}
        failures += len(run(table, n_jobs=options.jobs, folder=options.records, **limits))
        grid = Grid("data", "method", "measure", "draws", "ours", "printed", "verdict", "")
        results = cells(table, Records(table.paper, options.records))
        for cell in results:
            ours = f"{cell.mean:.3f}"
            if len(cell.values) > 1:
                ours += f" ± {cell.deviation:.3f}"
            sign = SIGNS[cell.verdict]
            names = cell.data, cell.method.name, cell.measure, str(len(cell.values))
            grid.add_row(*names, ours, str(cell.printed or ""), cell.verdict, sign)
        console = Console(width=140)
        console.print(grid)
        console.print(reasons_text(results).replace("**", ""), markup=False, highlight=False)
    return int(failures > 0)


def report(*, check: bool) -> int:
    """Write the pages, or name those that are out of date."""
    if not check:
        for path in write_pages():
            print(f"wrote {path.name}")
        return 0
    for path in (old := stale()):
        print(f"docs/papers/{path.name} is out of date: run python -m benchmarks.papers report")
    return int(bool(old))


if __name__ == "__main__":
    sys.exit(main())
