"""`partita scan`: how many clusters, if any."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from partita.cli._messages import Talk, hinting, print_json, print_table
from partita.cli._options import (
    Clusters,
    Columns,
    IdColumn,
    Json,
    LabelsFile,
    Method,
    MissingValues,
    NoHeader,
    Noise,
    NoiseOption,
    Quiet,
    Seed,
    k_range,
)

if TYPE_CHECKING:
    from partita.select_k import KScan

__all__ = ["scan"]

_WITH_NULL = ("separation", "stability", "item_consensus", "pac")
_WITHOUT = ("delta_area", "eigengap", "lifetime")


def scan(
    labels: LabelsFile,
    clusters: Clusters = "2:10",
    features: Annotated[
        bool, typer.Option("--features", help="The table holds features, not labels.")
    ] = False,
    method: Method = "lwgp",
    resamples: Annotated[int, typer.Option(min=2, help="Pairs of halves of the partitions.")] = 10,
    nulls: Annotated[int, typer.Option(min=2, help="Null ensembles.")] = 10,
    columns: Columns = None,
    id_column: IdColumn = None,
    missing_values: MissingValues = None,
    no_header: NoHeader = False,
    noise: NoiseOption = Noise.missing,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Choose the number of clusters against a null, or find that there is no structure."""
    from partita.cli._progress import progress_bars
    from partita.cli._tables import Source
    from partita.registry import prepare
    from partita.select_k import scan_k, scan_k_features

    ks = k_range(clusters)
    with hinting("`partita methods` lists the keys of all methods"):
        consensus = prepare(method)
    talk = Talk(quiet)
    source = Source(labels, columns, id_column, missing_values, no_header)
    options: dict[str, Any] = {
        "method": consensus,
        "n_resamples": resamples,
        "n_null": nulls,
        "random_state": seed,
    }
    with progress_bars("scan", quiet=quiet):
        if features:
            found = scan_k_features(source.features().matrix(), ks, **options)
        else:
            found = scan_k(source.ensemble(noise, talk).ensemble, ks, **options)
    if as_json:
        print_json(
            {"best_k": found.best_k, "criterion": found.criterion, "curves": found.records()}
        )
        return
    _print(found)
    if found.best_k is None:
        talk.hint("labels that agree no more than by chance have no number of clusters")


def _print(found: KScan) -> None:
    rows = []
    for record in found.records():
        marks = ("[bold]", "[/]") if record["k"] == found.best_k else ("", "")
        cells = [f"{record['k']}", f"{record['gain']:.3f}", f"{record['standard_error']:.3f}"]
        cells += [f"{record[c]:.3f} ({record[f'null_{c}']:.3f})" for c in _WITH_NULL]
        cells += [f"{record[c]:.3f}" for c in _WITHOUT]
        rows.append([f"{marks[0]}{cell}{marks[1]}" for cell in cells])
    head = ["K", "gain", "s.e.", *(f"{c.replace('_', ' ')} (null)" for c in _WITH_NULL)]
    print_table([*head, *(c.replace("_", " ") for c in _WITHOUT)], rows, numbers=True)
    if found.best_k is None:
        typer.echo("no structure found: no K does better than the null")
    else:
        typer.echo(f"suggested: K = {found.best_k}")
