"""The tables of a report: clusters, partitions, views, most doubtful samples, methods."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.reporting._content import Content
from partita.reporting._table import ReportTable, make_table
from partita.reporting._values import join_names, shorten, to_json

__all__ = [
    "MOST_SAMPLES",
    "assignments",
    "cluster_table",
    "method_table",
    "partition_table",
    "sample_table",
    "view_table",
]

MOST_SAMPLES = 500
_MOST_BYTES = 1_100_000  # of these clusters, with very long ids
_MOST_ASSIGNED = 20_000  # samples whose clusters are part of the page
_MOST_CLUSTERS = 300
_MOST_PARTITIONS = 300


def cluster_table(content: Content) -> ReportTable:
    """Return one row per cluster, largest cluster first."""
    sizes = content.diagnosis.sizes
    records = content.diagnosis.cluster_records()
    order = np.argsort(-sizes, kind="stable")
    nearest = content.diagnosis.nearest_clusters.tolist()
    rows = [
        records[k]
        | {
            "cluster": content.clusters[k],
            "size": _count(sizes[k]),
            "nearest": None if nearest[k] < 0 else content.clusters[nearest[k]],
        }
        for k in order[:_MOST_CLUSTERS].tolist()
    ]
    return make_table(
        {
            "cluster": "Cluster",
            "size": "Samples",
            "share": "Share",
            "confidence": "Confidence",
            "cohesion": "Cohesion",
            "separation": "Separation",
            "stability": "Stability",
            "nearest": "Nearest",
            "n_doubtful": "Doubtful",
        },
        rows,
        len(order) - len(rows),
        "smaller clusters are left out.",
        "Confidence: mean confidence of the samples. Cohesion: share of the partitions that put "
        "two samples of the cluster together, on average. Separation: one minus this share for the "
        "nearest other cluster. Stability: similarity (Jaccard index) of the cluster to the most "
        "similar cluster of each partition, on average. These four are better when high. Doubtful: "
        "number of doubtful samples.",
    )


def partition_table(content: Content) -> ReportTable:
    """Return one row per partition, lowest agreement with the consensus first."""
    records = content.diagnosis.partition_records()
    order = np.argsort(content.diagnosis.agreement, kind="stable")
    rows = []
    for i in order[:_MOST_PARTITIONS].tolist():
        record = records[i] | {"partition": content.partitions[i]}
        bad, n_equal = record.pop("bad"), record.pop("n_equal")
        rows.append(record | {"remark": _remark(bad, n_equal)})
    return make_table(
        {
            "partition": "Partition",
            "n_clusters": "Clusters",
            "labeled": "Labeled",
            "agreement": "NMI",
            "adjusted_rand": "ARI",
            "leave_out": "Without it",
            "remark": "Remark",
        },
        rows,
        len(order) - len(rows),
        "partitions with a higher agreement are left out.",
        "Labeled: share of the samples that the partition labels. NMI and ARI: agreement with the "
        "consensus; 1 is the same result. Without it: change of the mean confidence if the "
        "partition is left out; above zero, the partition contradicts the others.",
    )


def view_table(content: Content) -> ReportTable | None:
    """Return one row per view, lowest agreement first; None if the partitions name no views."""
    records = sorted(content.diagnosis.view_records(), key=lambda r: float(r["adjusted_rand"]))
    if not records:
        return None
    rows = [
        record
        | {"view": shorten(record["view"]), "remark": "disagrees" if record["disagrees"] else ""}
        for record in records[:_MOST_PARTITIONS]
    ]
    for row in rows:
        del row["disagrees"]
    return make_table(
        {
            "view": "View",
            "n_partitions": "Partitions",
            "labeled": "Samples",
            "agreement": "NMI",
            "adjusted_rand": "ARI",
            "within": "Within",
            "between": "Other views",
            "remark": "Remark",
        },
        rows,
        len(records) - len(rows),
        "views with a higher agreement are left out.",
        "Samples: share of the samples that the view has. NMI and ARI: mean agreement of the "
        "partitions of the view with the consensus. Within: mean NMI between these partitions. "
        "Other views: their mean NMI with the partitions of other views. Disagrees: the ARI is "
        "less than half of that of the best view.",
    )


def sample_table(content: Content) -> ReportTable:
    """Return the samples with the lowest margin."""
    d, sample_ids = content.diagnosis, content.ensemble.sample_ids
    doubtful = set(content.doubtful.tolist())
    rows = []
    for x in _most_doubtful(d.confidence, d.margin).tolist():
        disagreeing = d.disagreeing_partitions(x).tolist()
        runner_up = int(d.runner_up[x])
        rows.append(
            {
                "sample": shorten(x if sample_ids is None else sample_ids[x]),
                "cluster": content.clusters[d.labels[x]],
                "confidence": d.confidence[x],
                "runner_up": None if runner_up < 0 else content.clusters[runner_up],
                "margin": d.margin[x],
                "n_disagreeing": len(disagreeing),
                "disagreeing_partitions": join_names([content.partitions[i] for i in disagreeing])
                if disagreeing
                else "",
                "remark": "doubtful" if x in doubtful else "",
            }
        )
    return make_table(
        {
            "sample": "Sample",
            "cluster": "Cluster",
            "confidence": "Confidence",
            "runner_up": "Next cluster",
            "margin": "Margin",
            "n_disagreeing": "Against",
            "disagreeing_partitions": "Partitions that disagree",
            "remark": "Remark",
        },
        rows,
        len(d.labels) - len(rows),
        "samples are left out: they have a higher margin, are alone in their cluster, or have "
        "no label.",
        "Confidence: share of the partitions that put the sample together with another sample of "
        "its cluster, on average. Next cluster: the other cluster with the highest such share. "
        "Margin: confidence minus the share of the next cluster. Against: number of partitions "
        "that put the sample together with samples of another cluster. Doubtful: margin "
        "not above zero.",
    )


def assignments(content: Content) -> dict[str, list[Any]] | None:
    """Return columns with the cluster of every sample, for download; None if they are too large."""
    d, ids = content.diagnosis, content.ensemble.sample_ids
    if len(d.labels) > _MOST_ASSIGNED:
        return None
    names = [*content.clusters, None]  # -1, no cluster, takes the last one
    columns = {
        "sample": list(range(len(d.labels))) if ids is None else [shorten(x) for x in ids.tolist()],
        "cluster": [names[k] for k in d.labels.tolist()],
        "confidence": to_json(d.confidence),
        "runner_up": [names[k] for k in d.runner_up.tolist()],
        "margin": to_json(d.margin),
    }
    text = json.dumps(columns)
    n_escaped = sum(map(text.count, "<>&"))  # the page escapes them with six characters each
    return columns if len(text) + 5 * n_escaped <= _MOST_BYTES else None


def method_table(content: Content) -> ReportTable | None:
    """Return the records of a comparison."""
    if content.comparison is None:
        return None
    headings = {
        "method": "Method",
        "n_clusters": "Clusters",
        "seconds": "Seconds",
        "anmi": "ANMI",
        "agreement": "Other methods",
        "ARI": "ARI",
        "NMI": "NMI",
        "ACC": "ACC",
        "failure": "Failure",
    }
    records = content.comparison.records
    columns = {key: heading for key, heading in headings.items() if key in records[0]}
    rows = [
        {key: record[key] for key in columns}
        | {"failure": None if record["failure"] is None else record["failure"].split(". ")[0]}
        for record in records
    ]
    scores = " ARI, NMI, ACC: agreement with the true classes." if content.y is not None else ""
    return make_table(
        columns,
        rows,
        0,
        "methods are left out.",
        "ANMI: mean NMI with the partitions. Other methods: mean ARI with the results of the other "
        f"methods.{scores}",
    )


def _most_doubtful(
    confidence: NDArray[np.float64], margin: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return the samples with the lowest margin; of equal ones, the lower confidence first."""
    samples = np.flatnonzero(np.isfinite(confidence))
    if len(samples) > MOST_SAMPLES:
        bound = np.partition(margin[samples], MOST_SAMPLES - 1)[MOST_SAMPLES - 1]
        samples = samples[margin[samples] <= bound]
    return samples[np.lexsort((confidence[samples], margin[samples]))][:MOST_SAMPLES]


def _count(weight: float) -> int | float:
    return int(weight) if float(weight).is_integer() else float(weight)


def _remark(bad: bool, n_equal: int) -> str:
    remarks = ["bad partition"] if bad else []
    if n_equal > 1:
        remarks.append(f"one of {n_equal} equal partitions")
    return ", ".join(remarks)
