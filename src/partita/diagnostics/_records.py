"""Records of a diagnosis: one dictionary per cluster, partition, view or sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from partita.diagnostics._values import by_partition
from partita.diagnostics._views import score_views
from partita.ensemble.view_names import views_of_partitions

if TYPE_CHECKING:
    from partita.diagnostics._diagnosis import Diagnosis

__all__ = [
    "records_of_clusters",
    "records_of_partitions",
    "records_of_samples",
    "records_of_views",
]

Records = list[dict[str, Any]]


def records_of_clusters(diagnosis: Diagnosis) -> Records:
    """Return one dictionary per cluster; see `Diagnosis.cluster_records`."""
    d = diagnosis
    doubtful = np.bincount(d.labels[d.doubtful_samples()], minlength=d.n_clusters)
    names = [*d.cluster_names.tolist(), None]
    columns = {
        "cluster": d.cluster_names.tolist(),
        "size": d.sizes.tolist(),
        "share": (d.sizes / d.sizes.sum()).tolist(),
        "confidence": d.mean_confidences.tolist(),
        "cohesion": d.cohesion.tolist(),
        "separation": d.separation.tolist(),
        "stability": d.stability.tolist(),
        "nearest": [names[k] for k in d.nearest_clusters.tolist()],
        "n_doubtful": doubtful.tolist(),
    }
    return _zip_columns(columns)


def records_of_partitions(diagnosis: Diagnosis) -> Records:
    """Return one dictionary per partition; see `Diagnosis.partition_records`."""
    d, e = diagnosis, diagnosis.partitions
    columns = {
        "partition": d.partition_names,
        "n_clusters": by_partition(e, e.n_clusters).tolist(),
        "labeled": by_partition(e, e.observed.mean(axis=0)).tolist(),
        "agreement": d.agreement.tolist(),
        "adjusted_rand": d.adjusted_rand.tolist(),
        "leave_out": d.leave_out.tolist(),
        "bad": d.bad_partitions.tolist(),
        "n_equal": np.bincount(d.redundancy)[d.redundancy].tolist(),
    }
    return _zip_columns(columns)


def records_of_views(diagnosis: Diagnosis, views: Sequence[str] | None) -> Records:
    """Return one dictionary per view; see `Diagnosis.view_records`."""
    d, e = diagnosis, diagnosis.partitions
    names = views_of_partitions(d.partition_names) if views is None else list(views)
    if names is None:
        return []
    if len(names) != e.n_partitions:
        raise ValueError(
            f"views must name the view of each of {e.n_partitions} partitions, got {len(names)} "
            "names."
        )
    observed = e.observed[:, np.argsort(e.partition_order)]
    return score_views(names, observed, d.agreement, d.adjusted_rand, d.pairwise)


def records_of_samples(diagnosis: Diagnosis) -> Records:
    """Return one dictionary per sample; see `Diagnosis.to_frame`."""
    d, ids = diagnosis, diagnosis.partitions.sample_ids
    names = [*d.cluster_names.tolist(), None]  # -1, no cluster, takes the last one
    columns = {
        "sample": list(range(len(d.labels))) if ids is None else ids.tolist(),
        "cluster": [names[k] for k in d.labels.tolist()],
        "confidence": d.confidence.tolist(),
        "margin": d.margin.tolist(),
        "runner_up": [names[k] for k in d.runner_up.tolist()],
    }
    return _zip_columns(columns)


def _zip_columns(columns: dict[str, list[Any]]) -> Records:
    rows = zip(*columns.values(), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]
