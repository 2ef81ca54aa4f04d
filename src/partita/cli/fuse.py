"""`partita fuse`: many partitions in, one out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partita.cli._messages import Talk, hinting, print_json
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
    Output,
    Quiet,
    Seed,
    k_range,
)

if TYPE_CHECKING:
    from partita.cli._tables import Labels
    from partita.fusion import Fusion
    from partita.io import Table

__all__ = ["fuse"]


def fuse(
    labels: LabelsFile,
    clusters: Clusters,
    method: Method = "lwgp",
    output: Output = None,
    report: Annotated[
        Path | None, typer.Option("--report", "-r", help="Report to write: .html or .json.")
    ] = None,
    name: Annotated[str, typer.Option(help="Name of the column to write.")] = "consensus",
    checkpoint: Annotated[
        str | None,
        typer.Option(help="Folder for the state of a long run; the same command resumes it."),
    ] = None,
    columns: Columns = None,
    id_column: IdColumn = None,
    missing_values: MissingValues = None,
    no_header: NoHeader = False,
    noise: NoiseOption = Noise.missing,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Fuse partitions into one and say how far to trust it.

    A store that exceeds memory is fused from disk by methods that can (sec, kcc, lwgp ...): labels
    only, to an .npy file.
    """
    from partita.cli._large import fuse_large, large_store
    from partita.cli._progress import progress_bars
    from partita.cli._tables import Source, check_output, check_report, write
    from partita.fusion import fuse as fuse_labels
    from partita.registry import prepare

    ks = k_range(clusters)
    with hinting("`partita methods` lists the keys of all methods"):
        estimator = prepare(method)
    if checkpoint is not None:
        _keep_state(estimator, checkpoint)
    check_output(output, as_json)
    check_report(report)
    store = large_store(labels, ks[-1])
    if store is not None:
        fuse_large(store, estimator, ks, output, report, seed, as_json, quiet)
        return
    talk = Talk(quiet)
    with progress_bars("reading", quiet=quiet):
        source = Source(labels, columns, id_column, missing_values, no_header)
        given = source.ensemble(noise, talk)
    with progress_bars(type(estimator).__name__, quiet=quiet):
        found = fuse_labels(
            given.ensemble,
            ks[0] if len(ks) == 1 else None,
            method=estimator,
            k_range=ks,
            random_state=seed,
        )
    if report is not None:
        _report(given, found, report, seed, quiet)
    if output is not None or not as_json:
        write(_result(given, found, name, output), output, base=labels)
    summary = _summary(given, found, seed)
    if as_json:
        record = summary | {"output": output, "report": report and str(report)}
        own = {} if output else {"ids": given.ensemble.sample_ids, "labels": found.labels}
        print_json(record | own)
    _tell(talk, found, summary)
    written = [str(path) for path in (output, report) if path not in (None, "-")]
    if written:
        talk.say(f"wrote {' and '.join(written)}")


def _keep_state(estimator: Any, folder: str) -> None:
    if "checkpoint" not in estimator.get_params(deep=False):
        raise ValueError(f"{type(estimator).__name__} keeps no checkpoints; sec, kcc and lwgp do.")
    estimator.set_params(checkpoint=folder)


def _report(given: Labels, found: Fusion, path: Path, seed: int, quiet: bool) -> None:
    from partita.cli._progress import progress_bars
    from partita.reporting import report

    with progress_bars("report", quiet=quiet):
        report(
            given.ensemble,
            found,
            path,
            random_state=seed,
        )


def _result(given: Labels, found: Fusion, name: str, output: str | None) -> Table:
    """Consensus and confidence beside the ids; an .npy file has room for the first alone."""
    import numpy as np

    columns: dict[str, Any] = {name: np.ma.masked_equal(found.labels, -1)}
    if not (output or "").endswith(".npy"):
        columns[f"{name}_confidence"] = np.round(found.confidence, 6)
    return given.with_ids(columns)


def _summary(given: Labels, found: Fusion, seed: int) -> dict[str, Any]:
    import numpy as np

    diagnosis = found.diagnosis
    return {
        "n_samples": given.ensemble.n_samples,
        "n_partitions": given.ensemble.n_partitions,
        "method": found.method.info.key,
        "parameters": found.method.get_params(deep=False),
        "seed": seed,
        "n_clusters": found.n_clusters,
        "sizes": diagnosis.sizes,
        "cohesion": diagnosis.cohesion,
        "stability": diagnosis.stability,
        "mean_confidence": float(np.nanmean(found.confidence)),
        "n_doubtful": len(diagnosis.doubtful_samples()),
        "bad_partitions": _bad_partitions(given, found),
        "anmi": diagnosis.anmi,
        "best_partition_anmi": diagnosis.best_partition_anmi,
        "converged": found.method.converged_,
        "scan": None if found.scan is None else found.scan.records(),
    }


def _bad_partitions(given: Labels, found: Fusion) -> list[str]:
    names = given.ensemble.partition_names
    where = found.diagnosis.bad_partitions.nonzero()[0]
    return [str(i) if names is None else str(names[i]) for i in where]


def _tell(talk: Talk, found: Fusion, summary: dict[str, Any]) -> None:
    """The result in a few lines."""
    diagnosis = found.diagnosis
    chosen = "" if found.scan is None else " (chosen against the null)"
    talk.say(
        f"{found.n_clusters} clusters{chosen} of {summary['n_samples']} samples from "
        f"{summary['n_partitions']} partitions by {type(found.method).__name__}"
    )
    sizes = zip(diagnosis.sizes, diagnosis.cohesion, strict=True)
    for cluster, (size, cohesion) in enumerate(sizes):
        talk.say(f"  {cluster:>3}  {size:>8.0f} samples  cohesion {cohesion:.3f}")
    talk.say(
        f"confidence {summary['mean_confidence']:.3f} on average, {summary['n_doubtful']} samples "
        "doubtful"
    )
    if summary["bad_partitions"]:
        talk.say(f"partitions unlike the others: {', '.join(summary['bad_partitions'])}")
    if not diagnosis.harmless:
        talk.hint(
            f"one partition agrees better with all (ANMI {diagnosis.best_partition_anmi:.3f}) than "
            f"the consensus does ({diagnosis.anmi:.3f}); `partita compare` shows other methods"
        )
