"""Output of commands: tables and JSON on stdout, messages and hints on stderr."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import typer

__all__ = [
    "METHODS_HINT",
    "Messages",
    "escape_markup",
    "hint_on_error",
    "print_json",
    "print_table",
    "show_problem",
]

METHODS_HINT = "`partita methods` lists the keys of all methods"


class Messages:
    """Messages to the user on stderr; none if `quiet`."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet

    def show(self, text: str) -> None:
        if not self.quiet:
            _stderr().print(escape_markup(text))

    def hint(self, text: str) -> None:
        if not self.quiet:
            _stderr().print(f"[bold cyan]hint:[/] {escape_markup(text)}")


def show_problem(
    text: str, hints: Sequence[str], kind: Literal["error", "warning"] = "error"
) -> None:
    """Print an error or a warning with its hints, also with --quiet."""
    console = _stderr()
    console.print(
        f"[bold {'red' if kind == 'error' else 'yellow'}]{kind}:[/] {escape_markup(text)}"
    )
    for hint in hints:
        console.print(f"[bold cyan]hint:[/] {escape_markup(hint)}")


@contextmanager
def hint_on_error(text: str) -> Iterator[None]:
    """Add a hint to a ValueError that is raised inside."""
    try:
        yield
    except ValueError as error:
        error.add_note(text)
        raise


def print_json(value: Any) -> None:
    """Print a JSON value on stdout; NumPy values are converted and NaN becomes null."""
    typer.echo(json.dumps(_json(value), indent=2, ensure_ascii=False, allow_nan=False))


def _json(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _json(item) for key, item in value.items()}
    if isinstance(value, str) or value is None:
        return value
    if hasattr(value, "tolist"):
        return _json(value.tolist())
    if isinstance(value, Sequence):
        return [_json(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def print_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    numbers: bool = False,
    section_after: int | None = None,
) -> None:
    """Print a table on stdout.

    Cells may contain the markup of rich. Pass text of other origin through `escape_markup`.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for i, column in enumerate(columns):
        justify: Literal["left", "right"] = "right" if numbers and i else "left"
        table.add_column(column, justify=justify, overflow="fold")
    for i, row in enumerate(rows):
        table.add_row(*row, end_section=i == section_after)
    console = Console(highlight=False)
    if not console.is_terminal:  # do not wrap lines that a program reads
        console = Console(highlight=False, width=200)
    console.print(table)


def escape_markup(text: str) -> str:
    """Return text whose square brackets rich does not take as markup."""
    from rich.markup import escape

    return escape(text)


def _stderr() -> Any:
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True)
