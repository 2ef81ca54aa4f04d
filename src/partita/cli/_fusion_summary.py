"""What commands say about a consensus: its report, a record for JSON, and lines for people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from partita.cli._messages import Messages, counted

if TYPE_CHECKING:
    from partita.diagnostics import Diagnosis
    from partita.fusion import Fusion

__all__ = ["print_summary", "summarize_fusion", "write_report"]

_BLOCK_ROWS = 1 << 20


def write_report(fusion: Fusion, path: Path, seed: int, quiet: bool) -> None:
    """Write the report of a consensus."""
    from partita.cli._progress import progress_bars
    from partita.reporting import report

    with progress_bars("report", quiet=quiet):
        report(fusion.partitions, fusion, path, random_state=seed)


def summarize_fusion(fusion: Fusion, seed: int, *, by_size: bool) -> dict[str, Any]:
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
    if fusion.changed is not None:
        summary["n_changed"] = len(fusion.changed)
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


def print_summary(messages: Messages, fusion: Fusion, summary: dict[str, Any]) -> None:
    """Show clusters, confidence and what is worth a look."""
    diagnosis = fusion.diagnosis
    chosen = "" if fusion.scan is None else " (chosen against the null)"
    messages.show(
        f"{counted(fusion.n_clusters, 'cluster')}{chosen} of {summary['n_samples']} samples from "
        f"{counted(summary['n_partitions'], 'partition')} by {type(fusion.method).__name__}"
    )
    if "n_changed" in summary:
        n_changed, n = summary["n_changed"], summary["n_samples"]
        messages.show(f"{n_changed} of {n} samples are in another cluster than before")
    ties = [] if fusion.scan is None else fusion.scan.tied_k
    if others := [str(k) for k in ties if k != fusion.n_clusters]:
        messages.show(f"about as good: {', '.join(others)} clusters; `partita scan-k` shows more")
    for cluster, size in enumerate(summary["sizes"]):
        value = float("nan") if diagnosis is None else summary["cohesion"][cluster]
        cohesion = f"  cohesion {value:.3f}" if value == value else ""
        messages.show(f"  {cluster:>3}  {size:>8.0f} sample{'' if size == 1 else 's'}{cohesion}")
    if diagnosis is None:
        return
    messages.show(
        f"mean confidence {summary['mean_confidence']:.3f}, "
        f"{counted(summary['n_doubtful'], 'doubtful sample')}"
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
