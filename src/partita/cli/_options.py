"""Options that mean the same in every command that has them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

__all__ = [
    "Clusters",
    "Columns",
    "IdColumn",
    "Json",
    "LabelsFile",
    "Method",
    "Methods",
    "MissingValues",
    "NoHeader",
    "Noise",
    "NoiseOption",
    "Output",
    "Quiet",
    "Seed",
    "k_range",
]

_FORMATS = ".csv, .tsv, .parquet, .npy, .npz or .h5ad"


class Noise(StrEnum):
    """What a label of -1 means."""

    missing = "missing"
    cluster = "cluster"
    singletons = "singletons"


def _keys(incomplete: str) -> list[str]:
    from partita.registry import all_methods

    return [c.info.key for c in all_methods() if c.info.key.startswith(incomplete.lower())]


Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors and warnings.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of all random numbers.")]

LabelsFile = Annotated[
    str,
    typer.Argument(
        metavar="LABELS",
        help=f"Table with a partition per column: {_FORMATS}, a store folder, or - for CSV on "
        "stdin.",
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--columns", "-c", help='Columns to read, by name or pattern ("leiden_*"); repeat for more.'
    ),
]
IdColumn = Annotated[
    str | None, typer.Option("--id-column", "-i", help="Column with the names of the samples.")
]
MissingValues = Annotated[
    list[str] | None,
    typer.Option(
        "--missing-values",
        help="Text that stands for a missing label; repeat for more. "
        'Default: "", NA, NaN, nan, None and null.',
    ),
]
NoHeader = Annotated[
    bool, typer.Option("--no-header", help="The first line of the CSV holds no names.")
]
NoiseOption = Annotated[
    Noise, typer.Option("--noise", help="What a label of -1 means: no label, or a cluster.")
]
Output = Annotated[
    str | None,
    typer.Option("--output", "-o", help=f"File to write: {_FORMATS}; CSV on stdout by default."),
]
Clusters = Annotated[
    str,
    typer.Option(
        "--clusters",
        "-k",
        help="Number of clusters, auto to choose one from 2 to 10, or LOW:HIGH to choose within.",
    ),
]
Method = Annotated[
    str,
    typer.Option(
        "--method", "-m", autocompletion=_keys, help="Key of a method, see `partita methods`."
    ),
]
Methods = Annotated[
    list[str] | None,
    typer.Option("--method", "-m", autocompletion=_keys, help="Key of a method; repeat for more."),
]


def k_range(text: str) -> range:
    """`auto` and `LOW:HIGH` as a range, ends included; a single number as a range of one."""
    low, _, high = "2:10".partition(":") if text == "auto" else text.partition(":")
    try:
        numbers = range(int(low), int(high or low) + 1)
    except ValueError:
        numbers = range(0)
    if not numbers or numbers[0] < 1:
        raise ValueError(f"-k must be a positive number, LOW:HIGH or auto, got {text!r}.")
    return numbers
