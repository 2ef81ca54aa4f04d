"""`summarize`: the content of a report as one dictionary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._input.containers import check_order
from partita.comparison import Comparison
from partita.diagnostics import Diagnosis, diagnose
from partita.ensemble import Ensemble
from partita.fusion import Fusion
from partita.metrics import evaluate
from partita.reporting._class_table import class_table
from partita.reporting._content import Content
from partita.reporting._figures import figures
from partita.reporting._findings import findings
from partita.reporting._profile_table import profile_table
from partita.reporting._provenance import provenance
from partita.reporting._scan_table import scan_table
from partita.reporting._structure_tables import hierarchy_table, mode_table
from partita.reporting._tables import (
    assignments,
    cluster_table,
    method_table,
    partition_table,
    sample_table,
    view_table,
)
from partita.reporting._values import shorten, to_json
from partita.select_k import KScan
from partita.structure import Hierarchy

__all__ = ["summarize"]

_FORMAT = 2


def summarize(
    partitions: Any,
    labels: Any,
    *,
    method: Any = None,
    comparison: Comparison | None = None,
    scan: KScan | None = None,
    y: Any = None,
    features: Any = None,
    coordinates: Any = None,
    hierarchy: Hierarchy | None = None,
    title: str = "Consensus clustering",
    random_state: Any = None,
) -> dict[str, Any]:
    """Return the content of a report as a dictionary of JSON types.

    Parameters
    ----------
    partitions : table of labels, data frame, list of label vectors, Ensemble or LabelStore
        The base partitions.
    labels : array-like of shape (n_samples,), fitted consensus method, or Fusion
        The consensus. -1, None and NaN are samples without a label. Of a `Fusion` of the same
        partitions, the diagnosis, the method and the scan are used and not computed again; after
        an update, the report says how many samples changed their cluster.
    method : fitted consensus method or str, optional
        The method that made the consensus; the report shows its name, parameters and convergence.
        By default `labels` if it is a fitted method, or the method of a `Fusion`.
    comparison : Comparison, optional
        Result of `compare`. By default the report compares no methods.
    scan : KScan, optional
        Result of `scan_k` or `scan_k_features`. By default that of a `Fusion`, if it has one.
    y : array-like of shape (n_samples,), optional
        The true classes. By default the report has no scores.
    features : array, sparse matrix, data frame or mapping of names to columns, optional
        Features or annotations, from which the report names what distinguishes each cluster
        (`cluster_profiles`). By default it does not say that.
    coordinates : array of shape (n_samples, 2), optional
        Places of the samples in a picture, for example a UMAP. By default the first two principal
        components of the features, without features a spectral embedding of the partitions.
    hierarchy : Hierarchy, optional
        Result of `hierarchical_consensus`. By default the report has no hierarchy.
    title : str, default="Consensus clustering"
        Title of the report.
    random_state : int, Generator, RandomState or None, default=None
        The seed with which the consensus was made, for the provenance only.

    Returns
    -------
    dict
        "title", "findings" (with advice), the tables "clusters", "profiles", "classes",
        "partitions", "views", "modes", "hierarchy", "samples", "methods" and "numbers" (of
        clusters), "assignments" (the clusters of all samples if there are at most 20,000), "scan",
        "scores", "figures" (with their data) and "provenance". Its size is bounded for any number
        of samples: a table says how many rows it
        leaves out. The cost is that of `diagnose`, if there is no `Fusion`.

    Examples
    --------
    >>> from partita.reporting import summarize
    >>> partitions = [[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]]
    >>> summary = summarize(partitions, [0, 0, 0, 1, 1, 1], title="Six samples")
    >>> summary["findings"][0]["answer"]
    'The consensus divides 6 samples into 2 clusters. The smallest has 3 (50.0%), the largest 3
    (50.0%).'
    """
    diagnosis = _diagnosis(partitions, labels)
    if isinstance(labels, Fusion):
        method = labels.method if method is None else method
        scan = labels.scan if scan is None else scan
    elif method is None and hasattr(labels, "labels_"):
        method = labels
    content = Content(
        diagnosis=diagnosis,
        method=method,
        comparison=comparison,
        scan=scan,
        y=_true_classes(y, diagnosis.partitions),
        features=_checked_features(features, len(diagnosis.labels)),
        coordinates=coordinates,
        hierarchy=hierarchy,
        changed=labels.changed if isinstance(labels, Fusion) else None,
    )
    return {
        "format": _FORMAT,
        "title": shorten(title),
        "findings": findings(content),
        "clusters": cluster_table(content),
        "profiles": profile_table(content),
        "classes": class_table(content),
        "partitions": partition_table(content),
        "views": view_table(content),
        "modes": mode_table(content),
        "hierarchy": hierarchy_table(content),
        "samples": sample_table(content),
        "assignments": assignments(content),
        "methods": method_table(content),
        "numbers": scan_table(content),
        "scan": None
        if scan is None
        else {"best_k": scan.best_k, "tied_k": scan.tied_k, "rows": to_json(scan.records())},
        "scores": to_json(content.scores),
        "figures": figures(content),
        "provenance": provenance(content, random_state),
    }


def _diagnosis(partitions: Any, labels: Any) -> Diagnosis:
    if not isinstance(labels, Fusion):
        return diagnose(partitions, labels)
    n_samples = getattr(partitions, "n_samples", len(labels.labels))
    if n_samples != len(labels.labels):
        raise ValueError(
            f"partitions has {n_samples} samples, the fusion {len(labels.labels)}. Pass the "
            "partitions that were fused."
        )
    if labels.diagnosis is None:
        raise ValueError("Expected a fusion with a diagnosis, got one that was fitted out of core.")
    return labels.diagnosis


def _checked_features(features: Any, n_samples: int) -> Any:
    if features is None:
        return None
    if isinstance(features, Mapping):
        n_rows = len(next(iter(features.values())))
    else:
        shape = getattr(features, "shape", None)
        n_rows = shape[0] if shape else len(features)
    if n_rows != n_samples:
        raise ValueError(
            f"features has {n_rows} rows, the partitions {n_samples} samples. Pass one row per "
            "sample, in the order of the partitions."
        )
    return features


def _true_classes(y: Any, ensemble: Ensemble) -> NDArray[Any] | None:
    if y is None:
        return None
    check_order(y, ensemble.sample_ids, "y")
    classes = np.asarray(y)
    evaluate(classes, np.zeros(ensemble.n_samples))  # raises the errors of a wrong y
    return classes
