"""The tables of a report: clusters, partitions, and the samples least certain of their place."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.reporting._json import in_words, plain, short
from partita.reporting.inputs import Case

__all__ = ["MOST_SAMPLES", "cluster_table", "method_table", "partition_table", "sample_table"]

MOST_SAMPLES = 500
_MOST_CLUSTERS = 300
_MOST_PARTITIONS = 300

Table = dict[str, Any]


def cluster_table(case: Case) -> Table:
    """One row per cluster, the largest first."""
    d = case.diagnosis
    order = np.argsort(-d.sizes, kind="stable")
    doubtful = np.bincount(d.labels[case.doubtful], minlength=d.n_clusters)
    total = d.sizes.sum()
    rows = [
        {
            "cluster": short(case.clusters[k]),
            "samples": _count(d.sizes[k]),
            "share": d.sizes[k] / total,
            "cohesion": d.cohesion[k],
            "separation": d.separation[k],
            "stability": d.stability[k],
            "doubtful": int(doubtful[k]),
        }
        for k in order[:_MOST_CLUSTERS]
    ]
    return _table(
        {
            "cluster": "Cluster",
            "samples": "Samples",
            "share": "Share",
            "cohesion": "Cohesion",
            "separation": "Separation",
            "stability": "Stability",
            "doubtful": "Doubtful",
        },
        rows,
        len(order) - len(rows),
        "smaller clusters are left out.",
        "Cohesion: share of the partitions that join two members. Separation: one minus that share "
        "for the nearest other cluster. Stability: how closely one cluster of each partition "
        "matches it (Jaccard index, mean).",
    )


def partition_table(case: Case) -> Table:
    """One row per partition, those that agree least with the consensus first."""
    d, e = case.diagnosis, case.ensemble
    order = np.argsort(d.agreement, kind="stable")
    repeats = np.bincount(d.redundancy)
    rows = [
        {
            "partition": short(case.partitions[i]),
            "clusters": int(e.n_clusters[i]),
            "labeled": float(e.observed[:, i].mean()),
            "nmi": d.agreement[i],
            "ari": d.adjusted_rand[i],
            "without": d.leave_out[i],
            "remark": _remark(bool(d.bad_runs[i]), int(repeats[d.redundancy[i]])),
        }
        for i in order[:_MOST_PARTITIONS]
    ]
    return _table(
        {
            "partition": "Partition",
            "clusters": "Clusters",
            "labeled": "Labeled",
            "nmi": "NMI",
            "ari": "ARI",
            "without": "Without it",
            "remark": "Remark",
        },
        rows,
        len(order) - len(rows),
        "partitions that agree better are left out.",
        "NMI and ARI: agreement with the consensus. Without it: change of the mean confidence if "
        "the partition were left out; above zero, it disturbs.",
    )


def sample_table(case: Case) -> Table:
    """The samples with the lowest confidence, and how many the table leaves out."""
    d, e = case.diagnosis, case.ensemble
    known = np.flatnonzero(np.isfinite(d.confidence))
    chosen = _lowest(d.confidence, d.margin, known)
    doubtful = set(case.doubtful.tolist())
    rows = []
    for x in chosen.tolist():
        against = d.disagreeing(x).tolist()
        runner_up = int(d.runner_up[x])
        rows.append(
            {
                "sample": short(x if e.sample_ids is None else e.sample_ids[x]),
                "cluster": short(case.clusters[d.labels[x]]),
                "confidence": d.confidence[x],
                "runner_up": None if runner_up < 0 else short(case.clusters[runner_up]),
                "margin": d.margin[x],
                "against": len(against),
                "partitions": in_words([case.partitions[i] for i in against]) if against else "",
                "remark": "doubtful" if x in doubtful else "",
            }
        )
    return _table(
        {
            "sample": "Sample",
            "cluster": "Cluster",
            "confidence": "Confidence",
            "runner_up": "Next cluster",
            "margin": "Margin",
            "against": "Against",
            "partitions": "Partitions that disagree",
            "remark": "Remark",
        },
        rows,
        len(d.labels) - len(rows),
        "more samples are left out: they are more confident, alone in their cluster, or in none.",
        "Confidence: share of the partitions that join the sample with another member of its "
        "cluster, on average. Margin: that minus the same for the next cluster. Against: "
        "partitions that put it with another cluster's members. Doubtful: confidence below one "
        "half, or margin below zero.",
    )


def method_table(case: Case) -> Table | None:
    """The records of a comparison."""
    if case.comparison is None:
        return None
    columns = {
        "method": "Method",
        "n_clusters": "Clusters",
        "seconds": "Seconds",
        "anmi": "ANMI",
        "agreement": "Others",
        "ARI": "ARI",
        "NMI": "NMI",
        "ACC": "ACC",
        "failure": "Failure",
    }
    known = [key for key in columns if key in case.comparison.records[0]]
    rows = [
        {key: record[key] for key in known}
        | {"failure": None if record["failure"] is None else record["failure"].split(". ")[0]}
        for record in case.comparison.records
    ]
    return _table(
        {key: columns[key] for key in known},
        rows,
        0,
        "methods are left out.",
        "ANMI: mean NMI with the partitions. Others: mean ARI with the results of the other "
        "methods." + (" ARI, NMI, ACC: against the known classes." if case.y is not None else ""),
    )


def _table(
    columns: dict[str, str], rows: list[dict[str, Any]], n_left_out: int, left_out: str, help_: str
) -> Table:
    return {
        "columns": columns,
        "rows": plain(rows),
        "n_left_out": n_left_out,
        "left_out": f"{n_left_out:,} {left_out}" if n_left_out else "",
        "help": help_,
    }


def _lowest(
    confidence: NDArray[np.float64], margin: NDArray[np.float64], known: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The least confident of the known samples, among equals those with the smaller margin."""
    if len(known) > MOST_SAMPLES:
        bound = np.partition(confidence[known], MOST_SAMPLES - 1)[MOST_SAMPLES - 1]
        known = known[confidence[known] <= bound]
    return known[np.lexsort((margin[known], confidence[known]))][:MOST_SAMPLES]


def _count(weight: float) -> int | float:
    return int(weight) if float(weight).is_integer() else float(weight)


def _remark(bad: bool, repeats: int) -> str:
    remarks = ["bad run"] if bad else []
    if repeats > 1:
        remarks.append(f"one of {repeats} equal partitions")
    return ", ".join(remarks)
