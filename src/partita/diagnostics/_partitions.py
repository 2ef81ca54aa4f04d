"""Scores of the partitions of an ensemble beside a consensus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from partita._contingency import ContingencyTable, adjusted_rand_of
from partita.ensemble import Ensemble
from partita.matrices.cluster_counts import group_overlaps

__all__ = ["adjusted_rands", "find_bad_partitions", "find_best_partition", "leave_out_changes"]

_BAD_Z_SCORE = 3.5
_MAD_OF_NORMAL = 0.6745  # median absolute deviation of a normal variable with unit variance
_LEAST_SPREAD = 0.01  # a smaller spread of the agreement is no reason to call a partition bad


def adjusted_rands(
    ensemble: Ensemble, codes: NDArray[np.int64], tables: Sequence[ContingencyTable]
) -> list[float]:
    """Return the adjusted Rand index of each partition with the consensus.

    `tables` has one table per column of the ensemble. The index is 0 if a partition and the
    consensus have no sample in common.
    """
    weights = ensemble.weights
    squared = replace(ensemble, weights=weights * np.minimum(weights, 1.0))
    self_pairs = group_overlaps(squared, codes, tables[0].shape[1]).sum(axis=1)
    return [
        adjusted_rand_of(table, own) if own else 0.0
        for table, own in zip(
            tables, np.add.reduceat(self_pairs, ensemble.offsets[:-1]), strict=True
        )
    ]


def find_bad_partitions(ensemble: Ensemble, agreement: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which partitions agree far less than the others, or have one cluster only."""
    middle = np.median(agreement)
    spread = np.median(np.abs(agreement - middle)) / _MAD_OF_NORMAL
    undivided = np.zeros(ensemble.n_partitions, bool)
    undivided[ensemble.partition_order] = ensemble.n_clusters == 1
    return undivided | (agreement < middle - _BAD_Z_SCORE * max(float(spread), _LEAST_SPREAD))


def find_best_partition(
    pairwise: NDArray[np.float64], labeled: NDArray[np.float64]
) -> tuple[int, float]:
    """Return the partition with the largest average NMI with the others, and that average.

    `labeled` is the weight that each partition labels; the average is weighted by it.
    """
    if len(labeled) == 1:
        return 0, 1.0
    average = (pairwise @ labeled - labeled) / (labeled.sum() - labeled)
    best = int(np.argmax(average))
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
