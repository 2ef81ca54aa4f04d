"""The scan by which an estimator chooses the number of clusters of features."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from partita.generators import RandomRows
from partita.generators.generation import cuts_a_graph, rows_of_partition
from partita.metrics import adjusted_rand
from partita.select_k._choice import scan_numbers
from partita.select_k._features_scan import scan_table
from partita.select_k._result import KScan

__all__ = ["NUMBER_ONLY", "confirmed_scan", "scan_for_number"]

Clusterings = dict[int, NDArray[np.int64]]  # by the number of clusters

# What an estimator needs of a scan: the number. Halves of the partitions give the standard errors,
# and halves of the null ensembles the nulls of stability and PAC.
NUMBER_ONLY: dict[str, Any] = {"n_resamples": 2, "null_resamples": 0, "max_samples": 2000}
_N_PARTITIONS = 20  # per number of clusters, at most
_SAME_CLUSTERS = 0.9  # least adjusted Rand index of clusterings by graph cuts and by k-means


def scan_for_number(
    X: Any,
    generator: Any,
    method: Any,
    rng: np.random.Generator,
    k_range: Iterable[int] | None = None,
) -> KScan:
    """Scan the number of clusters of features for an estimator.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Features.
    generator : generator or pipeline
        What makes the partitions of the estimator. The scan uses it if it has the parameters k_min
        and k_max, otherwise k-means. If it cuts a graph, k-means confirms its number.
    method : estimator
        Consensus method.
    rng : Generator
        Source of random numbers.
    k_range : iterable of int, optional
        Numbers of clusters. By default 2 to 10, or 2 to 30 if there may be more.
    """
    kmeans = RandomRows(n_partitions=_N_PARTITIONS, ratio=0.8)
    parameters, scanned = generator.get_params(deep=False), kmeans
    if {"n_partitions", "k_min", "k_max", "random_state"} <= parameters.keys():
        n_partitions = min(parameters["n_partitions"], _N_PARTITIONS)
        scanned = clone(generator).set_params(n_partitions=n_partitions)
    # One seed: both scans draw the same samples of many.
    options = {"method": method, "random_state": int(rng.integers(2**31)), **NUMBER_ONLY}

    def scan(numbers: Iterable[int]) -> KScan:
        by_graph = scan_table(X, numbers, scanned, **options).decide()
        if not cuts_a_graph(scanned):
            return by_graph
        by_kmeans = scan_table(X, numbers, kmeans, **options)
        best_k = by_graph.best_k
        if best_k is not None and set(_confirmed(by_graph.labels, by_kmeans.labels)) <= {best_k}:
            by_kmeans.stop()  # whatever its number is, it is not taken or is the same
            return by_graph
        return confirmed_scan(by_graph, by_kmeans.decide())

    n_samples = X.shape[0]
    n_rows = min(rows_of_partition(each, n_samples) for each in (scanned, kmeans))
    return scan_numbers(scan, k_range, n_samples, n_rows, [X])


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
    if by_graph.best_k is None or by_kmeans.best_k in _confirmed(by_graph.labels, by_kmeans.labels):
        return by_kmeans
    return by_graph


def _confirmed(by_graph: Clusterings, by_kmeans: Clusterings) -> list[int]:
    """Return the numbers of clusters at which graph cuts and k-means find the same clusters."""
    return [
        k for k, labels in by_kmeans.items() if adjusted_rand(by_graph[k], labels) >= _SAME_CLUSTERS
    ]
