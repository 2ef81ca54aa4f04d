"""Seconds per base partition: the k-means of a generator compared with that of scikit-learn.

The reference is `KMeans(K_i, n_init=1)` in double precision with its default initialization, with
the same numbers of clusters and the same features, on one thread: on a busy machine the threads of
the default wait for each other, and the ratio would describe the machine. The note compares the
inertia, to show that the partitions are not worse. At n = 100000 `MiniBatchKMeans(K_i, n_init=1)`
is a second reference. A few partitions are measured; the note has the time of 100, their product.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.datasets import make_blobs
from threadpoolctl import threadpool_limits

from benchmarks.speed._measure import Record
from partita.generators import RandomK

N_SAMPLES, N_FEATURES, N_PARTITIONS = 10_000, 50, 20
TARGETS = {1: 1.5, 2: 2.5}  # by number of jobs
MANY_SAMPLES, FEW_PARTITIONS = 100_000, 4
TARGETS_MANY = {KMeans: {1: 8.0, 2: 12.0}, MiniBatchKMeans: {1: 0.7, 2: 1.2}}


def run() -> list[Record]:
    """Measure seconds per partition, d = 50, K_i uniform in 2..floor(sqrt(n)), one job and two."""
    noise = np.random.default_rng(0).standard_normal((N_SAMPLES, N_FEATURES))
    return (
        _records("overlapping groups", _overlapping_groups(N_SAMPLES))
        + _records("noise", noise)
        + _records_of_many_samples(_overlapping_groups(MANY_SAMPLES))
    )


def _overlapping_groups(n_samples: int) -> NDArray[np.float64]:
    X: NDArray[np.float64] = make_blobs(
        n_samples, N_FEATURES, centers=20, cluster_std=6.0, random_state=0
    )[0]
    return X


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


def _records_of_many_samples(X: NDArray[np.float64]) -> list[Record]:
    seconds = {}
    for jobs in (1, 2):
        generator = RandomK(FEW_PARTITIONS, n_jobs=jobs, random_state=0)
        _, seconds[jobs] = _timed(lambda generator=generator: generator.fit(X))
    ours = _inertia(X, generator.labels_)
    records = []
    for reference, targets in TARGETS_MANY.items():
        with threadpool_limits(1):
            start = time.perf_counter()
            theirs = [reference(int(k), n_init=1, random_state=0) for k in generator.n_clusters_]
            labels = np.stack([model.fit_predict(X) for model in theirs], axis=1)
            reference_seconds = time.perf_counter() - start
        inertia = np.mean(ours / _inertia(X, labels))
        for jobs in (1, 2):
            each, each_reference = (
                total / FEW_PARTITIONS for total in (seconds[jobs], reference_seconds)
            )
            records.append(
                Record(
                    name=f"one partition of RandomK, n = {MANY_SAMPLES}, n_jobs={jobs}, "
                    f"beside {reference.__name__}",
                    seconds=each,
                    reference=f"{reference.__name__}(n_init=1), float64, 1 thread",
                    reference_seconds=each_reference,
                    target=targets[jobs],
                    note=f"inertia x {inertia:.4f}; 100 partitions {100 * each:.0f} s, "
                    f"100 calls {100 * each_reference:.0f} s",
                )
            )
    return records


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
