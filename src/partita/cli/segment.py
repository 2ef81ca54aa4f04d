"""`partita segment`: features in files in, a store of incomplete partitions out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from partita.cli._messages import Talk, print_json
from partita.cli._options import Json, Quiet, Seed, k_range

__all__ = ["segment"]


def segment(
    features: Annotated[
        list[Path],
        typer.Argument(
            metavar="FEATURES", help="Matrix of numbers as .npy; more files, more rows."
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder of the label store to make.")
    ],
    clusters: Annotated[
        str,
        typer.Option("--clusters", "-k", help="Clusters of a partition, or LOW:HIGH to draw from."),
    ],
    partitions: Annotated[
        int, typer.Option("--partitions", "-n", min=1, help="Partitions to make.")
    ] = 100,
    ratio: Annotated[
        float | None, typer.Option(help="Share of the rows a partition sees; 0.5 by default.")
    ] = None,
    rows: Annotated[int | None, typer.Option(help="Rows a partition sees, instead.")] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes; as many as cores by default.")
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Cluster random samples of rows, one partition each, where the features exceed memory.

    Run again after an interruption, the same command goes on where it stopped.
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
    Talk(quiet).say(
        f"wrote {output}: {store.n_partitions} partitions of {store.n_samples} samples, each from "
        f"{store.provenance['n_rows']} rows"
    )
