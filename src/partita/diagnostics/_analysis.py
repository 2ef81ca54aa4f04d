"""`diagnose`: how far to trust a consensus.

Everything is computed from two small tables, the weight of each base cluster in each consensus
cluster and the weight that each partition labels in it: O(n m K) time, O(n K + L K) memory, no
n x n matrix. Where labels are missing, a mean co-association is the ratio of the joined pairs to
the pairs of which a partition labels both samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._contingency import ContingencyTable, nmi_of
from partita._input.label_vector import code_labels
from partita._memory import require_memory
from partita.diagnostics._diagnosis import Diagnosis
from partita.diagnostics._partitions import (
    adjusted_rands,
    find_bad_partitions,
    find_best_partition,
    leave_out_changes,
    nestings,
)
from partita.diagnostics._values import by_partition, soft_membership
from partita.ensemble import Ensemble, as_ensemble
from partita.matrices import cluster_sizes
from partita.matrices.cluster_counts import group_overlaps
from partita.metrics import pairwise_agreement
from partita.solvers.components import connected_components
from partita.solvers.label_kmeans import Tables, row_costs

__all__ = ["confidence_and_margin", "diagnose", "membership"]

_EQUAL_NMI = 0.999  # NMI from which two partitions count as the same result
# Number of n x K and of L x K arrays that exist at the same time, for the memory check.
_SAMPLE_TABLES, _CLUSTER_TABLES = 4, 5


def diagnose(partitions: Any, labels: Any) -> Diagnosis:
    """Measure how far to trust a consensus.

    Parameters
    ----------
    partitions : table of labels, data frame, list of label vectors, Ensemble or LabelStore
        The base partitions.
    labels : array-like of shape (n_samples,), or a fitted consensus method
        The consensus. -1, None and NaN are samples without a label.

    Returns
    -------
    Diagnosis
        Confidence of the samples, cohesion and stability of the clusters, agreement of the
        partitions. Cost O(n m K + n m²).

    Examples
    --------
    >>> from partita import EAC, diagnose
    >>> partitions = [[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]]
    >>> diagnosis = diagnose(partitions, EAC(n_clusters=2).fit(partitions))
    >>> diagnosis.confidence.round(2)
    array([0.83, 0.83, 0.67, 1.  , 1.  , 1.  ])
    >>> diagnosis.disagreeing_partitions(2)
    array([2])
    """
    e, codes, cluster_names = _coded(partitions, labels)
    shares = _SharedWeights(e, codes, len(cluster_names))
    item_consensus = shares.item_consensus()
    confidence, runner_up, margin = _rank_clusters(item_consensus, codes)
    pairwise = pairwise_agreement(e)
    tables = [ContingencyTable.from_dense(t) for t in np.split(shares.counts, e.offsets[1:-1])]
    agreement = by_partition(e, [nmi_of(table) for table in tables])
    anmi_parts = by_partition(e, [nmi_of(table, undivided=0.0) for table in tables])
    labeled = by_partition(e, np.add.reduceat(cluster_sizes(e), e.offsets[:-1]))
    best_partition, best_partition_anmi = find_best_partition(
        pairwise, labeled, by_partition(e, e.n_clusters), len(cluster_names)
    )
    return Diagnosis(
        partitions=e,
        labels=codes,
        cluster_names=cluster_names,
        item_consensus=item_consensus,
        confidence=confidence,
        runner_up=runner_up,
        margin=margin,
        sizes=np.bincount(
            codes[codes >= 0], e.weights[codes >= 0], minlength=len(cluster_names)
        ).astype(np.float64),
        cluster_consensus=shares.cluster_consensus(),
        stability=shares.stability(),
        agreement=agreement,
        adjusted_rand=by_partition(e, adjusted_rands(e, codes, tables)),
        redundancy=connected_components(pairwise >= _EQUAL_NMI)[1],
        bad_partitions=find_bad_partitions(e, by_partition(e, nestings(e, codes, tables))),
        leave_out=leave_out_changes(e, codes, shares.counts, shares.labeled, confidence),
        pairwise=pairwise,
        anmi=float(np.average(anmi_parts, weights=labeled)),
        best_partition=best_partition,
        best_partition_anmi=best_partition_anmi,
        _majority=np.argmax(shares.counts, axis=1),
    )


def membership(partitions: Any, labels: Any) -> NDArray[np.float64]:
    """Return the soft membership of each sample in each cluster of a consensus.

    The membership is the item consensus of the sample with the cluster, scaled so that each row
    sums to 1. Large and small clusters count alike.

    Parameters
    ----------
    partitions : table of labels, data frame, list of label vectors, Ensemble or LabelStore
        The base partitions.
    labels : array-like of shape (n_samples,), or a fitted consensus method
        The consensus. -1, None and NaN are samples without a label.

    Returns
    -------
    array of shape (n_samples, n_clusters)
        A cluster of one sample counts with the co-association of the sample with itself, 1. A row
        is zero only for a sample without a label that no partition compares with a cluster. Cost
        O(n m K).

    Examples
    --------
    >>> from partita import membership
    >>> membership([[0, 0, 1, 1], [0, 0, 0, 1]], [0, 0, 1, 1]).round(2)
    array([[0.8, 0.2],
           [0.8, 0.2],
           [0.5, 0.5],
           [0. , 1. ]])
    """
    e, codes, cluster_names = _coded(partitions, labels)
    item_consensus = _SharedWeights(e, codes, len(cluster_names)).item_consensus()
    return soft_membership(item_consensus, codes)


def confidence_and_margin(
    partitions: Ensemble, labels: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return only the confidence and the margin of a `Diagnosis`.

    Parameters
    ----------
    partitions : Ensemble
        The base partitions, one row per sample.
    labels : array of shape (n_samples,), int
        The consensus as 0..K-1, or -1 for a sample without a label.

    Returns
    -------
    confidence, margin : arrays of shape (n_samples,)
    """
    item_consensus = _SharedWeights(partitions, labels, int(labels.max()) + 1).item_consensus()
    confidence, _, margin = _rank_clusters(item_consensus, labels)
    return confidence, margin


def _coded(partitions: Any, labels: Any) -> tuple[Ensemble, NDArray[np.int64], NDArray[Any]]:
    ensemble = as_ensemble(partitions)
    if ensemble.is_compressed:
        raise ValueError("Expected one row per sample, got a compressed ensemble.")
    return ensemble, *code_labels(labels, ensemble.n_samples, sample_ids=ensemble.sample_ids)


@dataclass(frozen=True, eq=False)
class _SharedWeights:
    """Weight that base clusters and partitions share with the clusters of a consensus.

    `codes` is the consensus as 0..K-1, or -1 for a sample without a label.
    """

    ensemble: Ensemble
    codes: NDArray[np.int64]
    n_clusters: int

    def __post_init__(self) -> None:
        e, k = self.ensemble, self.n_clusters
        require_memory(
            8 * k * (_SAMPLE_TABLES * e.n_samples + _CLUSTER_TABLES * e.n_base_clusters),
            f"The diagnosis of {e.n_samples} samples in {k} clusters, by {e.n_base_clusters} base "
            "clusters,",
        )

    @cached_property
    def counts(self) -> NDArray[np.float64]:
        """Weight of each base cluster in each cluster, shape (n_base_clusters, n_clusters)."""
        return group_overlaps(self.ensemble, self.codes, self.n_clusters)

    @cached_property
    def labeled(self) -> NDArray[np.float64]:
        """Weight that each partition labels in each cluster, shape (n_partitions, n_clusters)."""
        return np.add.reduceat(self.counts, self.ensemble.offsets[:-1], axis=0)

    @cached_property
    def _totals(self) -> NDArray[np.float64]:
        """`labeled`, repeated for each base cluster of the partition."""
        return np.repeat(self.labeled, self.ensemble.n_clusters, axis=0)

    def item_consensus(self) -> NDArray[np.float64]:
        """Return the mean co-association of each sample with the other samples of each cluster."""
        e = self.ensemble
        zeros, no_slope = np.zeros(e.n_rows), np.zeros_like(self.labeled)
        joined = row_costs(e, e.codes, Tables(self.counts, no_slope), zeros, zeros)
        both = row_costs(e, e.codes, Tables(self._totals, no_slope), zeros, zeros)
        rows = np.flatnonzero(self.codes >= 0)
        itself = e.observed[rows].sum(axis=1) * np.minimum(e.weights[rows], 1.0)
        joined[rows, self.codes[rows]] -= itself
        both[rows, self.codes[rows]] -= itself
        return _ratio(joined, both)

    def cluster_consensus(self) -> NDArray[np.float64]:
        """Return the mean co-association of two different samples, per pair of clusters."""
        e, has_label = self.ensemble, self.codes >= 0
        joined, both = self.counts.T @ self.counts, self.labeled.T @ self.labeled
        weights = e.weights[has_label]
        with_itself = weights * np.minimum(weights, 1.0) * e.observed[has_label].sum(axis=1)
        itself = np.bincount(self.codes[has_label], with_itself, minlength=len(joined))
        joined[np.diag_indices_from(joined)] -= itself
        both[np.diag_indices_from(both)] -= itself
        return _ratio(joined, both)

    def stability(self) -> NDArray[np.float64]:
        """Return the best Jaccard index of each cluster per partition, averaged."""
        union = self.counts.sum(axis=1, keepdims=True) + self._totals - self.counts
        jaccard = np.divide(self.counts, union, out=np.zeros_like(self.counts), where=union > 0)
        best = np.maximum.reduceat(jaccard, self.ensemble.offsets[:-1], axis=0)
        present = self.labeled > 0
        return np.where(present, best, 0.0).sum(axis=0) / np.maximum(present.sum(axis=0), 1)


def _ratio(joined: NDArray[np.float64], both: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide joined by labeled pairs; NaN where there is no labeled pair."""
    return np.divide(joined, both, out=np.full_like(joined, np.nan), where=both > 1e-9)


def _rank_clusters(
    item_consensus: NDArray[np.float64], codes: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    """Return confidence, runner-up and margin of each sample."""
    n, k = item_consensus.shape
    has_label = codes >= 0
    confidence = np.where(has_label, item_consensus[np.arange(n), np.maximum(codes, 0)], np.nan)
    others = np.where(np.isnan(item_consensus), -np.inf, item_consensus)
    others[np.arange(n)[has_label], codes[has_label]] = -np.inf
    if k == 1:
        return confidence, np.full(n, -1, np.int64), confidence.copy()
    second = others.max(axis=1)
    runner_up = np.where(np.isfinite(second) & has_label, np.argmax(others, axis=1), -1)
    return confidence, runner_up, confidence - np.where(np.isfinite(second), second, 0.0)
