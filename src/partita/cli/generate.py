"""`partita generate`: cluster features many times."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from partita.cli._messages import Messages, print_json
from partita.cli._options import Columns, IdColumn, Json, NoHeader, Output, Quiet, Seed

__all__ = ["run"]


class Generator(StrEnum):
    """Keys of `partita.generators.GENERATORS`, with hyphens."""

    random_k = "random-k"
    landmark_spectral = "landmark-spectral"
    random_features = "random-features"
    random_metrics = "random-metrics"
    random_projections = "random-projections"
    random_rows = "random-rows"
    random_leiden = "random-leiden"
    spectral_bandwidths = "spectral-bandwidths"


def run(
    features: Annotated[
        str,
        typer.Argument(
            metavar="FEATURES",
            help="Table of numbers: .csv, .tsv, .parquet, .npy, .npz, .h5ad; - for CSV on stdin.",
        ),
    ],
    output: Output = None,
    generator: Annotated[
        Generator, typer.Option("--generator", "-g", help="What differs between partitions.")
    ] = Generator.random_k,
    partitions: Annotated[
        int | None,
        typer.Option("--partitions", "-n", help="Number of partitions; 100 by default."),
    ] = None,
    clusters: Annotated[
        int | None,
        typer.Option("--clusters", "-k", help="Number of clusters you expect in the consensus."),
    ] = None,
    k_min: Annotated[
        int | None,
        typer.Option(help="Fewest clusters of a partition; by default --clusters, or 2."),
    ] = None,
    k_max: Annotated[
        int | None,
        typer.Option(
            help="Most clusters of a partition; by default the root of the number of samples."
        ),
    ] = None,
    ratio: Annotated[
        float | None, typer.Option(help="Share of the features or rows that a partition uses.")
    ] = None,
    metric: Annotated[str | None, typer.Option(help="Distance: euclidean or cosine.")] = None,
    columns: Columns = None,
    id_column: IdColumn = None,
    no_header: NoHeader = False,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Cluster features many times; write one partition per column."""
    import numpy as np

    from partita.cli._progress import progress_bars
    from partita.cli._tables import Source, check_output, write
    from partita.generators import make_generator
    from partita.io import Table

    check_output(output, as_json)
    options = {
        "n_partitions": partitions,
        "n_clusters": clusters,
        "k_min": k_min,
        "k_max": k_max,
        "ratio": ratio,
        "metric": metric,
        "random_state": seed,
    }
    fitted = make_generator(
        generator.value, **{name: value for name, value in options.items() if value is not None}
    )
    with progress_bars("reading", quiet=quiet):
        table = Source(features, columns, id_column, None, no_header).features()
    with progress_bars("generating", quiet=quiet):
        labels = fitted.fit_transform(table.matrix())
    masked = np.ma.masked_equal(labels, -1)
    result = Table(
        {f"partition_{i}": masked[:, i] for i in range(masked.shape[1])}, table.ids, table.id_name
    )
    if output is not None or not as_json:
        write(result, output, base=features)
    k = fitted.n_clusters_
    n_samples, n_partitions = labels.shape
    if as_json:
        record = {
            "n_samples": n_samples,
            "n_partitions": n_partitions,
            "generator": generator.value,
            "parameters": fitted.get_params(deep=False),
            "n_clusters": k,
            "output": output,
        }
        print_json(record | ({} if output else {"ids": table.ids, "labels": labels}))
    text = f"{n_partitions} partitions of {n_samples} samples, {k.min()} to {k.max()} clusters each"
    Messages(quiet).show(text if output in (None, "-") else f"wrote {output}: {text}")
