"""`partita compare`: run many methods on the same partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from partita.cli._messages import (
    Messages,
    check_methods,
    escape_markup,
    print_json,
    print_table,
)
from partita.cli._options import (
    ClustersOrAuto,
    Columns,
    Encoding,
    IdColumn,
    Json,
    Methods,
    MissingValues,
    NoHeader,
    Noise,
    NoiseOption,
    Output,
    PartitionsFile,
    Quiet,
    Seed,
    number_or_none,
)

if TYPE_CHECKING:
    from partita.comparison import Comparison

__all__ = ["run"]


def run(
    partitions: PartitionsFile,
    clusters: ClustersOrAuto = "auto",
    method: Methods = None,
    truth_column: Annotated[
        str | None, typer.Option(help="Column with the true classes, for scores.")
    ] = None,
    include_partitions: Annotated[
        bool,
        typer.Option(
            "--include-partitions", help="Add the mean and the best of the partitions as rows."
        ),
    ] = False,
    output: Output = None,
    columns: Columns = None,
    id_column: IdColumn = None,
    missing_values: MissingValues = None,
    no_header: NoHeader = False,
    encoding: Encoding = None,
    noise: NoiseOption = Noise.missing,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare methods by agreement, time and memory; --output writes their labels."""
    import numpy as np

    from partita.cli._progress import progress_bars
    from partita.cli._tables import Source, check_output, write
    from partita.comparison import compare

    n_clusters = number_or_none(clusters)
    if output == "-":
        raise ValueError("--output must be a file: the table of methods goes to stdout.")
    check_output(output, as_json, [partitions])
    check_methods(method or [])
    messages = Messages(quiet)
    with progress_bars("reading", quiet=quiet):
        source = Source(partitions, columns, id_column, missing_values, no_header, encoding)
        data = source.ensemble(noise, messages, truth_column)
    with progress_bars("comparing", quiet=quiet):
        comparison = compare(
            data.ensemble,
            method or "all",
            n_clusters,
            y=data.truth,
            include_partitions=include_partitions,
            random_state=seed,
        )
    if output is not None:
        results = {
            name: np.ma.masked_equal(labels, -1) for name, labels in comparison.labels.items()
        }
        write(data.with_ids(results), output, base=partitions)
        messages.show(f"wrote {output}: the labels of {len(results)} methods")
    if as_json:
        print_json(comparison.records)
    else:
        _print(comparison)


def _print(comparison: Comparison) -> None:
    measures = [m for m in ("anmi", "agreement", "ACC", "NMI", "ARI") if m in comparison.records[0]]
    rows, failures = [], []
    for record in comparison.records:
        if record["failure"] is not None:
            failures.append([escape_markup(record["method"]), escape_markup(record["failure"])])
            continue
        cells = [escape_markup(record["method"]), "", "", ""]
        if record["seconds"] is not None:  # not a row about the partitions
            cells[1:] = [f"{record['n_clusters']}", f"{record['seconds']:.3g}"]
            cells.append(f"{record['peak_bytes'] / 2**20:.0f}")
        rows.append([*cells, *("" if record[m] is None else f"{record[m]:.3f}" for m in measures)])
    names = [{"anmi": "ANMI"}.get(m, m) for m in measures]
    print_table(
        ["method", "clusters", "seconds", "peak MB", *names],
        rows,
        numbers=True,
        optional=("peak MB",),
    )
    if failures:
        print_table(["failed", "reason"], failures, wrapped=("reason",))
