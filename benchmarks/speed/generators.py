"""Seconds per base partition: the k-means of a generator compared with that of scikit-learn.

The reference is `KMeans(K_i, n_init=1)` in double precision with its default initialization, with
the same numbers of clusters and the same features, on one thread: on a busy machine the threads of
the default wait for each other, and the ratio would describe the machine. The note compares the
inertia, to show that the partitions are not worse.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from threadpoolctl import threadpool_limits

from benchmarks.speed._measure import Record
from partita.generators import RandomK

N_SAMPLES, N_FEATURES, N_PARTITIONS = 10_000, 50, 20
TARGETS = {1: 1.5, 2: 2.5}  # by number of jobs


def run() -> list[Record]:
    """Measure seconds per partition, n = 10000, d = 50, K_i uniform in 2..100, one job and two."""
    noise = np.random.default_rng(0).standard_normal((N_SAMPLES, N_FEATURES))
    blobs = make_blobs(N_SAMPLES, N_FEATURES, centers=20, cluster_std=6.0, random_state=0)[0]
    return _records("overlapping groups", blobs) + _records("noise", noise)


def _records(data: str, X: NDArray[np.float64]) -> list[Record]:
    seconds = {}
    for jobs in (1, 2):
        generator = RandomK(N_PARTITIONS, n_jobs=jobs, random_state=0)
        _, seconds[jobs] = _timed(lambda generator=generator: generator.fit(X))
    with threadpool_limits(1):
        theirs, reference_seconds = _timed(
            lambda: [KMeans(int(k), n_init=1, random_state=0).fit(X) for k in generator.n_clusters_]
        )
    inertia = np.mean(_inertia(X, generator.labels_) / [fitted.inertia_ for fitted in theirs])
    return [
        Record(
            name=f"one partition of RandomK, {data}, n_jobs={jobs}",
            seconds=seconds[jobs] / N_PARTITIONS,
            reference="KMeans(n_init=1), float64, 1 thread",
            reference_seconds=reference_seconds / N_PARTITIONS,
            target=TARGETS[jobs],
            note=f"inertia x {inertia:.4f}",
        )
        for jobs in (1, 2)
    ]


def _timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result and the seconds of the faster of two runs."""
    best = float("inf")
    for _ in range(2):
        start = time.perf_counter()
        result = call()
        best = min(best, time.perf_counter() - start)
    return result, best


def _inertia(X: NDArray[np.float64], labels: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the sum of squared distances to the cluster means, one per partition."""
    inertia = []
    for column in labels.T:
        sums = np.zeros((column.max() + 1, X.shape[1]))
        np.add.at(sums, column, X)
        sizes = np.maximum(np.bincount(column), 1)
        inertia.append(np.square(X).sum() - (np.square(sums).sum(axis=1) / sizes).sum())
    return np.asarray(inertia)


def main() -> None:
    for record in run():
        print(
            f"{record.name}: {1000 * record.seconds:.1f} ms; {record.reference}: "
            f"{1000 * record.reference_seconds:.1f} ms; ratio {record.ratio:.1f}; {record.note}"
        )


if __name__ == "__main__":
    main()
