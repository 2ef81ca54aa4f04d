"""`partita fuse`: fuse many partitions into one."""

from __future__ import annotations

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
    from partita.diagnostics import Diagnosis
    from partita.fusion import Fusion

__all__ = ["run"]

_BLOCK_ROWS = 1 << 20


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

    With --features, each table is clustered 20 times on random halves of its features, and these
    partitions are fused: a sample in at least one table gets a label. --scale, --impute and
    --drop-missing are for features. `partita generate` has more options.

    A store that exceeds memory is fused out of core by methods that can (sec, kcc, ccgp ...): the
    result has labels and no confidence.
    """
    from partita.cli._features import FeatureReader
    from partita.cli._fusion_files import check_files_of_large_store, write_fusion
    from partita.cli._progress import progress_bars
    from partita.cli._tables import Source, check_output, check_report
    from partita.cli._views import generate_from_files
    from partita.fusion import fuse
    from partita.registry import prepare

    ks = k_range(clusters)
    with hint_on_error(METHODS_HINT):
        estimator = prepare(method)
    if checkpoint is not None:
        _set_checkpoint(estimator, checkpoint)
    check_output(output, as_json)
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
    if store is not None:
        check_files_of_large_store(store, ks[-1], output, report)
    elif features:
        with progress_bars("generating", quiet=quiet):
            views = generate_from_files(
                partitions,
                reader=FeatureReader(messages, scale, impute, drop_missing, decimal=decimal),
                columns=columns,
                id_column=id_column,
                missing_values=missing_values,
                no_header=no_header,
                encoding=encoding,
                n_clusters=ks[0] if len(ks) == 1 else None,
                random_state=seed,
            )
        data, id_name = views.ensemble, views.id_name
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
    if report is not None:
        _write_report(fusion, report, seed, quiet)
    if output is not None or not as_json:
        write_fusion(fusion, name, id_name, output, base=partitions[0], noise=noise, seed=seed)
    summary = _summary(fusion, seed, by_size=(output or "").endswith(".h5ad"))
    if as_json:
        record = summary | {"output": output, "report": report and str(report)}
        if output is None:
            record |= {
                "ids": fusion.partitions.sample_ids,
                "labels": fusion.labels,
                "confidence": fusion.confidence,
            }
        print_json(record)
    _print_summary(messages, fusion, summary)
    files = [str(path) for path in (output, report) if path not in (None, "-")]
    if files:
        messages.show(f"wrote {' and '.join(files)}")


def _set_checkpoint(estimator: Any, folder: str) -> None:
    if "checkpoint" not in estimator.get_params(deep=False):
        raise ValueError(
            f"{type(estimator).__name__} has no checkpoints; sec, kcc, lwgp and ccgp have."
        )
    estimator.set_params(checkpoint=folder)


def _write_report(fusion: Fusion, path: Path, seed: int, quiet: bool) -> None:
    from partita.cli._progress import progress_bars
    from partita.reporting import report

    with progress_bars("report", quiet=quiet):
        report(fusion.partitions, fusion, path, random_state=seed)


def _summary(fusion: Fusion, seed: int, *, by_size: bool) -> dict[str, Any]:
    """Return what is printed; clusters by decreasing size, as an .h5ad file numbers them."""
    import numpy as np

    diagnosis = fusion.diagnosis
    summary = {
        "n_samples": fusion.partitions.n_samples,
        "n_partitions": fusion.partitions.n_partitions,
        "method": fusion.method.info.key,
        "parameters": fusion.method.get_params(deep=False),
        "seed": seed,
        "n_clusters": fusion.n_clusters,
        "sizes": _count_samples(fusion) if diagnosis is None else diagnosis.sizes,
        "converged": fusion.method.converged_,
        "scan": None if fusion.scan is None else fusion.scan.records(),
    } | ({} if diagnosis is None else _trust(fusion, diagnosis))
    if by_size and diagnosis is not None:
        order = np.argsort(-diagnosis.sizes, kind="stable")
        summary |= {key: summary[key][order] for key in ("sizes", "cohesion", "stability")}
    return summary


def _trust(fusion: Fusion, diagnosis: Diagnosis) -> dict[str, Any]:
    names = fusion.partitions.partition_names
    bad_partitions = diagnosis.bad_partitions.nonzero()[0]
    return {
        "cohesion": diagnosis.cohesion,
        "stability": diagnosis.stability,
        "mean_confidence": diagnosis.mean_confidence,
        "n_doubtful": len(diagnosis.doubtful_samples()),
        "views": diagnosis.view_records(),
        "bad_partitions": [str(i) if names is None else str(names[i]) for i in bad_partitions],
        "anmi": diagnosis.anmi,
        "best_partition": diagnosis.best_partition_name,
        "best_partition_anmi": diagnosis.best_partition_anmi,
    }


def _count_samples(fusion: Fusion) -> Any:
    """Count the samples of every cluster, block by block."""
    import numpy as np

    sizes = np.zeros(fusion.n_clusters, np.int64)
    for start in range(0, len(fusion.labels), _BLOCK_ROWS):
        block = np.asarray(fusion.labels[start : start + _BLOCK_ROWS])
        sizes += np.bincount(block[block >= 0], minlength=fusion.n_clusters)
    return sizes


def _print_summary(messages: Messages, fusion: Fusion, summary: dict[str, Any]) -> None:
    diagnosis = fusion.diagnosis
    chosen = "" if fusion.scan is None else " (chosen against the null)"
    messages.show(
        f"{fusion.n_clusters} clusters{chosen} of {summary['n_samples']} samples from "
        f"{summary['n_partitions']} partitions by {type(fusion.method).__name__}"
    )
    ties = [] if fusion.scan is None else fusion.scan.tied_k
    if others := [str(k) for k in ties if k != fusion.n_clusters]:
        messages.show(f"about as good: {', '.join(others)} clusters; `partita scan-k` shows more")
    for cluster, size in enumerate(summary["sizes"]):
        value = float("nan") if diagnosis is None else summary["cohesion"][cluster]
        cohesion = f"  cohesion {value:.3f}" if value == value else ""
        messages.show(f"  {cluster:>3}  {size:>8.0f} samples{cohesion}")
    if diagnosis is None:
        return
    messages.show(
        f"mean confidence {summary['mean_confidence']:.3f}, "
        f"{summary['n_doubtful']} doubtful samples"
    )
    if summary["bad_partitions"]:
        messages.show(f"partitions unlike the others: {', '.join(summary['bad_partitions'])}")
    disagreeing = [view["view"] for view in summary["views"] if view["disagrees"]]
    if disagreeing:
        messages.show(f"views that disagree with the consensus: {', '.join(disagreeing)}")
    if not diagnosis.harmless:
        messages.hint(
            f"partition {diagnosis.best_partition_name}, with about as many clusters, agrees "
            f"better with the others (ANMI {diagnosis.best_partition_anmi:.3f}) than the consensus "
            f"does ({diagnosis.anmi:.3f}); `partita compare` shows other methods"
        )
