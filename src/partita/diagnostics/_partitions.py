"""Scores of the partitions of an ensemble beside a consensus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from partita._contingency import ContingencyTable, adjusted_rand_of, nesting_of
from partita.ensemble import Ensemble
from partita.matrices.cluster_counts import group_overlaps

__all__ = [
    "adjusted_rands",
    "find_bad_partitions",
    "find_best_partition",
    "leave_out_changes",
    "nestings",
]

_BAD_Z_SCORE = 3.5
_MAD_OF_NORMAL = 0.6745  # median absolute deviation of a normal variable with unit variance
_LEAST_SPREAD = 0.01  # a smaller spread of the nesting is no reason to call a partition bad
_LEAST_SHARE = 0.5  # of the median nesting, from which a partition is not bad
_LIKE_NUMBER = 1.1  # largest ratio of two numbers of clusters that are alike


def adjusted_rands(
    ensemble: Ensemble, codes: NDArray[np.int64], tables: Sequence[ContingencyTable]
) -> list[float]:
    """Return the adjusted Rand index of each partition with the consensus.

    `tables` has one table per column of the ensemble. The index is 0 if a partition and the
    consensus have no sample in common.
    """
    return [
        adjusted_rand_of(table, own) if own else 0.0
        for table, own in zip(tables, _self_pairs(ensemble, codes, tables), strict=True)
    ]


def nestings(
    ensemble: Ensemble, codes: NDArray[np.int64], tables: Sequence[ContingencyTable]
) -> list[float]:
    """Return how far each partition refines the consensus or is refined by it.

    The arguments are those of `adjusted_rands`. Unlike NMI and the adjusted Rand index, the value
    is not low merely because a partition has fewer or more clusters than the consensus.
    """
    return [
        nesting_of(table, own) if own else 0.0
        for table, own in zip(tables, _self_pairs(ensemble, codes, tables), strict=True)
    ]


def _self_pairs(
    ensemble: Ensemble, codes: NDArray[np.int64], tables: Sequence[ContingencyTable]
) -> NDArray[np.float64]:
    """Return the weight of the pairs of a sample with itself, per column of the ensemble."""
    weights = ensemble.weights
    squared = replace(ensemble, weights=weights * np.minimum(weights, 1.0))
    by_base_cluster = group_overlaps(squared, codes, tables[0].shape[1]).sum(axis=1)
    return np.add.reduceat(by_base_cluster, ensemble.offsets[:-1])


def find_bad_partitions(ensemble: Ensemble, nesting: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which partitions are nested far less than the others, or have one cluster only."""
    middle = float(np.median(nesting))
    spread = float(np.median(np.abs(nesting - middle))) / _MAD_OF_NORMAL
    lowest = min(middle - _BAD_Z_SCORE * max(spread, _LEAST_SPREAD), _LEAST_SHARE * middle)
    undivided = np.zeros(ensemble.n_partitions, bool)
    undivided[ensemble.partition_order] = ensemble.n_clusters == 1
    return undivided | (nesting < lowest)


def find_best_partition(
    pairwise: NDArray[np.float64],
    labeled: NDArray[np.float64],
    n_base_clusters: NDArray[np.int64],
    n_clusters: int,
) -> tuple[int | None, float]:
    """Return the partition with the largest average NMI with the others, and that average.

    `labeled` is the weight that each partition labels; the average is weighted by it. Only
    partitions with about `n_clusters` clusters count, because NMI with fine partitions grows with
    the number of clusters. None and NaN if there is no such partition.
    """
    like = np.maximum(n_base_clusters, n_clusters) <= _LIKE_NUMBER * np.minimum(
        n_base_clusters, n_clusters
    )
    if not like.any():
        return None, float("nan")
    if len(labeled) == 1:
        return 0, 1.0
    average = (pairwise @ labeled - labeled) / (labeled.sum() - labeled)
    best = int(np.argmax(np.where(like, average, -np.inf)))
    return best, float(average[best])


def leave_out_changes(
    ensemble: Ensemble,
    codes: NDArray[np.int64],
    counts: NDArray[np.float64],
    labeled: NDArray[np.float64],
    confidence: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the change of the weighted mean confidence without each partition.

    `counts` is the weight of each base cluster in each cluster of the consensus, `labeled` the
    weight that each partition labels in it.
    """
    e = ensemble
    rows = np.flatnonzero((codes >= 0) & np.isfinite(confidence))
    if len(rows) == 0:
        return np.zeros(e.n_partitions)  # every cluster has one sample: there is no confidence
    clusters, weights = codes[rows], e.weights[rows]
    itself = np.minimum(weights, 1.0)

    def terms(i: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the weight that partition i joins with each sample, and labels beside it."""
        observed = e.observed[rows, i]
        base_clusters = e.offsets[i] + np.where(observed, e.codes[rows, i], 0).astype(np.int64)
        joined = np.where(observed, counts[base_clusters, clusters] - itself, 0.0)
        return joined, np.where(observed, labeled[i, clusters] - itself, 0.0)

    all_joined, all_labeled = np.zeros(len(rows)), np.zeros(len(rows))
    for i in range(e.n_partitions):
        joined, beside = terms(i)
        all_joined += joined
        all_labeled += beside
    before = np.average(all_joined / all_labeled, weights=weights)
    change = np.zeros(e.n_partitions)
    for i, position in enumerate(e.partition_order):
        joined, beside = terms(i)  # computed again: keeping all terms needs n x m numbers
        rest = all_labeled - beside
        kept = rest > 1e-9
        if kept.any():
            after = np.average((all_joined - joined)[kept] / rest[kept], weights=weights[kept])
            change[position] = after - before
    return change
