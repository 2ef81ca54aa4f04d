"""`Content`: the results that a report presents."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.comparison import Comparison
from partita.diagnostics import ClusterProfiles, Diagnosis, cluster_profiles
from partita.ensemble import Ensemble
from partita.metrics import evaluate
from partita.reporting._values import shorten
from partita.select_k import KScan
from partita.structure import Hierarchy, hidden_groups

__all__ = ["Content"]


@dataclass(frozen=True, eq=False)
class Content:
    """The results that a report presents.

    Attributes
    ----------
    diagnosis : Diagnosis
        Diagnosis of the consensus, with its ensemble.
    method : fitted estimator, str or None
        The consensus method, or its name.
    comparison : Comparison or None
        Result of `compare`.
    scan : KScan or None
        Result of `scan_k`.
    y : array of shape (n_samples,) or None
        The true classes.
    features : array, sparse matrix, data frame or None
        Features or annotations of the samples.
    coordinates : array of shape (n_samples, 2) or None
        Places of the samples in a picture.
    hierarchy : Hierarchy or None
        Result of `hierarchical_consensus`.
    changed : array of int or None
        Samples that an update moved to another cluster; None without an update.
    """

    diagnosis: Diagnosis
    method: Any = None
    comparison: Comparison | None = None
    scan: KScan | None = None
    y: NDArray[Any] | None = None
    features: Any = None
    coordinates: Any = None
    hierarchy: Hierarchy | None = None
    changed: NDArray[np.int64] | None = None

    @property
    def ensemble(self) -> Ensemble:
        return self.diagnosis.partitions

    @property
    def method_name(self) -> str | None:
        if self.method is None or isinstance(self.method, str):
            return self.method
        return type(self.method).__name__

    @cached_property
    def clusters(self) -> list[str]:
        """Names of the clusters, shortened."""
        return [shorten(name) for name in self.diagnosis.cluster_names.tolist()]

    @cached_property
    def partitions(self) -> list[str]:
        """Names of the partitions, shortened."""
        return [shorten(name) for name in self.diagnosis.partition_names]

    @property
    def is_weighted(self) -> bool:
        return bool(np.any(self.ensemble.weights != 1.0))

    @cached_property
    def doubtful(self) -> NDArray[np.int64]:
        return self.diagnosis.doubtful_samples()

    @cached_property
    def profiles(self) -> ClusterProfiles | None:
        """Features that distinguish each cluster, by its number."""
        if self.features is None:
            return None
        return cluster_profiles(self.features, self.diagnosis.labels)

    @cached_property
    def hidden_groups(self) -> list[dict[str, Any]]:
        """Groups inside clusters that most partitions split off, by the number of the cluster."""
        return hidden_groups(self.ensemble, self.diagnosis.labels)

    @cached_property
    def scores(self) -> dict[str, float] | None:
        """Scores of the consensus against the true classes, over the samples with a label."""
        if self.y is None:
            return None
        has_label = self.diagnosis.labels >= 0
        scores = evaluate(self.y[has_label], self.diagnosis.labels[has_label])
        return {measure: float(scores[measure]) for measure in ("ARI", "NMI", "ACC")}
