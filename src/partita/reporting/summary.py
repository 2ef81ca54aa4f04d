"""`summarize`: everything a report says, as one plain dictionary."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita.comparison import Comparison
from partita.diagnostics import diagnose
from partita.ensemble import as_ensemble
from partita.metrics import evaluate
from partita.plotting._names import cluster_names
from partita.reporting._json import plain, short
from partita.reporting.figures import figures
from partita.reporting.findings import findings
from partita.reporting.inputs import Case
from partita.reporting.provenance import provenance
from partita.reporting.tables import cluster_table, method_table, partition_table, sample_table
from partita.select_k import KScan

__all__ = ["summarize"]

_FORMAT = 1


def summarize(
    labels: Any,
    consensus: Any,
    *,
    method: Any = None,
    comparison: Comparison | None = None,
    scan: KScan | None = None,
    y: Any = None,
    title: str = "Consensus clustering",
    random_state: Any = None,
) -> dict[str, Any]:
    """All that a report says, as a dictionary that JSON can hold.

    Parameters
    ----------
    labels : label matrix, data frame, list of vectors, or Ensemble
        The base partitions.
    consensus : array-like of shape (n_samples,), or a fitted consensus method
        -1, None and NaN are samples it leaves out.
    method : fitted consensus method or str, optional
        What made the consensus: its name, parameters and convergence are told.
    comparison : Comparison, optional
        From `compare`.
    scan : KScan, optional
        From `scan_k` or `scan_k_features`.
    y : array-like of shape (n_samples,), optional
        Known classes.
    title : str
    random_state : optional
        The seed of the work reported on, for the provenance; nothing is drawn here.

    Returns
    -------
    dict
        "title", "findings", "clusters", "partitions", "samples", "methods", "scan", "scores",
        "figures" (with the data they are drawn from) and "provenance". Its size is bounded
        whatever the number of samples: tables say how many rows they leave out. Cost that of
        `diagnose`.

    Examples
    --------
    >>> from partita.reporting import summarize
    >>> partitions = [[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]]
    >>> summary = summarize(partitions, [0, 0, 0, 1, 1, 1], title="Six samples")
    >>> summary["findings"][0]["answer"]
    'The consensus sorts 6 samples into 2 clusters; the smallest holds 3 (50.0%), the largest 3
    (50.0%).'
    """
    ensemble = as_ensemble(labels)
    if method is None and hasattr(consensus, "labels_"):
        method = consensus
    found = getattr(consensus, "labels_", consensus)
    case = Case(
        ensemble=ensemble,
        diagnosis=diagnose(ensemble, found),
        clusters=cluster_names(found),
        method=method,
        comparison=comparison,
        scan=scan,
        y=_known_classes(y, ensemble.n_samples),
    )
    return {
        "format": _FORMAT,
        "title": short(title),
        "findings": findings(case),
        "clusters": cluster_table(case),
        "partitions": partition_table(case),
        "samples": sample_table(case),
        "methods": method_table(case),
        "scan": None if scan is None else {"best_k": scan.best_k, "rows": plain(scan.records())},
        "scores": plain(case.scores),
        "figures": figures(case),
        "provenance": provenance(case, random_state),
    }


def _known_classes(y: Any, n_samples: int) -> Any:
    if y is None:
        return None
    classes = np.asarray(y)
    evaluate(classes, np.zeros(n_samples))  # says what is wrong with a wrong y
    return classes
