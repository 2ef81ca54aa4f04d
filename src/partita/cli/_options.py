"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

__all__ = [
    "Clusters",
    "ClustersOrAuto",
    "Columns",
    "Decimal",
    "DropMissing",
    "Encoding",
    "IdColumn",
    "Impute",
    "ImputeOption",
    "Json",
    "LabelsColumn",
    "LabelsFile",
    "Method",
    "Methods",
    "MissingValues",
    "NoHeader",
    "Noise",
    "NoiseOption",
    "Output",
    "PartitionsFile",
    "PartitionsFiles",
    "Quiet",
    "Scale",
    "Seed",
    "k_range",
    "number_or_none",
]

_FORMATS = ".csv, .tsv, .parquet, .npy, .npz or .h5ad"
_READABLE = ".csv, .tsv, .xlsx, .parquet, .npy, .npz or .h5ad"


class Noise(StrEnum):
    """What a label of -1 means."""

    missing = "missing"
    cluster = "cluster"
    singletons = "singletons"


class Impute(StrEnum):
    """What replaces a missing feature."""

    median = "median"
    mean = "mean"


def _keys(incomplete: str) -> list[str]:
    from partita.registry import all_methods

    return [c.info.key for c in all_methods() if c.info.key.startswith(incomplete.lower())]


Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors and warnings only.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the random numbers.")]

Scale = Annotated[
    str,
    typer.Option(
        help="Standardize features: auto (if their units differ), standard or none.",
    ),
]
ImputeOption = Annotated[
    Impute | None,
    typer.Option("--impute", help="Fill missing features with the median or mean of their column."),
]
DropMissing = Annotated[
    bool,
    typer.Option(
        "--drop-missing",
        help="Leave samples with a missing feature out; they get no labels from that table.",
    ),
]

PartitionsFile = Annotated[
    str,
    typer.Argument(
        metavar="PARTITIONS",
        help=f"Table with one partition per column: {_READABLE}, the folder of a store, or - for "
        "CSV on stdin.",
    ),
]
PartitionsFiles = Annotated[
    list[str],
    typer.Argument(
        metavar="PARTITIONS",
        help=f"Table with one partition per column: {_READABLE}, the folder of a store, or - for "
        "CSV on stdin. With --features: one table of features per view.",
    ),
]
LabelsFile = Annotated[
    str,
    typer.Argument(metavar="LABELS", help=f"Table with the consensus of the samples: {_READABLE}."),
]
LabelsColumn = Annotated[
    str | None,
    typer.Option(help="Column of LABELS with the consensus; by default consensus or the only one."),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--columns", "-c", help='Columns to read, by name or pattern ("leiden_*"); repeat for more.'
    ),
]
IdColumn = Annotated[
    str | None, typer.Option("--id-column", "-i", help="Column with the ids of the samples.")
]
MissingValues = Annotated[
    list[str] | None,
    typer.Option(
        "--missing-values",
        help="Text that stands for a missing label; repeat for more. "
        'Replaces the default: "", NA, NaN, nan, None and null.',
    ),
]
NoHeader = Annotated[
    bool, typer.Option("--no-header", help="The first line of the CSV has no column names.")
]
Encoding = Annotated[
    str | None,
    typer.Option(
        help="Encoding of a text file, for example latin-1 or cp1252; UTF-8 by default, UTF-16 is "
        "recognized."
    ),
]
Decimal = Annotated[str, typer.Option(help='Decimal sign of features in a text file: "." or ",".')]
NoiseOption = Annotated[
    Noise,
    typer.Option(
        "--noise", help="What a label of -1 means: no label, one cluster, or a cluster per sample."
    ),
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
        help="Number of clusters; LOW:HIGH to choose one in this range, auto for 2:10, or 2:30 if "
        "there may be more (or what the method chooses, if it needs no number).",
    ),
]
NumbersOfClusters = Annotated[
    str,
    typer.Option(
        "--clusters",
        "-k",
        help="Numbers of clusters, LOW:HIGH; auto for 2:10, or 2:30 if there may be more.",
    ),
]
ClustersOrAuto = Annotated[
    str,
    typer.Option(
        "--clusters",
        "-k",
        help="Number of clusters; auto chooses 2 to 10 against a null, or 2 to 30 if there may be "
        "more.",
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


def number_or_none(text: str) -> int | None:
    """Return a number of clusters; None for auto."""
    if text == "auto":
        return None
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"-k must be a positive number or auto, got {text!r}.")
    return int(text)


def k_range_or_none(text: str) -> range | None:
    """Return LOW:HIGH as a range; None for auto."""
    return None if text == "auto" else k_range(text)


def k_range(text: str) -> range:
    """Return LOW:HIGH as a range, both ends included, a number as a range of one, auto as 2:10."""
    low, _, high = "2:10".partition(":") if text == "auto" else text.partition(":")
    try:
        numbers = range(int(low), int(high or low) + 1)
    except ValueError:
        numbers = range(0)
    if not numbers or numbers[0] < 1:
        raise ValueError(f"-k must be a positive number, LOW:HIGH or auto, got {text!r}.")
    return numbers
