"""The number of clusters of an estimator, chosen by a scan where none was passed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from partita._warn import warn_user
from partita.exceptions import NoStructureError
from partita.metrics import adjusted_rand
from partita.registry import has_default_number
from partita.select_k._result import KScan

__all__ = [
    "NUMBER_ONLY",
    "SCANNED_PARTITIONS",
    "choose_number",
    "confirmed_scan",
    "default_range",
    "needs_number",
    "suggested_number",
]

# What an estimator needs of a scan of features: the number. Halves of the partitions give the
# standard errors, and halves of the null ensembles the nulls of stability and PAC.
NUMBER_ONLY: dict[str, Any] = {"n_resamples": 2, "null_resamples": 0, "max_samples": 2000}
SCANNED_PARTITIONS = 20  # per number of clusters, at most
_SAME_CLUSTERS = 0.9  # least adjusted Rand index of clusterings by graph cuts and by k-means


def default_range(n_samples: int) -> range:
    """Return the numbers of clusters to choose from: 2 to 10, fewer than the samples."""
    if n_samples < 3:
        raise ValueError(
            f"Expected at least 3 samples to choose the number of clusters, got {n_samples}. Pass "
            "n_clusters."
        )
    return range(2, min(11, n_samples))


def choose_number(
    n_clusters: int | None, method: Any, scan: Callable[[], KScan]
) -> tuple[int | None, KScan | None]:
    """Return the number of clusters of a consensus, and the scan that chose it, if one did.

    Parameters
    ----------
    n_clusters : int or None
        Number that was passed. It is returned as it is.
    method : estimator
        Consensus method. If it was given a number or needs none, the number is None: it stays.
    scan : callable
        Scans the data. If it finds no structure, the number is 1, with a warning.
    """
    if n_clusters is not None or not needs_number(method):
        return n_clusters, None
    result = scan()
    if result.best_k is not None:
        return result.best_k, result
    warn_user(
        f"No structure found: no number of clusters from {result.k[0]} to {result.k[-1]} does "
        "better than data without clusters, so that all samples are one cluster. Pass n_clusters "
        "to get clusters all the same."
    )
    return 1, result


def confirmed_scan(by_graph: KScan, by_kmeans: KScan) -> KScan:
    """Return the scan whose number of clusters to take: by graph cuts or by k-means.

    Graph cuts join round clusters that touch. k-means finds these, but it also cuts clusters of
    other shapes into tight pieces. Its number counts if graph cuts into that number find the same
    clusters, or if they find no structure.

    Parameters
    ----------
    by_graph, by_kmeans : KScan
        Scans of the same samples.
    """
    if by_kmeans.best_k is None:
        return by_graph
    if by_graph.best_k is None:
        return by_kmeans
    k = by_kmeans.best_k
    agreement = adjusted_rand(by_graph.labels[k], by_kmeans.labels[k])
    return by_kmeans if agreement >= _SAME_CLUSTERS else by_graph


def suggested_number(scan: KScan, null: str) -> int:
    """Return the suggestion of a scan; raise `NoStructureError` if it has none.

    Parameters
    ----------
    scan : KScan
        Result of a scan.
    null : str
        What the null of the scan is, for the message.
    """
    if scan.best_k is None:
        raise NoStructureError(
            f"No structure found: no number of clusters from {scan.k[0]} to {scan.k[-1]} does "
            f"better than {null}. Pass a number to get clusters all the same."
        )
    return scan.best_k


def needs_number(method: Any) -> bool:
    """Return whether a method has the parameter n_clusters, at its default, which is a number."""
    return has_default_number(method) and method.n_clusters is not None
