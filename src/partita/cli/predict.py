"""`partita predict`: give new samples the clusters of a consensus."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from partita.cli._messages import METHODS_HINT, Messages, hint_on_error, print_json
from partita.cli._options import (
    ClustersOrAuto,
    Columns,
    Decimal,
    Encoding,
    IdColumn,
    Json,
    Method,
    MissingValues,
    NoHeader,
    Output,
    Quiet,
    Scale,
    Seed,
    number_or_none,
)

__all__ = ["run"]


def run(
    features: Annotated[
        str, typer.Argument(metavar="FEATURES", help="Table of numbers that is clustered.")
    ],
    new: Annotated[
        str,
        typer.Argument(metavar="NEW", help="Table of new samples with the same columns."),
    ],
    clusters: ClustersOrAuto = "auto",
    method: Method = "ccgp",
    generator: Annotated[
        str | None,
        typer.Option(
            "--generator",
            "-g",
            help="Key of a generator, as in `generate`. Default: graph cuts and k-means, whichever "
            "gives more isolated clusters.",
        ),
    ] = None,
    output: Output = None,
    name: Annotated[str, typer.Option(help="Name of the column to write.")] = "consensus",
    scale: Scale = "auto",
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
    """Cluster features by consensus and give new samples the nearest of its clusters.

    The result has the cluster and the confidence of each new sample. A new sample gets the labels
    of the fitted partitions, and the cluster with which it shares most of them.
    """
    from partita.cli._progress import progress_bars
    from partita.cli._tables import Source, check_output, write
    from partita.clustering import EnsembleClustering
    from partita.io import Table
    from partita.registry import prepare

    n_clusters = number_or_none(clusters)
    check_output(output, as_json, [features, new])
    with hint_on_error(METHODS_HINT):
        estimator = prepare(method)
    messages = Messages(quiet)
    with progress_bars("reading", quiet=quiet):
        tables = [
            Source(path, columns, id_column, missing_values, no_header, encoding).features(
                decimal=decimal
            )
            for path in (features, new)
        ]
    fitted, others = tables
    _check_columns(fitted, others)
    model = EnsembleClustering(
        n_clusters, generator=generator, method=estimator, scale=scale, random_state=seed
    )
    with progress_bars("clustering", quiet=quiet):
        model.fit(fitted.matrix())
        X = others.select(fitted.columns).matrix()
        labels, confidence = model.predict(X), model.predict_confidence(X)
    if output is not None or not as_json:
        result = {name: labels, f"{name}_confidence": confidence}
        write(Table(result, others.ids, others.id_name), output, base=new)
    if as_json:
        record = {"n_samples": len(X), "n_clusters": model.n_clusters_, "output": output}
        arrays = {"ids": others.ids, "labels": labels, "confidence": confidence}
        print_json(record | ({} if output else arrays))
    chosen = "" if model.scan_ is None else " (chosen against the null)"
    messages.show(
        f"{len(X)} new samples in {model.n_clusters_} clusters{chosen} of {fitted.n_samples} "
        f"samples, mean confidence {confidence.mean():.3f}"
    )
    if output not in (None, "-"):
        messages.show(f"wrote {output}")


def _check_columns(fitted: Any, others: Any) -> None:
    absent = [column for column in fitted.columns if column not in others.columns]
    if absent:
        raise ValueError(
            f"{others.source} has no column {absent[0]!r}, which {fitted.source} has. Choose the "
            "columns that both have with --columns."
        )
