"""`partita segment`: cluster random samples of features in files, into a label store."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from partita.cli._messages import Messages, print_json
from partita.cli._options import Json, Quiet, Seed, k_range

__all__ = ["run"]


class Metric(StrEnum):
    """How rows are compared."""

    euclidean = "euclidean"
    cosine = "cosine"


def run(
    features: Annotated[
        list[Path],
        typer.Argument(
            metavar="FEATURES",
            help="Matrix of numbers as .npy, or sparse as .npz; the rows of several are joined.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder of the label store to write.")
    ],
    clusters: Annotated[
        str,
        typer.Option(
            "--clusters",
            "-k",
            help="Number of clusters of a partition, or LOW:HIGH for a random number.",
        ),
    ],
    partitions: Annotated[
        int, typer.Option("--partitions", "-n", min=1, help="Number of partitions.")
    ] = 100,
    ratio: Annotated[
        float | None, typer.Option(help="Share of the rows that a partition uses; 0.5 by default.")
    ] = None,
    rows: Annotated[
        int | None, typer.Option(help="Number of rows that a partition uses, instead of --ratio.")
    ] = None,
    metric: Annotated[
        Metric, typer.Option(help="Compare rows by distance, or by direction as usual for texts.")
    ] = Metric.euclidean,
    replacement: Annotated[
        bool, typer.Option("--replacement", help="Draw rows with replacement.")
    ] = False,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Number of processes; by default one per core.")
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Cluster random samples of the rows of features that exceed memory, one per partition.

    After an interruption, the same command continues where it stopped.
    """
    from partita.cli._progress import progress_bars
    from partita.generators import segment

    k = k_range(clusters)
    with progress_bars("segmenting", quiet=quiet):
        store = segment(
            features,
            output,
            n_partitions=partitions,
            ratio=ratio,
            n_rows=rows,
            n_clusters=(k[0], k[-1]),
            metric=metric.value,
            replacement=replacement,
            n_jobs=jobs,
            random_state=seed,
        )
    if as_json:
        record = {
            "n_samples": store.n_samples,
            "n_partitions": store.n_partitions,
            "n_rows": store.provenance["n_rows"],
            "n_clusters": store.n_clusters,
            "output": str(output),
        }
        print_json(record)
    Messages(quiet).show(
        f"wrote {output}: {store.n_partitions} partitions of {store.n_samples} samples, each from "
        f"{store.provenance['n_rows']} rows"
    )
