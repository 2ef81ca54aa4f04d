"""EAC with average linkage compared with BLAS co-association and SciPy's linkage."""

from __future__ import annotations

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from benchmarks.speed._measure import Record, peak_mb, seconds
from partita import EAC
from partita.datasets import make_partitions

N, M, K = 10_000, 100, 50


def reference(labels: np.ndarray) -> np.ndarray:
    onehot = np.zeros((len(labels), M * K), np.float32)
    onehot[np.arange(len(labels))[:, None], labels + K * np.arange(M)] = 1
    distances = 1.0 - (onehot @ onehot.T) / M
    np.fill_diagonal(distances, 0.0)
    condensed = squareform(distances, checks=False)
    return fcluster(linkage(condensed, "average"), 10, "maxclust")


def run() -> list[Record]:
    labels = make_partitions(N, M, K, noise=0.5)[0]
    small = labels[:200]
    ours = lambda: EAC(10).fit(labels)  # noqa: E731
    return [
        Record(
            f"EAC average, n = {N}, m = {M}",
            seconds(ours, 2),
            "BLAS co-association + SciPy linkage",
            seconds(lambda: reference(labels), 1),
            5,
            peak_mb(ours, lambda: EAC(10).fit(small)),
            peak_mb(lambda: reference(labels), lambda: reference(small)),
            note="target: half the memory of the reference",
        )
    ]
