"""What a report is about, read and diagnosed once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.comparison import Comparison
from partita.diagnostics import Diagnosis
from partita.ensemble import Ensemble
from partita.metrics import evaluate
from partita.select_k import KScan

__all__ = ["Case"]


@dataclass(frozen=True)
class Case:
    """An ensemble, a consensus of it, and what else is known.

    Attributes
    ----------
    ensemble : Ensemble
    diagnosis : Diagnosis
    clusters : list
        Names of the consensus clusters, in the order of the diagnosis.
    method : fitted estimator, str or None
    comparison, scan : results of `compare` and `scan_k`, or None
    y : array of shape (n_samples,) or None
        Known classes.
    """

    ensemble: Ensemble
    diagnosis: Diagnosis
    clusters: list[Any]
    method: Any = None
    comparison: Comparison | None = None
    scan: KScan | None = None
    y: NDArray[Any] | None = None

    @property
    def method_name(self) -> str | None:
        if self.method is None or isinstance(self.method, str):
            return self.method
        return type(self.method).__name__

    @cached_property
    def partitions(self) -> list[Any]:
        """Names of the partitions; numbers where they have none."""
        names = self.ensemble.partition_names
        return list(range(self.ensemble.n_partitions)) if names is None else names.tolist()

    @property
    def is_weighted(self) -> bool:
        return bool(np.any(self.ensemble.weights != 1.0))

    @cached_property
    def doubtful(self) -> NDArray[np.int64]:
        return self.diagnosis.outliers()

    @cached_property
    def mean_confidence(self) -> float:
        confidence = self.diagnosis.confidence
        known = np.isfinite(confidence)
        if not known.any():
            return float("nan")
        return float(np.average(confidence[known], weights=self.ensemble.weights[known]))

    @cached_property
    def scores(self) -> dict[str, float] | None:
        """The consensus against the known classes, over the samples that it labels."""
        if self.y is None:
            return None
        known = self.diagnosis.labels >= 0
        found = evaluate(self.y[known], self.diagnosis.labels[known])
        return {measure: float(found[measure]) for measure in ("ARI", "NMI", "ACC")}
