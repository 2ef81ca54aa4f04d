"""`partita evaluate`: labels against the truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from partita.cli._messages import Messages, escape_markup, print_json, print_table
from partita.cli._options import Columns, IdColumn, Json, MissingValues, NoHeader, Quiet

if TYPE_CHECKING:
    from partita.io import Table

__all__ = ["run"]


def run(
    labels: Annotated[
        str, typer.Argument(metavar="LABELS", help="Table with a clustering per column, - for CSV.")
    ],
    truth: Annotated[
        str | None,
        typer.Argument(metavar="[TRUTH]", help="Table with the true classes; LABELS by default."),
    ] = None,
    truth_column: Annotated[
        str | None,
        typer.Option(help="Column with the true classes; the only one of TRUTH by default."),
    ] = None,
    columns: Columns = None,
    id_column: IdColumn = None,
    missing_values: MissingValues = None,
    no_header: NoHeader = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Score clusterings against the truth by every measure.

    With --id-column, samples of two tables are matched by it; otherwise by their order.
    """
    from partita.cli._tables import Source, in_order_of, one_column

    if truth is None and truth_column is None:
        raise ValueError("Pass the table with the true classes, or name their --truth-column.")
    table = Source(labels, None, id_column, missing_values, no_header).labels()
    other = (
        table
        if truth is None
        else Source(truth, None, id_column, missing_values, no_header).labels()
    )
    name, y = one_column(other, truth_column, "--truth-column")
    y = y if truth is None else in_order_of(table.ids, table.n_samples, other, y)
    chosen = _chosen(table, columns, name if truth is None else None)
    messages = Messages(quiet)
    scores = {column: _scores(y, table.columns[column], column, messages) for column in chosen}
    if as_json:
        print_json(scores)
        return
    measures = list(next(iter(scores.values())))
    rows = [[escape_markup(c), *(f"{s[m]:.3f}" for m in measures)] for c, s in scores.items()]
    print_table(["column", *measures], rows, numbers=True)


def _chosen(table: Table, patterns: list[str] | None, truth_column: str | None) -> list[str]:
    from partita.io import choose_columns

    measured = {f"{name}_confidence" for name in table.columns}  # what `fuse` says of a column
    names = [c for c in table.columns if c != truth_column and c not in measured]
    return choose_columns(names, patterns, None, table.source)


def _scores(y: Any, found: Any, column: str, messages: Messages) -> dict[str, float]:
    """Every measure over the samples that have both a class and a label."""
    from partita.metrics import evaluate as evaluate_labels

    pairs = [
        (a, b)
        for a, b in zip(y.tolist(), found.tolist(), strict=True)
        if a is not None and b is not None and a == a and b == b
    ]
    if not pairs:
        raise ValueError(f"No sample has both a true class and a label in {column!r}.")
    if len(pairs) < len(found):
        messages.show(
            f"{column}: {len(found) - len(pairs)} samples without class or label left out"
        )
    classes, labels = zip(*pairs, strict=True)
    return evaluate_labels(list(classes), list(labels))
