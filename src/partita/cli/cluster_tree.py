"""`partita cluster-tree`: follow clusters over resolutions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from partita.cli._messages import Messages, escape_markup, print_json, print_table
from partita.cli._options import (
    Columns,
    Encoding,
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

_PICTURES = (".png", ".svg", ".pdf")


def run(
    partitions: PartitionsFile,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Picture to write: .png, .svg or .pdf."),
    ] = None,
    columns: Columns = None,
    id_column: IdColumn = None,
    missing_values: MissingValues = None,
    no_header: NoHeader = False,
    encoding: Encoding = None,
    noise: NoiseOption = Noise.missing,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Follow clusters over partitions from coarse to fine, as clustree does.

    The partitions are the columns in the order of the table. The result has one line per cluster of
    the first partition: the partition where this branch is most stable. The picture and --json have
    all clusters and the flows between them.
    """
    from partita.alignment import cluster_tree
    from partita.cli._progress import progress_bars
    from partita.cli._tables import Source
    from partita.io import check_target
    from partita.plotting import ClusterTreeDisplay

    if output is not None:
        check_target(output, _PICTURES)
    messages = Messages(quiet)
    with progress_bars("reading", quiet=quiet):
        source = Source(partitions, columns, id_column, missing_values, no_header, encoding)
        ensemble = source.ensemble(noise, messages).ensemble
    tree = cluster_tree(ensemble)
    if output is not None:
        ClusterTreeDisplay(tree).save(output)
    if as_json:
        print_json(
            {
                "clusters": tree.node_records(),
                "flows": tree.edge_records(),
                "branches": tree.branch_records(),
            }
        )
    else:
        rows = [
            [
                escape_markup(str(record["branch"])),
                f"{record['n_samples']}",
                escape_markup(str(record["partition"])),
                f"{record['n_clusters']}",
                f"{record['stability']:.3f}",
            ]
            for record in tree.branch_records()
        ]
        names = ["branch", "samples", "most stable in", "clusters there", "stability"]
        print_table(names, rows, numbers=True)
    if output is not None:
        messages.show(f"wrote {output}")
