"""The distinct rows of an ensemble, and how far its partitions agree with clusterings of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from partita._contingency import ContingencyTable, adjusted_rand_of
from partita.ensemble import Ensemble
from partita.matrices import incidence

__all__ = ["AGREEMENTS", "DistinctRows", "agreements"]

AGREEMENTS = ("silhouette", "separation", "item_consensus")

_STACKED = 1 << 22  # numbers in the table of rows by clusters of several clusterings


class DistinctRows:
    """The distinct rows of an ensemble as weighted samples.

    Halves of the partitions are columns of these rows, so that samples with equal labels are
    compared and clustered once.

    Attributes
    ----------
    rows : Ensemble
        One row per distinct row.
    """

    def __init__(self, ensemble: Ensemble) -> None:
        core = ensemble.compress()
        self.rows = Ensemble.from_codes(core.codes, core.layout, weights=core.weights)
        self._row_of = np.arange(core.n_rows) if core.inverse is None else core.inverse
        labeled = np.flatnonzero(self._row_of >= 0)
        self._sample_of = np.empty(core.n_rows, np.int64)
        self._sample_of[self._row_of[labeled]] = labeled
        counts = np.bincount(self._row_of[labeled], minlength=core.n_rows)
        self._n_samples = counts.astype(np.float64)

    def select(self, labels: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the labels of the rows, from those of the samples."""
        return labels[self._sample_of]

    def half(self, columns: NDArray[np.int64]) -> Ensemble:
        """Return the rows with some of the partitions."""
        return self.rows.subset(partitions=columns)

    def adjusted_rand(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> float:
        """Return the adjusted Rand index over the samples that both clusterings label."""
        both = (first >= 0) & (second >= 0)
        first, second, counts = first[both], second[both], self._n_samples[both]
        shape = int(first.max(initial=0)) + 1, int(second.max(initial=0)) + 1
        return adjusted_rand_of(ContingencyTable.from_codes(first, second, *shape, counts))

    def consensus_values(
        self,
        results: Sequence[NDArray[np.int64]],
        first: NDArray[np.int64],
        second: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """Return, per pair of samples, the share of the results labeling both that join them.

        A pair that no result labels has the value 0.
        """
        # The last column is that of a sample without any label, whose row is -1.
        table = np.full((len(results), self.rows.n_rows + 1), -1, np.int32)
        table[:, :-1] = results
        one, other = table[:, self._row_of[first]], table[:, self._row_of[second]]
        labeled = (one >= 0) & (other >= 0)
        both = np.count_nonzero(labeled, axis=0)
        same = np.count_nonzero((one == other) & labeled, axis=0)
        return np.asarray(same / np.maximum(both, 1))


def agreements(
    rows: Ensemble, clusterings: Sequence[NDArray[np.int64]]
) -> dict[str, NDArray[np.float64]]:
    """Return means over the labeled samples, one per clustering.

    "separation" is the mean margin and "item_consensus" the mean confidence of `diagnose`. A
    sample that is a cluster by itself has neither and counts as 0. "silhouette" is the mean
    silhouette by the distance 1 - co-association. All clusterings go through one product with the
    incidence of rows and base clusters.
    """
    graph = incidence(rows)
    n_labels = rows.observed.sum(axis=1)  # of each row
    means = np.empty((3, len(clusterings)))
    for group in _groups(clusterings):
        first = np.cumsum([0, *(int(clusterings[j].max()) + 1 for j in group)])
        members = np.zeros((rows.n_rows, first[-1]))
        for start, j in zip(first[:-1], group, strict=True):
            labeled = np.flatnonzero(clusterings[j] >= 0)
            members[labeled, start + clusterings[j][labeled]] = rows.weights[labeled]
        joined = graph @ (graph.T @ members)
        if rows.n_missing:
            observed = rows.observed.astype(np.float64)
            both = observed @ (observed.T @ members)
        else:
            both = np.broadcast_to(rows.n_partitions * members.sum(axis=0), joined.shape)
        for start, stop, j in zip(first[:-1], first[1:], group, strict=True):
            clusters = slice(start, stop)
            pairs = joined[:, clusters], both[:, clusters]
            means[:, j] = _means(clusterings[j], rows.weights, n_labels, *pairs)
    return dict(zip(AGREEMENTS, means, strict=True))


def _groups(clusterings: Sequence[NDArray[np.int64]]) -> list[list[int]]:
    """Divide clusterings into groups whose tables of rows by clusters are small."""
    groups: list[list[int]] = []
    size = _STACKED + 1
    for j, labels in enumerate(clusterings):
        extra = len(labels) * (int(labels.max()) + 1)
        if size + extra > _STACKED:
            groups.append([])
            size = 0
        groups[-1].append(j)
        size += extra
    return groups


def _means(
    labels: NDArray[np.int64],
    weights: NDArray[np.float64],
    n_labels: NDArray[np.int64],
    joined: NDArray[np.float64],
    both: NDArray[np.float64],
) -> list[float]:
    """Return the weighted means of `AGREEMENTS`, from the pairs with each cluster."""
    if labels.min(initial=0) < 0:
        labeled = np.flatnonzero(labels >= 0)
        joined, both, labels = joined[labeled], both[labeled], labels[labeled]
        weights, n_labels = weights[labeled], n_labels[labeled]
    own = np.arange(len(labels)), labels
    itself = n_labels * np.minimum(weights, 1.0)  # a sample is not compared with itself
    own_joined, own_both = joined[own] - itself, both[own] - itself
    has_pairs = own_both > 1e-9
    confidence = np.divide(own_joined, own_both, out=np.zeros_like(own_both), where=has_pairs)
    consensus = np.divide(joined, both, out=np.zeros(joined.shape), where=both > 1e-9)
    consensus[own] = 0.0
    runner_up = consensus.max(axis=1)
    margin = np.where(has_pairs, confidence - runner_up, 0.0)
    # the larger one of the distances to the own and to the next cluster
    distance = 1.0 - np.minimum(confidence, runner_up)
    silhouette = np.divide(margin, distance, out=np.zeros_like(margin), where=distance > 1e-9)
    return [float(np.average(v, weights=weights)) for v in (silhouette, margin, confidence)]
