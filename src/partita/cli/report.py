"""`partita report`: write a report on a consensus."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from partita.cli._messages import Messages, print_json
from partita.cli._options import (
    Columns,
    Decimal,
    Encoding,
    IdColumn,
    Json,
    LabelsColumn,
    LabelsFile,
    MissingValues,
    NoHeader,
    Noise,
    NoiseOption,
    PartitionsFile,
    Quiet,
    Seed,
)

__all__ = ["run"]


def run(
    partitions: PartitionsFile,
    labels: LabelsFile,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Report to write: .html or .json.")
    ] = Path("report.html"),
    labels_column: LabelsColumn = None,
    truth_column: Annotated[
        str | None, typer.Option(help="Column of PARTITIONS with the true classes, for scores.")
    ] = None,
    compare: Annotated[
        list[str] | None,
        typer.Option(
            "--compare", help="Key of a method to compare, or all; repeat for more.", metavar="KEY"
        ),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(
            "--features",
            help="Table of features or annotations of the samples: numbers and categories.",
            metavar="FILE",
        ),
    ] = None,
    feature_columns: Annotated[
        list[str] | None,
        typer.Option(
            help="Columns of --features to use, by name or pattern, for .h5ad of obs; repeat for "
            "more. By default all, for .h5ad what --use says."
        ),
    ] = None,
    use: Annotated[
        str | None,
        typer.Option(
            help="Features of an .h5ad file: X or a key of obsm; by default X_pca, without it X."
        ),
    ] = None,
    scan: Annotated[
        str | None,
        typer.Option("--scan", help="Numbers of clusters to scan, or auto.", metavar="LOW:HIGH"),
    ] = None,
    hierarchy: Annotated[
        bool, typer.Option("--hierarchy", help="Add the hierarchy of clusters without a K.")
    ] = False,
    title: Annotated[str, typer.Option(help="Title of the report.")] = "Consensus clustering",
    columns: Columns = None,
    id_column: IdColumn = None,
    missing_values: MissingValues = None,
    no_header: NoHeader = False,
    encoding: Encoding = None,
    decimal: Decimal = ".",
    noise: NoiseOption = Noise.missing,
    as_json: Json = False,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Write a report on a consensus: one HTML file with tables and figures.

    The samples of the tables are matched by --id-column, without it by their order.
    """
    from partita.cli._progress import progress_bars
    from partita.cli._report_parts import report_parts
    from partita.cli._tables import Source, check_report
    from partita.reporting import report as write_report

    check_report(output)
    messages = Messages(quiet)
    with progress_bars("reading", quiet=quiet):
        source = Source(partitions, columns, id_column, missing_values, no_header, encoding)
        data = source.ensemble(noise, messages, truth_column)
        source = Source(labels, None, id_column, missing_values, no_header, encoding)
        consensus = source.consensus(labels_column, data.ensemble)
    source = Source(features or "", feature_columns, id_column, missing_values, no_header, encoding)
    with progress_bars("report", quiet=quiet):
        parts = report_parts(
            data,
            consensus,
            methods=compare,
            features=partial(
                source.features, use, allow_missing=True, allow_text=True, decimal=decimal
            )
            if features
            else None,
            scan=scan,
            hierarchy=hierarchy,
            seed=seed,
        )
        summary = write_report(data.ensemble, consensus, output, y=data.truth, title=title, **parts)
    if as_json:
        print_json(summary)
    messages.show(f"wrote {output}")
