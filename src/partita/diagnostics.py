"""How far to trust a consensus: samples, clusters, partitions, and the whole.

Everything comes from two small tables, the weight of every base cluster in every consensus cluster
and the weight that every partition labels in it: O(n m K) time, O(n K + L K) memory, no n x n
matrix. Where labels are missing, a mean co-association is the ratio of the pairs joined to the
pairs that a partition labels both of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._contingency import CrossTable, adjusted_rand_of, nmi_of
from partita._input.coding import encode
from partita._input.containers import label_columns
from partita._memory import require_memory
from partita.ensemble import Ensemble, as_ensemble
from partita.matrices import cluster_sizes
from partita.matrices.cluster_counts import group_overlaps
from partita.metrics import pairwise_agreement
from partita.solvers.components import connected_components
from partita.solvers.label_kmeans import Tables, row_costs

__all__ = ["Diagnosis", "diagnose", "membership"]

_SAME = 0.999  # partitions with this NMI are one and the same result
_BAD_RUN = 3.5  # robust z-score of agreement below which a partition is called a bad run
_TABLES_OF_SAMPLES, _TABLES = 4, 5  # of n x K and of L x K numbers that are there at once
_TO_NORMAL = 0.6745  # the median absolute deviation of a normal variable in standard deviations


@dataclass(frozen=True)
class Diagnosis:
    """What an ensemble says about a consensus. Made by `diagnose`.

    Attributes
    ----------
    labels : array of shape (n_samples,)
        The consensus, numbered 0..K-1; -1 for samples it leaves out.
    item_consensus : array of shape (n_samples, n_clusters)
        Mean co-association of a sample with the members of each cluster, itself left out; NaN
        where no partition labels the sample with any member.
    confidence : array of shape (n_samples,)
        Item consensus with the own cluster.
    runner_up : array of shape (n_samples,)
        The other cluster a sample is closest to; -1 if there is none.
    margin : array of shape (n_samples,)
        Confidence minus the runner-up's item consensus: below 0, the sample sits in the wrong
        place by the ensemble's own evidence.
    sizes : array of shape (n_clusters,)
        Samples, by weight.
    cluster_consensus : array of shape (n_clusters, n_clusters)
        Mean co-association within (diagonal) and between clusters.
    stability : array of shape (n_clusters,)
        Mean over the partitions of the best Jaccard index with one of its clusters.
    agreement : array of shape (n_partitions,)
        NMI of every partition with the consensus.
    adjusted_rand : array of shape (n_partitions,)
    redundancy : array of shape (n_partitions,)
        Partitions with the same number are the same result (NMI at least 0.999).
    bad_runs : array of shape (n_partitions,), bool
        Agreement far below the others' (robust z-score under -3.5), or no division at all.
    leave_out : array of shape (n_partitions,)
        Change of the mean confidence if the partition were left out: above 0, it disturbs.
    pairwise : array of shape (n_partitions, n_partitions)
        NMI between partitions.
    anmi : float
        Average NMI of the consensus with the partitions.
    best_member, best_member_anmi : int, float
        The partition that agrees most with all partitions, and its average NMI with the others.
    """

    labels: NDArray[np.int64]
    item_consensus: NDArray[np.float64]
    confidence: NDArray[np.float64]
    runner_up: NDArray[np.int64]
    margin: NDArray[np.float64]
    sizes: NDArray[np.float64]
    cluster_consensus: NDArray[np.float64]
    stability: NDArray[np.float64]
    agreement: NDArray[np.float64]
    adjusted_rand: NDArray[np.float64]
    redundancy: NDArray[np.int64]
    bad_runs: NDArray[np.bool_]
    leave_out: NDArray[np.float64]
    pairwise: NDArray[np.float64]
    anmi: float
    best_member: int
    best_member_anmi: float
    _ensemble: Ensemble
    _majority: NDArray[np.int64]

    @property
    def n_clusters(self) -> int:
        return len(self.sizes)

    @property
    def cohesion(self) -> NDArray[np.float64]:
        """Mean co-association inside every cluster; NaN for a cluster of one."""
        return np.diag(self.cluster_consensus)

    @cached_property
    def separation(self) -> NDArray[np.float64]:
        """1 minus the mean co-association with the nearest other cluster."""
        if self.n_clusters == 1:
            return np.ones(1)
        others = self.cluster_consensus.copy()
        np.fill_diagonal(others, -np.inf)
        return 1.0 - others.max(axis=1)

    @property
    def harmless(self) -> bool:
        """Whether the consensus agrees with the partitions at least as well as the best of them."""
        return self.anmi >= self.best_member_anmi

    @cached_property
    def membership(self) -> NDArray[np.float64]:
        """Soft membership, shape (n_samples, n_clusters): item consensus scaled to sum 1."""
        share = np.nan_to_num(self.item_consensus)
        total = share.sum(axis=1, keepdims=True)
        return np.divide(share, total, out=np.zeros_like(share), where=total > 0)

    def outliers(self, threshold: float = 0.5) -> NDArray[np.int64]:
        """Samples with confidence below `threshold` or closer to another cluster, worst first."""
        suspect = (self.confidence < threshold) | (self.margin < 0)
        found = np.flatnonzero(suspect)
        return found[np.argsort(self.confidence[found], kind="stable")]

    def disagreeing(self, sample: int) -> NDArray[np.int64]:
        """Partitions that put a sample into a cluster whose majority lies elsewhere."""
        e = self._ensemble
        seen = np.flatnonzero(e.observed[sample])
        home = self._majority[e.offsets[seen] + e.codes[sample, seen]]
        return np.sort(e.partition_order[seen[home != self.labels[sample]]])

    def __repr__(self) -> str:
        lines = [
            f"Diagnosis of {len(self.labels)} samples in {self.n_clusters} clusters from "
            f"{len(self.agreement)} partitions",
            f"  confidence: mean {np.nanmean(self.confidence):.3f}, "
            f"{len(self.outliers())} samples doubtful",
            f"  clusters: cohesion {np.nanmin(self.cohesion):.3f} to "
            f"{np.nanmax(self.cohesion):.3f}, stability {self.stability.min():.3f} to "
            f"{self.stability.max():.3f}",
            f"  partitions: agreement {self.agreement.min():.3f} to {self.agreement.max():.3f}, "
            f"{int(self.bad_runs.sum())} bad runs",
            f"  consensus ANMI {self.anmi:.3f}, best member {self.best_member_anmi:.3f}: "
            + ("no harm done" if self.harmless else "the best member agrees better"),
        ]
        return "\n".join(lines)


def diagnose(ensemble: Any, labels: Any) -> Diagnosis:
    """Say how far to trust a consensus.

    Parameters
    ----------
    ensemble : label matrix, data frame, list of vectors, or Ensemble
        The base partitions.
    labels : array-like of shape (n_samples,), or a fitted consensus method
        The consensus; -1, None and NaN are samples it leaves out.

    Returns
    -------
    Diagnosis
        Cost O(n m K + n m²).

    Examples
    --------
    >>> from partita import EAC, diagnose
    >>> partitions = [[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]]
    >>> found = diagnose(partitions, EAC(n_clusters=2).fit(partitions))
    >>> found.confidence.round(2)
    array([0.83, 0.83, 0.67, 1.  , 1.  , 1.  ])
    >>> found.disagreeing(2)
    array([2])
    """
    e = as_ensemble(ensemble)
    if e.is_compressed:
        raise ValueError("Expected one row per sample, got a compressed ensemble.")
    groups, n_clusters = _groups(getattr(labels, "labels_", labels), e.n_samples)
    counts, observed = _statistics(e, groups, n_clusters)
    item = _item_consensus(e, groups, counts, observed)
    confidence, runner_up, margin = _ranks(item, groups)
    pairwise = pairwise_agreement(e)
    # every partition against the consensus
    tables = [CrossTable.of_counts(table) for table in np.split(counts, e.offsets[1:-1])]
    agreement = _in_order(e, [nmi_of(table) for table in tables])
    divided = _in_order(e, [nmi_of(table, undivided=0.0) for table in tables])
    labeled = _in_order(e, np.add.reduceat(cluster_sizes(e), e.offsets[:-1]))
    best, best_anmi = _best_member(pairwise, labeled)
    return Diagnosis(
        labels=groups,
        item_consensus=item,
        confidence=confidence,
        runner_up=runner_up,
        margin=margin,
        sizes=np.bincount(groups[groups >= 0], e.weights[groups >= 0], minlength=n_clusters).astype(
            np.float64
        ),
        cluster_consensus=_between_clusters(e, groups, counts, observed),
        stability=_stability(e, counts, observed),
        agreement=agreement,
        adjusted_rand=_in_order(e, _adjusted_rands(e, groups, tables)),
        redundancy=connected_components(pairwise >= _SAME)[1],
        bad_runs=_bad_runs(agreement, e),
        leave_out=_leave_out(e, groups, counts, observed, confidence),
        pairwise=pairwise,
        anmi=float(np.average(divided, weights=labeled)),
        best_member=best,
        best_member_anmi=best_anmi,
        _ensemble=e,
        _majority=np.argmax(counts, axis=1),
    )


def membership(ensemble: Any, labels: Any) -> NDArray[np.float64]:
    """Soft membership of every sample in every cluster of a consensus, rows summing to 1.

    The share of a sample's co-association that goes to each cluster, clusters weighing the same
    whatever their size.
    """
    return diagnose(ensemble, labels).membership


def confidence_and_margin(
    ensemble: Ensemble, groups: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of every sample, as in a `Diagnosis`, and nothing else of it. Groups 0..K-1, or -1."""
    counts, observed = _statistics(ensemble, groups, int(groups.max()) + 1)
    item = _item_consensus(ensemble, groups, counts, observed)
    confidence, _, margin = _ranks(item, groups)
    return confidence, margin


# -- tables ----------------------------------------------------------------------------------


def _groups(labels: Any, n_samples: int) -> tuple[NDArray[np.int64], int]:
    columns, _ = label_columns([labels])
    if len(columns[0]) != n_samples:
        raise ValueError(
            f"labels has {len(columns[0])} entries, the ensemble {n_samples} samples. Pass one "
            "label per sample, in the order of the ensemble."
        )
    codes, names = encode(columns, ["labels"], "missing")
    groups = codes[:, 0].astype(np.int64)
    groups[codes[:, 0] == np.iinfo(codes.dtype).max] = -1
    return groups, len(names[0])


def _statistics(
    e: Ensemble, groups: NDArray[np.int64], n_clusters: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weight of every base cluster, and of all that a partition labels, in every cluster."""
    tables = 8 * n_clusters * (_TABLES_OF_SAMPLES * e.n_samples + _TABLES * e.n_base_clusters)
    require_memory(
        tables,
        f"The diagnosis of {e.n_samples} samples in {n_clusters} clusters, by {e.n_base_clusters} "
        "base clusters,",
    )
    counts = group_overlaps(e, groups, n_clusters)
    return counts, np.add.reduceat(counts, e.offsets[:-1], axis=0)


def _item_consensus(
    e: Ensemble,
    groups: NDArray[np.int64],
    counts: NDArray[np.float64],
    observed: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Per sample and cluster: the weight joined with the sample of all that is labeled together
    with it, itself left out."""
    nothing = np.zeros(e.n_rows)
    none = np.zeros_like(observed)
    totals = np.repeat(observed, e.n_clusters, axis=0)
    joined = row_costs(e, e.codes, Tables(counts, none), nothing, nothing)
    seen = row_costs(e, e.codes, Tables(totals, none), nothing, nothing)
    known = np.flatnonzero(groups >= 0)
    own = e.observed[known].sum(axis=1) * np.minimum(e.weights[known], 1.0)
    joined[known, groups[known]] -= own
    seen[known, groups[known]] -= own
    return np.divide(joined, seen, out=np.full_like(joined, np.nan), where=seen > 1e-9)


def _ranks(
    item: NDArray[np.float64], groups: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    n, k = item.shape
    known = groups >= 0
    own = np.where(known, item[np.arange(n), np.maximum(groups, 0)], np.nan)
    others = np.where(np.isnan(item), -np.inf, item)
    others[np.arange(n)[known], groups[known]] = -np.inf
    if k == 1:
        return own, np.full(n, -1, np.int64), own.copy()
    second = others.max(axis=1)
    runner_up = np.where(np.isfinite(second) & known, np.argmax(others, axis=1), -1)
    return own, runner_up, own - np.where(np.isfinite(second), second, 0.0)


def _between_clusters(
    e: Ensemble,
    groups: NDArray[np.int64],
    counts: NDArray[np.float64],
    observed: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Mean co-association of pairs of different samples, cluster by cluster."""
    joined, seen = counts.T @ counts, observed.T @ observed
    known = groups >= 0
    with_self = e.weights[known] * np.minimum(e.weights[known], 1.0) * e.observed[known].sum(axis=1)
    own = np.bincount(groups[known], with_self, minlength=len(joined))
    joined[np.diag_indices_from(joined)] -= own
    seen[np.diag_indices_from(seen)] -= own
    return np.divide(joined, seen, out=np.full_like(joined, np.nan), where=seen > 1e-9)


def _stability(
    e: Ensemble, counts: NDArray[np.float64], observed: NDArray[np.float64]
) -> NDArray[np.float64]:
    sizes = counts.sum(axis=1, keepdims=True)
    totals = np.repeat(observed, e.n_clusters, axis=0)
    union = sizes + totals - counts
    jaccard = np.divide(counts, union, out=np.zeros_like(counts), where=union > 0)
    best = np.maximum.reduceat(jaccard, e.offsets[:-1], axis=0)
    present = observed > 0
    return np.where(present, best, 0.0).sum(axis=0) / np.maximum(present.sum(axis=0), 1)


# -- partitions ------------------------------------------------------------------------------


def _in_order(e: Ensemble, values: ArrayLike) -> NDArray[np.float64]:
    """A value per column as one per partition, in the user's order."""
    ordered = np.empty(e.n_partitions)
    ordered[e.partition_order] = values
    return ordered


def _adjusted_rands(
    e: Ensemble, groups: NDArray[np.int64], tables: Sequence[CrossTable]
) -> list[float]:
    """Adjusted Rand index of every partition with the consensus; 0 if they share no sample."""
    itself = replace(e, weights=e.weights * np.minimum(e.weights, 1.0))
    alone = group_overlaps(itself, groups, tables[0].shape[1]).sum(axis=1)
    return [
        adjusted_rand_of(table, own) if own else 0.0
        for table, own in zip(tables, np.add.reduceat(alone, e.offsets[:-1]), strict=True)
    ]


def _bad_runs(agreement: NDArray[np.float64], e: Ensemble) -> NDArray[np.bool_]:
    middle = np.median(agreement)
    spread = np.median(np.abs(agreement - middle)) / _TO_NORMAL
    alone = np.zeros(e.n_partitions, bool)
    alone[e.partition_order] = e.n_clusters == 1
    # agreement that hardly varies has no bad runs: a spread of 0.01 is not a defect
    return alone | (agreement < middle - _BAD_RUN * max(float(spread), 0.01))


def _leave_out(
    e: Ensemble,
    groups: NDArray[np.int64],
    counts: NDArray[np.float64],
    observed: NDArray[np.float64],
    confidence: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Change of the weighted mean confidence without each partition."""
    known = np.flatnonzero((groups >= 0) & np.isfinite(confidence))
    if len(known) == 0:
        return np.zeros(e.n_partitions)  # every sample is alone: no confidence to change
    own_groups, weights = groups[known], e.weights[known]
    itself = np.minimum(weights, 1.0)

    def parts(i: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What partition i adds to the weight joined with a sample, and labeled with it."""
        labeled = e.observed[known, i]
        codes = e.offsets[i] + np.where(labeled, e.codes[known, i], 0).astype(np.int64)
        part = np.where(labeled, counts[codes, own_groups] - itself, 0.0)
        return part, np.where(labeled, observed[i, own_groups] - itself, 0.0)

    joined, seen = np.zeros(len(known)), np.zeros(len(known))
    for i in range(e.n_partitions):
        part, whole = parts(i)
        joined += part
        seen += whole
    before = np.average(joined / seen, weights=weights)
    change = np.zeros(e.n_partitions)
    for i, place in enumerate(e.partition_order):
        part, whole = parts(i)  # once more: to keep them all would take n x m numbers
        rest = seen - whole
        kept = rest > 1e-9
        if kept.any():
            after = np.average((joined - part)[kept] / rest[kept], weights=weights[kept])
            change[place] = after - before
    return change


def _best_member(pairwise: NDArray[np.float64], labeled: NDArray[np.float64]) -> tuple[int, float]:
    """The partition with the largest average NMI to the others, and that average."""
    if len(labeled) == 1:
        return 0, 1.0
    average = (pairwise @ labeled - labeled) / (labeled.sum() - labeled)
    best = int(np.argmax(average))
    return best, float(average[best])
