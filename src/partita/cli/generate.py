"""`partita generate`: cluster features many times."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partita.cli._messages import Messages, print_json
from partita.cli._options import (
    Columns,
    Decimal,
    DropMissing,
    Encoding,
    IdColumn,
    ImputeOption,
    Json,
    MissingValues,
    NoHeader,
    Output,
    Quiet,
    Scale,
    Seed,
)

if TYPE_CHECKING:
    from partita.cli._tables import InputPartitions
    from partita.io import Table

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
        list[str],
        typer.Argument(
            metavar="FEATURES",
            help="Table of numbers: .csv, .tsv, .xlsx, .parquet, .npy, .npz, .h5ad; - for CSV on "
            "stdin. "
            "Several tables are views of the samples, joined by id.",
        ),
    ],
    output: Output = None,
    generator: Annotated[
        Generator | None,
        typer.Option(
            "--generator",
            "-g",
            help="What differs between partitions; by default landmark-spectral, and "
            "random-features for several tables.",
        ),
    ] = None,
    partitions: Annotated[
        int | None,
        typer.Option(
            "--partitions",
            "-n",
            help="Number of partitions, of each table if there are several; by default 100, or 20 "
            "of each.",
        ),
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
            help="Most clusters of a partition; by default three times --clusters for "
            "landmark-spectral, otherwise the root of the number of samples."
        ),
    ] = None,
    ratio: Annotated[
        float | None, typer.Option(help="Share of the features or rows that a partition uses.")
    ] = None,
    scale: Scale = "auto",
    metric: Annotated[str | None, typer.Option(help="Distance: euclidean or cosine.")] = None,
    resolution: Annotated[
        str | None,
        typer.Option(help="Range of resolutions of random-leiden, LOW:HIGH; by default 0.3:3."),
    ] = None,
    use: Annotated[
        str | None,
        typer.Option(
            help="Features of an .h5ad file: X or a key of obsm; by default X_pca, without it X. A "
            "key of obsp, such as connectivities, is a graph for random-leiden."
        ),
    ] = None,
    impute: ImputeOption = None,
    drop_missing: DropMissing = False,
    columns: Columns = None,
    id_column: IdColumn = None,
    missing_values: MissingValues = None,
    no_header: NoHeader = False,
    encoding: Encoding = None,
    decimal: Decimal = ".",
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Cluster features many times; write one partition per column.

    The names of the columns have the name of the generator. scan-k and fuse -k auto warn about
    such partitions: scan-k --features is the way to choose their number of clusters.

    Several tables are views of the same samples: a partition has no label for a sample that its
    table does not have.
    """
    import numpy as np

    from partita.cli._features import FeatureReader
    from partita.cli._progress import progress_bars
    from partita.cli._tables import Source, check_output, write
    from partita.cli._views import read_views_from_files
    from partita.generators import make_generator
    from partita.io import Table

    check_output(output, as_json, features)
    messages = Messages(quiet)
    graph = _graph(features, use, generator)
    if graph is not None:
        generator, metric = Generator.random_leiden, "precomputed"
    if generator is None:
        generator = Generator.landmark_spectral if len(features) == 1 else Generator.random_features
    options = {
        "n_partitions": partitions,
        "n_clusters": clusters if len(features) == 1 and graph is None else None,
        "k_min": k_min,
        "k_max": k_max,
        "ratio": ratio,
        "metric": metric,
        "resolution": None if resolution is None else _resolutions(resolution),
        "random_state": seed if len(features) == 1 else None,
    }
    made = make_generator(
        generator.value, **{name: value for name, value in options.items() if value is not None}
    )
    reading: dict[str, Any] = {
        "columns": columns,
        "id_column": id_column,
        "missing_values": missing_values,
        "no_header": no_header,
        "encoding": encoding,
    }
    if made.metric == "cosine" and scale == "auto":
        scale = "none"  # directions from the origin
    reader = FeatureReader(messages, scale, impute, drop_missing, use, decimal)
    with progress_bars("generating", quiet=quiet):
        if graph is not None:
            table = _table_of(made.fit_transform(graph[0]), made, graph[1], "cell")
        elif len(features) == 1:
            table = _partitions_of_one(*reader.read(Source(features[0], **reading)), made)
        else:
            views = read_views_from_files(features, reader=reader, **reading)
            table = _table_of_views(
                views.generate(
                    made,
                    n_clusters=clusters,
                    partitions_per_view=partitions,
                    feature_ratio=ratio,
                    random_state=seed,
                )
            )
    labels = np.column_stack([*table.columns.values()])
    masked = {name: np.ma.masked_equal(column, -1) for name, column in table.columns.items()}
    if output is not None or not as_json:
        write(Table(masked, table.ids, table.id_name), output, base=features[0])
    k = np.asarray([len(np.unique(column.compressed())) for column in masked.values()])
    n_samples, n_partitions = labels.shape
    if as_json:
        record = {
            "n_samples": n_samples,
            "n_partitions": n_partitions,
            "generator": generator.value,
            "parameters": made.get_params(deep=False),
            "n_clusters": k,
            "output": output,
        }
        print_json(record | ({} if output else {"ids": table.ids, "labels": labels}))
    range_of_k = f"{k.min()}" if k.min() == k.max() else f"{k.min()} to {k.max()}"
    text = f"{n_partitions} partitions of {n_samples} samples, {range_of_k} clusters each"
    messages.show(text if output in (None, "-") else f"wrote {output}: {text}")


def _partitions_of_one(table: Table, X: Any, generator: Any) -> Table:
    """Return the partitions of one table of features, -1 for the samples that are left out."""
    import numpy as np

    complete = np.flatnonzero(~np.isnan(X).any(axis=1))
    made = generator.fit_transform(X[complete])
    labels = np.full((table.n_samples, made.shape[1]), -1, made.dtype)
    labels[complete] = made
    return _table_of(labels, generator, table.ids, table.id_name)


def _table_of(labels: Any, generator: Any, ids: Any, id_name: str) -> Table:
    """Return partitions as a table whose columns have the name of the generator."""
    from partita.generators.generation import marked_names
    from partita.io import Table

    names = marked_names(generator, labels.shape[1])
    return Table(dict(zip(names, labels.T, strict=True)), ids, id_name)


def _graph(paths: list[str], use: str | None, generator: Generator | None) -> Any:
    """Return the graph that --use names and the ids of its nodes; None if it names features."""
    from pathlib import Path

    from partita.io import read_graph

    if use is None or len(paths) > 1 or not paths[0].endswith(".h5ad"):
        return None
    graph = read_graph(paths[0], use) if Path(paths[0]).exists() else None
    if graph is not None and generator not in (None, Generator.random_leiden):
        raise ValueError(
            f"--use {use} is a graph, which only random-leiden clusters, got --generator "
            f"{generator}. Use the features instead, for example --use X_pca."
        )
    return graph


def _resolutions(text: str) -> tuple[float, float]:
    low, _, high = text.partition(":")
    try:
        return float(low), float(high or low)
    except ValueError:
        raise ValueError(f"--resolution must be a number or LOW:HIGH, got {text!r}.") from None


def _table_of_views(data: InputPartitions) -> Table:
    """Return the partitions of several tables of features, -1 where a label is missing."""
    import numpy as np

    e = data.ensemble
    labels = np.where(e.observed, e.codes.astype(np.int64), -1)
    names = [] if e.partition_names is None else e.partition_names.tolist()
    return data.with_ids(dict(zip(names, labels.T, strict=True)))
