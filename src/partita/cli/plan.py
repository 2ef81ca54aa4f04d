"""`partita plan`: predict memory and time of a fit."""

from __future__ import annotations

from typing import Annotated

import typer

from partita.cli._messages import Messages, check_methods, print_json, print_table
from partita.cli._options import Json, Method, Quiet, Seed

__all__ = ["run"]


def run(
    samples: Annotated[float, typer.Option(help="Number of samples, such as 61e6.")],
    partitions: Annotated[int, typer.Option(min=1, help="Number of base partitions.")],
    clusters: Annotated[
        int, typer.Option("--clusters", "-k", min=1, help="Number of clusters of the consensus.")
    ],
    method: Method = "sec",
    base_clusters: Annotated[
        int | None,
        typer.Option(min=1, help="Clusters of each base partition; as --clusters by default."),
    ] = None,
    missing_ratio: Annotated[float, typer.Option(help="Share of the labels that are missing.")] = (
        0.0
    ),
    distinct: Annotated[
        float | None, typer.Option(help="Distinct rows of labels; as --samples by default.")
    ] = None,
    max_iter: Annotated[int, typer.Option(min=1, help="Number of iterations to assume.")] = 30,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Predict memory and time of a fit from small fits on this machine; list methods that fit."""
    from partita._memory import describe_bytes
    from partita.planning import plan as predict

    check_methods(method)
    messages = Messages(quiet)
    messages.show("measuring small fits on this machine, which takes some seconds")
    prediction = predict(
        samples, partitions, clusters, method, n_base_clusters=base_clusters,
        missing_ratio=missing_ratio, n_distinct=distinct, max_iter=max_iter, random_state=seed,
    )  # fmt: skip
    if as_json:
        print_json(prediction.to_dict())
        return
    typer.echo(str(prediction))
    rows = [
        [
            record["method"],
            describe_bytes(record["bytes_in_memory"]),
            describe_bytes(record["bytes_from_store"]) if record["bytes_from_store"] else "-",
            "yes" if record["fits"] else "no",
        ]
        for record in prediction.methods
    ]
    print_table(["method", "in memory", "from a store", "fits"], rows)
