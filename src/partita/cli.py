"""The command line: each command is one call of the library and its presentation.

Data go to stdout, talk and progress to stderr. A mistake ends in one `error:` line, with `hint:`
lines where an exception carries notes, and exit code 2; `--debug` shows where it happened.
Commands import what they need when they run, so that `partita --help` answers at once.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import Console

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

    from partita.config import Progress
    from partita.datasets import Score

__all__ = ["app", "main"]

app = typer.Typer(
    name="partita",
    help="Ensemble (consensus) clustering: many clusterings in, one better clustering out.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
_PICTURED = "LWGP"
_TASKS = {"generate": "base partitions", "fuse": "consensus"}
_log = logging.getLogger(__name__)


def main() -> None:
    """Run the command line; what the user can mend is said in a line, not in a traceback."""
    try:
        app()
    except (ValueError, MemoryError, OSError) as error:
        if _log.isEnabledFor(logging.DEBUG):
            raise
        talk = _stderr()
        talk.print(f"[bold red]error:[/] {_plain(str(error))}")
        for note in getattr(error, "__notes__", []):
            talk.print(f"[bold cyan]hint:[/] {_plain(note)}")
        raise SystemExit(2) from None


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"partita {version('partita')}")
        raise typer.Exit


def _show_details(wanted: bool) -> None:
    if wanted:
        logging.basicConfig(level=logging.WARNING)
        logging.getLogger("partita").setLevel(logging.DEBUG)


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", callback=_show_details, help="Log details; keep tracebacks."),
    ] = False,
) -> None:
    """Options of all commands; their callbacks do the work."""


# -- commands --------------------------------------------------------------------------------


@app.command()
def demo(
    partitions: Annotated[int, typer.Option(min=2, help="Base partitions to generate.")] = 100,
    method: Annotated[
        list[str] | None, typer.Option(help="Key of a method; repeat for several.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random numbers.")] = 0,
    output: Annotated[Path, typer.Option(help="Picture to write: .png, .svg or .pdf.")] = Path(
        "partita-demo.png"
    ),
) -> None:
    """Fuse many clusterings of handwritten digits, print the scores and draw the consensus."""
    from partita.datasets.demo import DEFAULT_METHODS, run_demo
    from partita.plotting import ConsensusDisplay, ScoresDisplay, draw_overview, save_figure

    _check_output(output)
    with _hint("`partita methods` lists the keys of all methods"), _progress_bars():
        result = run_demo(
            n_partitions=partitions, methods=method or DEFAULT_METHODS, random_state=seed
        )
    _print_scores([*result.scores, result.base_mean, result.base_best], len(result.scores))

    pictured = _PICTURED if _PICTURED in result.labels else result.scores[0].name
    labels = result.labels[pictured]
    consensus = ConsensusDisplay.from_labels(
        result.partitions, labels, name=pictured, resolution=360
    )
    methods = {score.name: score.measures["ARI"] for score in result.scores}
    scores = ScoresDisplay(result.base_measures["ARI"], methods, "ARI")
    save_figure(draw_overview(consensus, scores, result.images, labels), output, dpi=110)
    talk = _stderr()
    talk.print(
        f"wrote {_plain(str(output))}: how far {partitions} partitions agree with {pictured}"
    )
    talk.print("[bold cyan]hint:[/] `partita methods` lists every method")


@app.command()
def methods(
    family: Annotated[str | None, typer.Option(help="Only methods of this family.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the consensus methods."""
    from dataclasses import fields

    from partita.registry import all_methods

    found = all_methods(family=family)
    if not found:
        known = ", ".join(sorted({c.info.family for c in all_methods()}))
        raise ValueError(f"No method of family {family!r}. Known: {known}.")
    records: list[dict[str, Any]] = [
        {"class": c.__name__}
        | {f.name: getattr(c.info, f.name) for f in fields(c.info) if f.name != "bytes_needed"}
        for c in found
    ]
    if as_json:
        typer.echo(json.dumps(records, indent=2, ensure_ascii=False))
        return
    rows = [
        [r["key"], r["name"], r["family"], r["missing"], _yes(not r["deterministic"]), r["memory"]]
        for r in records
    ]
    _print_table(["key", "name", "family", "missing labels", "random", "memory"], rows)


# -- presentation ----------------------------------------------------------------------------


def _stdout() -> Console:
    """Lines as wide as they need to be where a program reads them."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=200)


def _stderr() -> Console:
    return Console(stderr=True, highlight=False, soft_wrap=True)


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)


@contextmanager
def _hint(text: str) -> Iterator[None]:
    """Add a hint to an error that passes."""
    try:
        yield
    except ValueError as error:
        error.add_note(text)
        raise


def _check_output(path: Path) -> None:
    """Refuse before the work, not after it, what could not be written."""
    if path.suffix not in (".png", ".svg", ".pdf"):
        raise ValueError(f"--output must end in .png, .svg or .pdf, got {str(path)!r}.")
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"No folder {str(path.absolute().parent)!r} to write into.")


@contextmanager
def _progress_bars() -> Iterator[None]:
    """Show the library's progress callback as bars on stderr."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from partita.config import config_context

    bars = Progress(
        TextColumn("{task.description:<16}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("[dim]{task.fields[message]}"),
        console=_stderr(),
    )
    tasks: dict[str, Any] = {}
    with bars, config_context(progress=lambda step: _advance(bars, tasks, step)):
        yield


def _advance(bars: Bars, tasks: dict[str, Any], step: Progress) -> None:
    """One bar per task; those of single methods go when they are done."""
    if step.task not in tasks:
        name = _TASKS.get(step.task, step.task)
        tasks[step.task] = bars.add_task(name, total=step.total, message="")
    bars.update(tasks[step.task], completed=step.done, total=step.total, message=step.message)
    if step.task not in _TASKS and step.done == step.total:
        bars.remove_task(tasks.pop(step.task))


def _print_scores(scores: list[Score], n_methods: int) -> None:
    measures = list(scores[0].measures)
    best = {m: max(score.measures[m] for score in scores[:n_methods]) for m in measures}
    rows = []
    for place, score in enumerate(scores):
        cells = [f"{score.measures[m]:.3f}" for m in measures]
        if place < n_methods:
            cells = [
                f"[bold]{cell}[/]" if score.measures[m] == best[m] else cell
                for m, cell in zip(measures, cells, strict=True)
            ]
        rows.append([score.name, *cells, f"{score.seconds:.2f}"])
    _print_table(["method", *measures, "seconds"], rows, numbers=True, section_after=n_methods - 1)


def _print_table(
    columns: list[str],
    rows: list[list[str]],
    *,
    numbers: bool = False,
    section_after: int | None = None,
) -> None:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, column in enumerate(columns):
        justify: Literal["left", "right"] = "right" if numbers and place else "left"
        table.add_column(column, justify=justify, overflow="fold")
    for place, row in enumerate(rows):
        table.add_row(*row, end_section=place == section_after)
    _stdout().print(table)
