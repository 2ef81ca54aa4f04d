"""`partita scan-k`: choose the number of clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from partita.cli._messages import METHODS_HINT, Messages, hint_on_error, print_json, print_table
from partita.cli._options import (
    Columns,
    Decimal,
    DropMissing,
    Encoding,
    IdColumn,
    ImputeOption,
    Json,
    Method,
    MissingValues,
    NoHeader,
    Noise,
    NoiseOption,
    NumbersOfClusters,
    PartitionsFile,
    Quiet,
    Scale,
    Seed,
    k_range_or_none,
)

if TYPE_CHECKING:
    from partita.select_k import KScan

__all__ = ["run"]

_CURVES_WITH_NULL = ("separation", "tightness", "stability", "item_consensus", "pac")
_CURVES_WITHOUT_NULL = ("delta_area", "eigengap", "lifetime")


def run(
    partitions: PartitionsFile,
    clusters: NumbersOfClusters = "auto",
    features: Annotated[
        bool, typer.Option("--features", help="The table holds features, not partitions.")
    ] = False,
    method: Method = "ccgp",
    resamples: Annotated[
        int, typer.Option(min=2, help="Number of pairs of halves of the partitions.")
    ] = 10,
    null: Annotated[int, typer.Option(min=2, help="Number of null ensembles.")] = 10,
    scale: Scale = "auto",
    impute: ImputeOption = None,
    drop_missing: DropMissing = False,
    columns: Columns = None,
    id_column: IdColumn = None,
    missing_values: MissingValues = None,
    no_header: NoHeader = False,
    encoding: Encoding = None,
    decimal: Decimal = ".",
    noise: NoiseOption = Noise.missing,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Choose the number of clusters against a null, or find that there is no structure."""
    import numpy as np

    from partita.cli._features import FeatureReader
    from partita.cli._progress import progress_bars
    from partita.cli._tables import Source
    from partita.registry import prepare
    from partita.select_k import scan_k, scan_k_features

    ks = k_range_or_none(clusters)
    with hint_on_error(METHODS_HINT):
        estimator = prepare(method)
    messages = Messages(quiet)
    if not features and (impute or drop_missing or scale != "auto"):
        raise ValueError("--scale, --impute and --drop-missing are for features: add --features.")
    source = Source(partitions, columns, id_column, missing_values, no_header, encoding)
    options: dict[str, Any] = {
        "method": estimator,
        "n_resamples": resamples,
        "n_null": null,
        "random_state": seed,
    }
    with progress_bars("scan", quiet=quiet):
        if features:
            X = FeatureReader(messages, scale, impute, drop_missing, decimal=decimal).read(source)[
                1
            ]
            scan = scan_k_features(X[~np.isnan(X).any(axis=1)], ks, **options)
        else:
            scan = scan_k(source.ensemble(noise, messages).ensemble, ks, **options)
    if as_json:
        print_json(
            {
                "best_k": scan.best_k,
                "rejected_k": scan.rejected_k,
                "tied_k": scan.tied_k,
                "criterion": scan.criterion,
                "hidden_groups": [
                    {name: value for name, value in group.items() if name != "samples"}
                    for group in scan.hidden_groups
                ],
                "curves": scan.records(),
                "resamples": scan.resample_records(),
                "nulls": scan.null_records(),
            }
        )
        return
    _print(scan)
    if scan.rejected_k is not None:
        messages.hint("clusters that meet without a valley of density are pieces of one shape")
    elif scan.best_k is None:
        messages.hint("partitions that agree no more than by chance have no number of clusters")


def _print(scan: KScan) -> None:
    with_null = [name for name in _CURVES_WITH_NULL if name in scan.null_mean]
    n_kept = 3 + with_null.index("stability")  # what decides is shown in narrow terminals too
    rows = []
    for record in scan.records():
        markup = ("[bold]", "[/]") if record["k"] == scan.best_k else ("", "")
        cells = [f"{record['k']}", f"{record['gain']:.3f}", f"{record['standard_error']:.3f}"]
        cells += [f"{record[c]:.3f} ({record[f'null_{c}']:.3f})" for c in with_null]
        cells += [f"{record[c]:.3f}" for c in _CURVES_WITHOUT_NULL]
        rows.append([f"{markup[0]}{cell}{markup[1]}" for cell in cells])
    names = ["K", "gain", "s.e.", *(f"{c.replace('_', ' ')} (null)" for c in with_null)]
    columns = [*names, *(c.replace("_", " ") for c in _CURVES_WITHOUT_NULL)]
    print_table(columns, rows, numbers=True, optional=columns[: n_kept - 1 : -1])
    if scan.best_k is None:
        typer.echo(f"no structure found: {scan.reason}")
    else:
        typer.echo(f"suggested: K = {scan.best_k}")
        if others := [str(k) for k in scan.tied_k if k != scan.best_k]:
            typer.echo(f"gain at most one standard error less: K = {', '.join(others)}")
    for group in scan.hidden_groups:
        typer.echo(
            f"cluster {group['cluster']} hides a group of {group['n_samples']} samples that "
            f"{group['support']:.0%} of the partitions split off"
        )
