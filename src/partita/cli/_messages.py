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
    "check_methods",
    "counted",
    "escape_markup",
    "hint_on_error",
    "print_json",
    "print_table",
    "show_problem",
]

_NARROWEST = 24  # characters of a column that may wrap
_PADDING = 3  # characters between columns
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


def check_methods(keys: str | Sequence[str]) -> None:
    """Raise an error for a key of no method, with a hint where the keys are."""
    from partita.registry import get_method

    with hint_on_error(METHODS_HINT):
        for key in [keys] if isinstance(keys, str) else keys:
            get_method(key)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: 1 cluster, 2 clusters."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


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
    wrapped: Sequence[str] = (),
    optional: Sequence[str] = (),
) -> None:
    """Print a table on stdout that fits the terminal.

    Cells may contain the markup of rich. Pass text of other origin through `escape_markup`. Text in
    the columns `wrapped` may continue in the next line. If the terminal is too narrow, the columns
    `optional` are left out, the first one first, and a line says so.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    is_terminal = console.is_terminal
    if not is_terminal:  # do not wrap lines that a program reads
        console = Console(highlight=False, width=200)
    left_out: list[str] = []
    if is_terminal:
        left_out = _left_out(columns, rows, wrapped, optional, console.width)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    shown = [i for i, column in enumerate(columns) if column not in left_out]
    for i in shown:
        justify: Literal["left", "right"] = "right" if numbers and i else "left"
        may_wrap = not is_terminal or i == 0 or columns[i] in wrapped
        table.add_column(columns[i], justify=justify, overflow="fold", no_wrap=not may_wrap)
    for i, row in enumerate(rows):
        table.add_row(*(row[j] for j in shown), end_section=i == section_after)
    console.print(table)
    if left_out:
        console.print(
            f"not shown: {', '.join(reversed(left_out))}; a wider terminal, a pipe or --json has "
            "them",
            style="dim",
        )


def _left_out(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    wrapped: Sequence[str],
    optional: Sequence[str],
    width: int,
) -> list[str]:
    """Return the columns to leave out so that the others fit the width."""
    from rich.text import Text

    widths = {}
    for i, column in enumerate(columns):
        cells = [Text.from_markup(row[i]).cell_len for row in rows]
        natural = max([len(column), *cells])
        widths[column] = min(natural, _NARROWEST) if column in wrapped or i == 0 else natural
    left_out: list[str] = []
    for column in optional:
        if sum(widths.values()) + _PADDING * len(widths) <= width:
            break
        if widths.pop(column, None) is not None:
            left_out.append(column)
    return left_out


def escape_markup(text: str) -> str:
    """Return text whose square brackets rich does not take as markup."""
    from rich.markup import escape

    return escape(text)


def _stderr() -> Any:
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True)
