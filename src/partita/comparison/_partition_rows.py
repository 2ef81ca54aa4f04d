"""The base partitions as rows of a comparison."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.comparison._result import MEASURES
from partita.ensemble import Ensemble
from partita.metrics import adjusted_rand, evaluate, pairwise_agreement

__all__ = ["partition_records"]


def partition_records(
    samples: Ensemble, results: Iterable[NDArray[np.int64]], y: NDArray[Any] | None
) -> list[dict[str, Any]]:
    """Return two records: the mean and the largest value of every measure over the partitions.

    `samples` has one row per sample. A partition is scored on the samples that it labels.
    """
    columns = [
        (codes[observed].astype(np.int64), observed)
        for codes, observed in zip(samples.codes.T, samples.observed.T, strict=True)
    ]
    results = list(results)
    values: dict[str, list[float]] = {
        "anmi": _mean_nmi_with_others(samples),
        "agreement": [
            float(np.mean([adjusted_rand(labels[observed], codes) for labels in results]))
            for codes, observed in columns
            if results
        ],
    }
    if y is not None:
        scores = [evaluate(y[observed], codes) for codes, observed in columns]
        values |= {measure: [score[measure] for score in scores] for measure in MEASURES}
    return [
        {
            "method": f"partitions ({word})",
            "name": name,
            **dict.fromkeys(("n_clusters", "seconds", "peak_bytes", "bytes_needed")),
            **{measure: float(reduce(v)) if v else None for measure, v in values.items()},
            **dict.fromkeys(("warnings", "failure")),
        }
        for word, name, reduce in (
            ("mean", "Mean over the base partitions", np.mean),
            ("best", "Best base partition, by each measure", np.max),
        )
    ]


def _mean_nmi_with_others(samples: Ensemble) -> list[float]:
    """Return each partition's mean NMI with the others, weighted by what these label."""
    if samples.n_partitions == 1:
        return []
    labeled = np.empty(samples.n_partitions)
    labeled[samples.partition_order] = samples.weights @ samples.observed
    pairwise = pairwise_agreement(samples)
    means: list[float] = ((pairwise @ labeled - labeled) / (labeled.sum() - labeled)).tolist()
    return means
