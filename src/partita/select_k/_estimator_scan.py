"""The scan by which an estimator chooses the number of clusters of features."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from partita.generators import RandomRows
from partita.generators.generation import cuts_a_graph, default_metric, rows_of_partition
from partita.metrics import adjusted_rand
from partita.select_k._choice import scan_numbers
from partita.select_k._engine import Scan
from partita.select_k._features_scan import checked_table, scan_table
from partita.select_k._result import KScan

__all__ = ["NUMBER_ONLY", "confirmed_scan", "scan_for_number"]

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
    X : array or sparse matrix of shape (n_samples, n_features)
        Features.
    generator : generator or pipeline
        What makes the partitions of the estimator. The scan uses it if it has the parameters k_min
        and k_max, otherwise k-means. If it cuts a graph of dense features, k-means confirms its
        number.
    method : estimator
        Consensus method.
    rng : Generator
        Source of random numbers.
    k_range : iterable of int, optional
        Numbers of clusters. By default 2 to 10, or 2 to 30 if there may be more.
    """
    is_sparse = sp.issparse(X)
    kmeans = RandomRows(n_partitions=_N_PARTITIONS, ratio=0.8)
    if is_sparse:
        kmeans.set_params(metric=default_metric(X))
    parameters, scanned = generator.get_params(deep=False), kmeans
    if {"n_partitions", "k_min", "k_max", "random_state"} <= parameters.keys():
        n_partitions = min(parameters["n_partitions"], _N_PARTITIONS)
        scanned = clone(generator).set_params(n_partitions=n_partitions)
    X = checked_table(X, scanned)
    # One seed: both scans draw the same samples of many.
    options = {"method": method, "random_state": int(rng.integers(2**31)), **NUMBER_ONLY}

    def scan(numbers: Iterable[int]) -> KScan:
        by_graph = scan_table(X, numbers, scanned, **options)
        if is_sparse or not cuts_a_graph(scanned):
            return by_graph.decide()
        return decide_both(by_graph, scan_table(X, numbers, kmeans, **options))

    n_samples = X.shape[0]
    used = [scanned] if is_sparse else [scanned, kmeans]
    n_rows = min(rows_of_partition(each, n_samples) for each in used)
    return scan_numbers(scan, k_range, n_samples, n_rows, [X])


def decide_both(by_graph: Scan, by_kmeans: Scan) -> KScan:
    """Return the scan that `confirmed_scan` chooses, with as little of the other as it needs.

    The null ensembles take most of the time. Those of one scan are often enough:

    - without a gap in its spectrum, the graph has no structure, and k-means decides;
    - if the suggestion of k-means is confirmed, it is taken, whatever the graph cuts suggest;
    - if the only number that is confirmed is that of the graph cuts, or if the first null ensembles
      leave no hope for the numbers that are, the number of the graph cuts is taken.

    Of the other scan, a number is confirmed by its consensus alone, and the suggestion needs no
    halves of the partitions.

    Parameters
    ----------
    by_graph, by_kmeans : Scan
        Scans of the same samples, with equal numbers.
    """
    chosen = _chosen(by_graph, by_kmeans)
    result = chosen.decide()
    (by_kmeans if chosen is by_graph else by_graph).stop()
    return result


def _chosen(by_graph: Scan, by_kmeans: Scan) -> Scan:
    if not by_graph.possible:
        return by_graph if by_kmeans.best_k is None else by_kmeans
    confirmed = _confirmed(by_graph, by_kmeans)
    is_same = len(confirmed) < 2 and set(confirmed) <= set(by_graph.possible)
    is_ruled_out = not is_same and by_kmeans.rules_out(confirmed)
    if is_same or is_ruled_out:
        best_k = by_graph.best_k
        if best_k is not None and (is_ruled_out or set(confirmed) <= {best_k}):
            return by_graph
    return confirmed_scan(by_graph, by_kmeans, confirmed)


def confirmed_scan(by_graph: Scan, by_kmeans: Scan, confirmed: Collection[int]) -> Scan:
    """Return the scan whose number of clusters to take: by graph cuts or by k-means.

    Graph cuts join round clusters that touch. k-means finds these, but it also cuts clusters of
    other shapes into tight pieces. Its number counts if graph cuts confirm it, or if they find no
    structure.

    Parameters
    ----------
    by_graph, by_kmeans : Scan
        Scans of the same samples.
    confirmed : collection of int
        Numbers of clusters that graph cuts confirm.
    """
    best_k = by_kmeans.best_k
    if best_k is None:
        return by_graph
    return by_kmeans if best_k in confirmed or by_graph.best_k is None else by_graph


def _confirmed(by_graph: Scan, by_kmeans: Scan) -> list[int]:
    """Return the numbers of clusters that graph cuts confirm.

    Graph cuts and k-means find the same clusters, and the spectrum of the graph has nearly a gap.
    Without a gap, both may cut a long shape into the same pieces.
    """
    return [
        k
        for k in by_graph.nearly_possible
        if adjusted_rand(by_graph.labels(k), by_kmeans.labels(k)) >= _SAME_CLUSTERS
    ]
