"""`Diagnosis`: the result of `diagnose`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._data_frames import frame_of_records, html_of_records
from partita.diagnostics._views import score_views
from partita.ensemble import Ensemble
from partita.ensemble.view_names import views_of_partitions
from partita.metrics import element_centric_consistency
from partita.structure import Modes, modes

__all__ = ["Diagnosis", "by_partition", "soft_membership"]

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
        if self.n_clusters == 1:
            return np.ones(1)
        others = self.cluster_consensus.copy()
        np.fill_diagonal(others, -np.inf)
        return 1.0 - others.max(axis=1)

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

        Computed when it is first read, with the number of clusters of the consensus and a fixed
        seed.
        """
        n_clusters = min(max(self.n_clusters, 2), self.partitions.n_samples)
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
        """Return one dictionary per cluster."""
        doubtful = np.bincount(self.labels[self.doubtful_samples()], minlength=self.n_clusters)
        shares = self.sizes / self.sizes.sum()
        columns = zip(
            self.cluster_names.tolist(), self.sizes.tolist(), shares.tolist(),
            self.cohesion.tolist(), self.separation.tolist(), self.stability.tolist(),
            doubtful.tolist(), strict=True,
        )  # fmt: skip
        names = "cluster", "size", "share", "cohesion", "separation", "stability", "n_doubtful"
        return [dict(zip(names, row, strict=True)) for row in columns]

    def partition_records(self) -> list[dict[str, Any]]:
        """Return one dictionary per partition, in the order of the user's table.

        `labeled` is the share of samples that the partition labels, `n_equal` the number of
        partitions in its group of equal partitions, itself included.
        """
        e = self.partitions
        n_equal = np.bincount(self.redundancy)[self.redundancy]
        columns = zip(
            self.partition_names, by_partition(e, e.n_clusters).tolist(),
            by_partition(e, e.observed.mean(axis=0)).tolist(), self.agreement.tolist(),
            self.adjusted_rand.tolist(), self.leave_out.tolist(), self.bad_partitions.tolist(),
            n_equal.tolist(), strict=True,
        )  # fmt: skip
        names = (
            "partition", "n_clusters", "labeled", "agreement", "adjusted_rand", "leave_out", "bad",
            "n_equal",
        )  # fmt: skip
        return [dict(zip(names, row, strict=True)) for row in columns]

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
        names = views_of_partitions(self.partition_names) if views is None else list(views)
        if names is None:
            return []
        e = self.partitions
        if len(names) != e.n_partitions:
            raise ValueError(
                f"views must name the view of each of {e.n_partitions} partitions, got "
                f"{len(names)} names."
            )
        observed = e.observed[:, np.argsort(e.partition_order)]
        return score_views(names, observed, self.agreement, self.adjusted_rand, self.pairwise)

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
        return frame_of_records(self._sample_records())

    def _sample_records(self) -> list[dict[str, Any]]:
        e, names = self.partitions, [*self.cluster_names.tolist(), None]
        samples = range(len(self.labels)) if e.sample_ids is None else e.sample_ids.tolist()
        columns = zip(
            samples, self.labels.tolist(), self.confidence.tolist(), self.margin.tolist(),
            self.runner_up.tolist(), strict=True,
        )  # fmt: skip
        return [
            {
                "sample": sample,
                "cluster": names[label],
                "confidence": confidence,
                "margin": margin,
                "runner_up": names[runner_up],
            }
            for sample, label, confidence, margin, runner_up in columns
        ]

    def _repr_html_(self) -> str:
        return html_of_records(self.cluster_records(), caption=repr(self).replace("\n", " · "))

    def __repr__(self) -> str:
        if self.best_partition is None:
            comparison = "no partition has a like number of clusters"
        else:
            verdict = "no harm done" if self.harmless else "it agrees better with the others"
            name, score = self.best_partition_name, self.best_partition_anmi
            comparison = f"partition {name} of like K {score:.3f}: {verdict}"
        return "\n".join(
            [
                f"Diagnosis of {len(self.labels)} samples in {self.n_clusters} clusters from "
                f"{len(self.agreement)} partitions",
                f"  confidence: mean {self.mean_confidence:.3f}, "
                f"{len(self.doubtful_samples())} samples doubtful",
                f"  clusters: cohesion {_range(self.cohesion)}, stability {_range(self.stability)}",
                f"  partitions: agreement {_range(self.agreement)}, "
                f"{int(self.bad_partitions.sum())} bad",
                f"  consensus ANMI {self.anmi:.3f}, {comparison}",
            ]
        )


def soft_membership(
    item_consensus: NDArray[np.float64], labels: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Scale the item consensus of each sample to sum 1.

    A sample that no partition compares with its cluster, such as a cluster of one sample, has the
    co-association with itself there, which is 1. A sample without a label has a row of zeros if no
    partition compares it with any cluster.
    """
    share = np.nan_to_num(item_consensus)
    rows = np.flatnonzero(labels >= 0)
    alone = rows[np.isnan(item_consensus[rows, labels[rows]])]
    share[alone, labels[alone]] = 1.0
    # all co-associations are 0: nothing speaks against the label
    lost = rows[share[rows].sum(axis=1) == 0]
    share[lost, labels[lost]] = 1.0
    total = share.sum(axis=1, keepdims=True)
    return np.divide(share, total, out=np.zeros_like(share), where=total > 0)


def by_partition(ensemble: Ensemble, values: Any) -> NDArray[Any]:
    """Arrange one value per column as one per partition, in the user's order."""
    values = np.asarray(values)
    ordered = np.empty_like(values)
    ordered[ensemble.partition_order] = values
    return ordered


def _range(values: NDArray[np.float64]) -> str:
    finite = values[np.isfinite(values)]
    return f"{finite.min():.3f} to {finite.max():.3f}" if len(finite) else "undefined"
