"""`partita convert`: copy labels from one kind of file to another."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from partita.cli._messages import Messages, print_json
from partita.cli._options import (
    Columns,
    Encoding,
    IdColumn,
    Json,
    MissingValues,
    NoHeader,
    Noise,
    NoiseOption,
    Quiet,
)

__all__ = ["run"]


def run(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE", help="Labels: .csv, .tsv, .parquet, .npy, .npz, .h5ad or a store."
        ),
    ],
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="File to write, or a new folder for a store (no suffix or .store).",
        ),
    ],
    columns: Columns = None,
    id_column: IdColumn = None,
    missing_values: MissingValues = None,
    no_header: NoHeader = False,
    encoding: Encoding = None,
    noise: NoiseOption = Noise.missing,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Copy labels block by block between files and stores of any size."""
    from partita.cli._progress import progress_bars
    from partita.io import MISSING_VALUES, convert

    with progress_bars("converting", quiet=quiet):
        done = convert(
            source,
            target,
            columns=columns,
            id_column=id_column,
            missing_values=MISSING_VALUES if missing_values is None else missing_values,
            noise=noise.value,
            header=not no_header,
            encoding=encoding,
        )
    if as_json:
        print_json(asdict(done) | {"target": str(done.target)})
    ids = "with ids" if done.has_sample_ids else "without ids"
    Messages(quiet).show(
        f"wrote {done.target}: {done.n_samples} samples, {done.n_partitions} partitions, {ids}"
    )
