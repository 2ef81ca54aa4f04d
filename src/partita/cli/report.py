"""`partita report`: a page on a consensus that exists already."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from partita.cli._messages import Messages, print_json
from partita.cli._options import (
    Columns,
    IdColumn,
    Json,
    MissingValues,
    NoHeader,
    Noise,
    NoiseOption,
    PartitionsFile,
    Quiet,
)

__all__ = ["run"]


def run(
    labels: PartitionsFile,
    consensus: Annotated[
        str, typer.Argument(metavar="CONSENSUS", help="Table with the consensus of the samples.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Page to write, .html, or its content as .json.")
    ] = Path("report.html"),
    consensus_column: Annotated[
        str | None, typer.Option(help="Column of CONSENSUS; consensus, or the only one.")
    ] = None,
    truth_column: Annotated[
        str | None, typer.Option(help="Column of LABELS with true classes.")
    ] = None,
    title: Annotated[str, typer.Option(help="Heading of the page.")] = "Consensus clustering",
    columns: Columns = None,
    id_column: IdColumn = None,
    missing_values: MissingValues = None,
    no_header: NoHeader = False,
    noise: NoiseOption = Noise.missing,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a report on a consensus: one HTML file with tables and figures.

    With --id-column, samples of the two tables are matched by it; otherwise by their order.
    """
    from partita.cli._progress import progress_bars
    from partita.cli._tables import Source, check_report, in_order_of, one_column
    from partita.reporting import report as write_report

    check_report(output)
    messages = Messages(quiet)
    with progress_bars("reading", quiet=quiet):
        source = Source(labels, columns, id_column, missing_values, no_header)
        given = source.ensemble(noise, messages, truth_column)
        table = Source(consensus, None, id_column, missing_values, no_header).labels()
    if consensus_column is None and "consensus" in table.columns:
        consensus_column = "consensus"
    _, found = one_column(table, consensus_column, "--consensus-column")
    ids, n_samples = given.ensemble.sample_ids, given.ensemble.n_samples
    with progress_bars("report", quiet=quiet):
        summary = write_report(
            given.ensemble,
            in_order_of(ids, n_samples, table, found),
            output,
            y=given.truth,
            title=title,
        )
    if as_json:
        print_json(summary)
    messages.show(f"wrote {output}")
