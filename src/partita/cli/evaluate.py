"""`partita evaluate`: score clusterings against the true classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from partita.cli._messages import Messages, escape_markup, print_json, print_table
from partita.cli._options import Columns, Encoding, IdColumn, Json, MissingValues, NoHeader, Quiet

if TYPE_CHECKING:
    from partita.io import Table

__all__ = ["run"]


def run(
    labels: Annotated[
        str,
        typer.Argument(
            metavar="LABELS", help="Table with one clustering per column, or - for CSV on stdin."
        ),
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
    encoding: Encoding = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Score clusterings against the true classes by all measures.

    The samples of two tables are matched by --id-column, without it by their order.
    """
    from partita._input.label_vector import code_labels
    from partita.cli._tables import Source, in_order_of, one_column

    if truth is None and truth_column is None:
        raise ValueError("Pass the table with the true classes, or name their --truth-column.")
    chosen = _columns_of(labels, columns, truth_column if truth is None else None)
    table = Source(labels, chosen, id_column, missing_values, no_header, encoding).labels()
    truth_table = table
    if truth is not None:
        chosen = _columns_of(truth, [truth_column] if truth_column else None, None)
        truth_table = Source(truth, chosen, id_column, missing_values, no_header, encoding).labels()
    truth_name, y = one_column(truth_table, truth_column, "--truth-column")
    if truth is not None:
        y = in_order_of(table.ids, table.n_samples, truth_table, y)
    names = _label_columns(table, columns, truth_name if truth is None else None)
    classes, _ = code_labels(y, name=truth_name, noise="cluster")
    messages = Messages(quiet)
    scores = {name: _scores(classes, table.columns[name], name, messages) for name in names}
    if as_json:
        print_json(scores)
        return
    measures = list(next(iter(scores.values())))
    rows = [[escape_markup(name), *(f"{s[m]:.3f}" for m in measures)] for name, s in scores.items()]
    variants = [m for m in reversed(measures) if m.startswith("NMI_")]
    print_table(["column", *measures], rows, numbers=True, optional=variants)


def _columns_of(
    path: str, patterns: list[str] | None, truth_column: str | None
) -> list[str] | None:
    """Return the columns to read: those that are needed of an .h5ad file, all of another."""
    if not path.endswith(".h5ad") or patterns is None:
        return None
    return [*patterns, *([truth_column] if truth_column else [])]


def _label_columns(table: Table, patterns: list[str] | None, truth_column: str | None) -> list[str]:
    from partita.io import choose_columns

    measures = {
        f"{name}{suffix}"  # written by `partita fuse`
        for name in table.columns
        for suffix in ("_confidence", "_margin", "_runner_up")
    }
    names = [c for c in table.columns if c != truth_column and c not in measures]
    return choose_columns(names, patterns, None, table.source)


def _scores(classes: Any, column: Any, name: str, messages: Messages) -> dict[str, float]:
    """Return all measures over the samples that have both a class and a label."""
    from partita._input.label_vector import code_labels
    from partita.metrics import element_centric_similarity
    from partita.metrics import evaluate as evaluate_labels

    codes, _ = code_labels(column, name=name, noise="cluster")
    both = (classes >= 0) & (codes >= 0)
    n_left_out = len(both) - int(both.sum())
    if n_left_out == len(both):
        raise ValueError(f"No sample has both a true class and a label in {name!r}.")
    if n_left_out:
        messages.show(f"{name}: {n_left_out} samples without class or label left out")
    y, labels = classes[both], codes[both]
    return {**evaluate_labels(y, labels), "ECS": element_centric_similarity(y, labels)}
