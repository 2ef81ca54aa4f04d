"""`Diagnosis`: the result of `diagnose`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._data_frames import frame_of_records, html_of_records
from partita._pictures import draw_bars
from partita.diagnostics._records import (
    records_of_clusters,
    records_of_partitions,
    records_of_samples,
    records_of_views,
)
from partita.diagnostics._values import by_partition, soft_membership
from partita.ensemble import Ensemble
from partita.metrics import element_centric_consistency
from partita.structure import Modes, modes

__all__ = ["Diagnosis"]

_EQUAL_ANMI = 0.01  # a lead of a partition that is no reason to prefer it
_EQUAL_MARGIN = 1e-12  # a difference of two item consensuses that is rounding


@dataclass(frozen=True, repr=False, eq=False)
class Diagnosis:
    """Agreement of an ensemble with a consensus. Made by `diagnose`.

    Attributes
    ----------
    partitions : Ensemble
        The base partitions, one row per sample.
    labels : array of shape (n_samples,)
        Cluster of each sample, 0..K-1, or -1 for a sample without a label.
    cluster_names : array of shape (n_clusters,)
        The label that each cluster has in the labels that were diagnosed.
    item_consensus : array of shape (n_samples, n_clusters)
        Mean co-association of a sample with the other samples of each cluster. NaN where no
        partition labels the sample together with any of them.
    confidence : array of shape (n_samples,)
        Item consensus of a sample with its own cluster. NaN for a cluster of one sample.
    runner_up : array of shape (n_samples,)
        The other cluster with the largest item consensus, -1 if there is none.
    margin : array of shape (n_samples,)
        Confidence minus the item consensus with the runner-up. Below 0, the partitions put the
        sample closer to the runner-up than to its own cluster.
    sizes : array of shape (n_clusters,)
        Sum of the sample weights in each cluster.
    cluster_consensus : array of shape (n_clusters, n_clusters)
        Mean co-association within (diagonal) and between clusters.
    stability : array of shape (n_clusters,)
        Jaccard index of the cluster with the most similar cluster of each partition, averaged over
        the partitions.
    agreement : array of shape (n_partitions,)
        NMI of each partition with the consensus.
    adjusted_rand : array of shape (n_partitions,)
        Adjusted Rand index of each partition with the consensus.
    redundancy : array of shape (n_partitions,)
        Number of a group of equal partitions (NMI at least 0.999). A partition that equals no
        other has a group of its own.
    bad_partitions : array of shape (n_partitions,), bool
        Partitions that neither refine the consensus nor are refined by it, and do so far less than
        the others: the adjusted Wallace coefficient of the finer one in the coarser one has a
        robust z-score below -3.5 and is below half of the median. Partitions with one cluster only
        are bad too.
        Partitions that are only coarse or fine are not.
    leave_out : array of shape (n_partitions,)
        Change of the mean confidence if the partition is left out. Above 0, the partition
        contradicts the others, or has more clusters than they have.
    pairwise : array of shape (n_partitions, n_partitions)
        NMI between partitions.
    anmi : float
        Average NMI of the consensus with the partitions.
    best_partition : int or None
        Of the partitions with about as many clusters as the consensus (at most 10 % more or
        fewer), the one with the largest average NMI with the other partitions. NMI grows with the
        number of clusters, so that others cannot be compared. None if there is none.
    best_partition_anmi : float
        That average; NaN if there is no such partition.
    """

    partitions: Ensemble
    labels: NDArray[np.int64]
    cluster_names: NDArray[Any]
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
    bad_partitions: NDArray[np.bool_]
    leave_out: NDArray[np.float64]
    pairwise: NDArray[np.float64]
    anmi: float
    best_partition: int | None
    best_partition_anmi: float
    _majority: NDArray[np.int64]  # per base cluster, the consensus cluster with most of its weight

    @property
    def n_clusters(self) -> int:
        """Number of clusters of the consensus."""
        return len(self.sizes)

    @property
    def partition_names(self) -> list[Any]:
        """Names of the partitions; 0, 1, ... if they have none."""
        names = self.partitions.partition_names
        if names is None:
            return list(range(self.partitions.n_partitions))
        return list(by_partition(self.partitions, names))

    @property
    def best_partition_name(self) -> Any:
        """Name of `best_partition`; None if there is none."""
        return None if self.best_partition is None else self.partition_names[self.best_partition]

    @property
    def cohesion(self) -> NDArray[np.float64]:
        """Mean co-association inside each cluster; NaN for a cluster of one sample."""
        return np.diag(self.cluster_consensus)

    @cached_property
    def separation(self) -> NDArray[np.float64]:
        """1 minus the mean co-association with the nearest other cluster."""
        return 1.0 - self._of_others.max(axis=1) if self.n_clusters > 1 else np.ones(1)

    @cached_property
    def nearest_clusters(self) -> NDArray[np.int64]:
        """The other cluster with the largest mean co-association; -1 if there is none."""
        others = np.where(np.isnan(self._of_others), -np.inf, self._of_others)
        nearest = np.argmax(others, axis=1)
        return np.where(others.max(axis=1) > -np.inf, nearest, -1)

    @property
    def _of_others(self) -> NDArray[np.float64]:
        """Mean co-association between clusters, with -inf on the diagonal."""
        others = self.cluster_consensus.copy()
        np.fill_diagonal(others, -np.inf)
        return others

    @cached_property
    def mean_confidences(self) -> NDArray[np.float64]:
        """Mean confidence of each cluster by sample weight; NaN for a cluster of one sample."""
        rows = np.flatnonzero((self.labels >= 0) & np.isfinite(self.confidence))
        clusters, weights = self.labels[rows], self.partitions.weights[rows]
        sums = np.bincount(clusters, weights * self.confidence[rows], self.n_clusters)
        totals = np.bincount(clusters, weights, self.n_clusters)
        return np.divide(sums, totals, out=np.full(len(sums), np.nan), where=totals > 0)

    @property
    def harmless(self) -> bool:
        """Whether `best_partition` leads by an average NMI of at most 0.01, or does not exist."""
        return self.best_partition is None or self.anmi >= self.best_partition_anmi - _EQUAL_ANMI

    @cached_property
    def mean_confidence(self) -> float:
        """Mean confidence by sample weight; NaN if no sample has a confidence."""
        return self._weighted_mean(self.confidence)

    @cached_property
    def element_consistency(self) -> NDArray[np.float64]:
        """Element-centric consistency of each sample over the partitions, shape (n_samples,).

        Computed when it is first read: O(n' m²) for n' distinct rows. See
        `partita.metrics.element_centric_consistency`.
        """
        return element_centric_consistency(self.partitions)

    @cached_property
    def mean_element_consistency(self) -> float:
        """Mean element-centric consistency by sample weight; NaN if no sample has one."""
        return self._weighted_mean(self.element_consistency)

    @cached_property
    def modes(self) -> Modes:
        """Groups of partitions that disagree, or one mode. See `partita.structure.modes`.

        Computed when it is first read, with a fixed seed and the number of clusters of the
        consensus, but not more than the finest partition has.
        """
        finest = int(self.partitions.n_clusters.max())
        n_clusters = min(max(min(self.n_clusters, finest), 2), self.partitions.n_samples)
        return modes(self.partitions, n_clusters, random_state=0)

    @cached_property
    def membership(self) -> NDArray[np.float64]:
        """Soft membership, shape (n_samples, n_clusters): item consensus scaled to sum 1."""
        return soft_membership(self.item_consensus, self.labels)

    def _weighted_mean(self, values: NDArray[np.float64]) -> float:
        finite = np.isfinite(values)
        if not finite.any():
            return float("nan")
        return float(np.average(values[finite], weights=self.partitions.weights[finite]))

    def doubtful_samples(self, threshold: float = 0.0) -> NDArray[np.int64]:
        """Return the samples that the partitions put closer to another cluster, by their margin.

        The margin is used and not the confidence, because a low confidence may only mean that the
        partitions have more clusters than the consensus.

        Parameters
        ----------
        threshold : float, default=0.0
            A sample with a margin up to this value is doubtful.
        """
        doubtful = np.flatnonzero(self.margin <= threshold + _EQUAL_MARGIN)
        return doubtful[np.argsort(self.margin[doubtful], kind="stable")]

    def disagreeing_partitions(self, sample: int) -> NDArray[np.int64]:
        """Return the partitions that put a sample together with another cluster's samples.

        In such a partition, most samples of the sample's base cluster belong to another cluster of
        the consensus.
        """
        e = self.partitions
        columns = np.flatnonzero(e.observed[sample])
        majority = self._majority[e.offsets[columns] + e.codes[sample, columns]]
        return np.sort(e.partition_order[columns[majority != self.labels[sample]]])

    def cluster_records(self) -> list[dict[str, Any]]:
        """Return one dictionary per cluster.

        `confidence` is the mean confidence of its samples, `nearest` the other cluster with the
        largest mean co-association, None if there is none.
        """
        return records_of_clusters(self)

    def partition_records(self) -> list[dict[str, Any]]:
        """Return one dictionary per partition, in the order of the user's table.

        `labeled` is the share of samples that the partition labels, `n_equal` the number of
        partitions in its group of equal partitions, itself included.
        """
        return records_of_partitions(self)

    def view_records(self, views: Sequence[str] | None = None) -> list[dict[str, Any]]:
        """Return one dictionary per view that the partitions come from, in order of appearance.

        `labeled` is the share of samples that the view has, `agreement` and `adjusted_rand` are the
        mean NMI and ARI of its partitions with the consensus, `within` the mean NMI between its
        partitions, `between` that with the partitions of other views. A view `disagrees` if its
        `adjusted_rand` is less than half of the largest of a view.

        Parameters
        ----------
        views : sequence of str of length n_partitions, optional
            View of each partition. By default the names of the partitions tell: "pixel/1",
            "pixel/2", "shape/1". The list is empty if they name fewer than two views.
        """
        return records_of_views(self, views)

    def to_dict(self) -> dict[str, Any]:
        """Return the scores of the consensus, clusters, partitions and views, without arrays."""
        return {
            "n_samples": len(self.labels),
            "n_partitions": len(self.agreement),
            "n_clusters": self.n_clusters,
            "mean_confidence": self.mean_confidence,
            "mean_element_consistency": self.mean_element_consistency,
            "n_doubtful": len(self.doubtful_samples()),
            "n_modes": self.modes.n_modes,
            "anmi": self.anmi,
            "best_partition": self.best_partition_name,
            "best_partition_anmi": self.best_partition_anmi,
            "harmless": self.harmless,
            "clusters": self.cluster_records(),
            "partitions": self.partition_records(),
            "views": self.view_records(),
        }

    def to_frame(self) -> Any:
        """Return one row per sample as a data frame: cluster, confidence, margin and runner-up.

        Of the first of pandas, polars and pyarrow that is installed; if none is, a list of
        dictionaries.
        """
        return frame_of_records(records_of_samples(self))

    def _repr_html_(self) -> str:
        return self.to_html(repr(self).replace("\n", " · "))

    def to_html(self, caption: str = "") -> str:
        """Return the table of clusters and the confidence of the samples as HTML.

        Parameters
        ----------
        caption : str, default=""
            Text above the table.
        """
        rows = np.flatnonzero(self.labels >= 0)
        rows = rows[np.lexsort((-self.confidence[rows], self.labels[rows]))]
        title = "confidence of the samples, by cluster"
        picture = draw_bars(self.confidence[rows], title, self.labels[rows])
        return html_of_records(self.cluster_records(), caption=caption, picture=picture)

    def __repr__(self) -> str:
        if self.best_partition is None:
            comparison = "no partition has about as many clusters"
        else:
            verdict = "at least as good as" if self.harmless else "worse than"
            name, score = self.best_partition_name, self.best_partition_anmi
            comparison = (
                f"{verdict} the best partition with about as many clusters, {name} ({score:.3f})"
            )
        return "\n".join(
            [
                f"Diagnosis of {len(self.labels)} samples in {self.n_clusters} clusters from "
                f"{len(self.agreement)} partitions",
                f"  confidence: mean {self.mean_confidence:.3f}, "
                f"{len(self.doubtful_samples())} samples doubtful",
                f"  clusters: cohesion {_range(self.cohesion)}, stability {_range(self.stability)}",
                f"  partitions: agreement {_range(self.agreement)}, "
                f"{int(self.bad_partitions.sum())} bad",
                f"  consensus: ANMI {self.anmi:.3f} with the partitions, {comparison}",
            ]
        )


def _range(values: NDArray[np.float64]) -> str:
    finite = values[np.isfinite(values)]
    return f"{finite.min():.3f} to {finite.max():.3f}" if len(finite) else "undefined"
