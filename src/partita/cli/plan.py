"""`partita plan`: memory and time of a fit before it is begun."""

from __future__ import annotations

from typing import Annotated

import typer

from partita.cli._messages import Talk, hinting, print_json, print_table
from partita.cli._options import Json, Method, Quiet, Seed

__all__ = ["plan"]


def plan(
    rows: Annotated[float, typer.Option(help="Samples, such as 61e6.")],
    partitions: Annotated[int, typer.Option(min=1, help="Base partitions.")],
    clusters: Annotated[int, typer.Option("--clusters", "-k", min=1, help="Clusters wanted.")],
    method: Method = "sec",
    base_clusters: Annotated[
        int | None, typer.Option(min=1, help="Clusters of a base partition; as many by default.")
    ] = None,
    missing: Annotated[float, typer.Option(help="Share of the labels that is missing.")] = 0.0,
    distinct: Annotated[
        float | None, typer.Option(help="Distinct rows of labels, where that is known.")
    ] = None,
    iterations: Annotated[int, typer.Option(min=1, help="Iterations to reckon with.")] = 30,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Predict bytes and minutes from small fits on this machine, and say which methods fit."""
    from partita._memory import describe_bytes
    from partita.planning import plan as predict

    talk = Talk(quiet)
    talk.say("measuring small fits on this machine, which takes some seconds")
    with hinting("`partita methods` lists the keys of all methods"):
        found = predict(
            rows, partitions, clusters, method, base_clusters=base_clusters, missing=missing,
            distinct=distinct, iterations=iterations, random_state=seed,
        )  # fmt: skip
    if as_json:
        print_json(found.to_dict())
        return
    typer.echo(str(found))
    table = [
        [
            record["method"],
            describe_bytes(record["bytes_in_memory"]),
            describe_bytes(record["bytes_from_store"]) if record["bytes_from_store"] else "-",
            "yes" if record["fits"] else "no",
        ]
        for record in found.methods
    ]
    print_table(["method", "in memory", "from a store", "fits"], table)
