"""`partita fuse`: fuse many partitions into one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partita.cli._messages import METHODS_HINT, Messages, hint_on_error, print_json
from partita.cli._options import (
    Clusters,
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
    Output,
    PartitionsFiles,
    Quiet,
    Scale,
    Seed,
    k_range,
)

if TYPE_CHECKING:
    from partita.select_k import KScan

__all__ = ["run"]


def run(
    partitions: PartitionsFiles,
    clusters: Clusters = "auto",
    features: Annotated[
        bool,
        typer.Option(
            "--features",
            help="The tables hold features, one view of the samples each, joined by id.",
        ),
    ] = False,
    method: Method = "ccgp",
    output: Output = None,
    report: Annotated[
        Path | None, typer.Option("--report", "-r", help="Report to write: .html or .json.")
    ] = None,
    name: Annotated[str, typer.Option(help="Name of the column to write.")] = "consensus",
    checkpoint: Annotated[
        str | None,
        typer.Option(help="Folder for the state of a long run; the same command resumes it."),
    ] = None,
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
    """Fuse partitions into one and say how far to trust it.

    With --features, one table is clustered 100 times, as by `partita generate`; each of several
    tables is clustered 20 times on random halves of its features. These partitions are fused: a
    sample in at least one table gets a label. Without a number of clusters the features are scanned
    first. --scale, --impute and --drop-missing are for features. `partita generate` has more
    options.

    A store that exceeds memory is fused out of core by methods that can (sec, kcc, ccgp ...): the
    result has labels and no confidence.
    """
    from partita.cli._features import FeatureReader
    from partita.cli._fusion_files import check_files_of_large_store, write_fusion
    from partita.cli._fusion_summary import print_summary, summarize_fusion, write_report
    from partita.cli._progress import progress_bars
    from partita.cli._tables import Source, check_output, check_report
    from partita.cli._views import read_views_from_files
    from partita.fusion import fuse
    from partita.registry import prepare

    ks = k_range(clusters)
    with hint_on_error(METHODS_HINT):
        estimator = prepare(method)
    if checkpoint is not None:
        _set_checkpoint(estimator, checkpoint)
    check_output(output, as_json, partitions)
    check_report(report)
    messages = Messages(quiet)
    if not features and (impute or drop_missing or scale != "auto"):
        raise ValueError("--scale, --impute and --drop-missing are for features: add --features.")
    if len(partitions) > 1 and not features:
        raise ValueError(
            f"Expected one table of partitions, got {len(partitions)} files. If they are tables of "
            "features, add --features."
        )
    source = Source(partitions[0], columns, id_column, missing_values, no_header, encoding)
    store, id_name = None if features else source.store(), "id"
    data: Any = store
    scan: KScan | None = None
    if store is not None:
        check_files_of_large_store(store, ks[-1], output, report)
    elif features:
        views = read_views_from_files(
            partitions,
            reader=FeatureReader(messages, scale, impute, drop_missing, decimal=decimal),
            columns=columns,
            id_column=id_column,
            missing_values=missing_values,
            no_header=no_header,
            encoding=encoding,
        )
        chooses_itself = clusters == "auto" and estimator.n_clusters is None
        if len(ks) > 1 and not chooses_itself:
            with progress_bars("scan", quiet=quiet):
                number, scan = views.choose_k(
                    None if clusters == "auto" else ks, method=estimator, random_state=seed
                )
            ks = range(number, number + 1)
        with progress_bars("generating", quiet=quiet):
            n_clusters = ks[0] if len(ks) == 1 else None
            labels = views.generate(
                n_clusters=n_clusters, random_state=seed, **_setting(partitions)
            )
        data, id_name = labels.ensemble, labels.id_name
    else:
        with progress_bars("reading", quiet=quiet):
            labels = source.ensemble(noise, messages)
        data, id_name = labels.ensemble, labels.id_name
    with progress_bars(type(estimator).__name__, quiet=quiet):
        fusion = fuse(
            data,
            ks[0] if len(ks) == 1 else None,
            method=estimator,
            k_range=None if clusters == "auto" else ks,
            random_state=seed,
        )
    if scan is not None:
        fusion = replace(fusion, scan=scan)
    if report is not None:
        write_report(fusion, report, seed, quiet)
    if output is not None or not as_json:
        write_fusion(fusion, name, id_name, output, base=partitions[0], noise=noise, seed=seed)
    summary = summarize_fusion(fusion, seed, by_size=(output or "").endswith(".h5ad"))
    if as_json:
        record = summary | {"output": output, "report": report and str(report)}
        if output is None:
            record |= {
                "ids": fusion.partitions.sample_ids,
                "labels": fusion.labels,
                "confidence": fusion.confidence,
            }
        print_json(record)
    print_summary(messages, fusion, summary)
    files = [str(path) for path in (output, report) if path not in (None, "-")]
    if files:
        messages.show(f"wrote {' and '.join(files)}")


def _setting(paths: list[str]) -> dict[str, Any]:
    """Return generator and number of partitions: one table as by `generate`, views as published."""
    if len(paths) > 1:
        return {}
    return {"generator": "landmark_spectral", "partitions_per_view": 100}


def _set_checkpoint(estimator: Any, folder: str) -> None:
    if "checkpoint" not in estimator.get_params(deep=False):
        raise ValueError(
            f"{type(estimator).__name__} has no checkpoints; sec, kcc, lwgp and ccgp have."
        )
    estimator.set_params(checkpoint=folder)
