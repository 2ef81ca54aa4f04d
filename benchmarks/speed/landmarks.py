"""Seconds per partition of `LandmarkSpectral`, compared with one k-means of scikit-learn.

The reference is `KMeans(K_i, n_init=1)` with the same numbers of clusters and the same features, on
one thread. The target is at most three times its time, a ratio of a third. The data are groups that
overlap, 10,992 x 16, and the handwritten digits of the pendigits set of the same size if there is a
folder of data. k-means needs fewer iterations on the latter.

A scan needs partitions into many numbers of clusters, which share their graphs and are cut at
once. The reference is one fit per number.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from threadpoolctl import threadpool_limits

from benchmarks.data_folder import data_folder
from benchmarks.speed._measure import Record, in_turn
from partita.generators import LandmarkSpectral

N_SAMPLES, N_FEATURES, N_CLUSTERS, N_PARTITIONS = 10_992, 16, 10, 4
TARGET = 1 / 3
N_SCANNED, KS = 400, range(2, 11)


def run() -> list[Record]:
    """Measure seconds per partition, K_i uniform in 10..30, one job."""
    X = make_blobs(N_SAMPLES, N_FEATURES, centers=30, cluster_std=6.0, random_state=0)[0]
    records = [_record("overlapping groups", X), _many_numbers()]
    folder = data_folder()
    if folder is not None and (folder / "pendigits.npz").exists():
        with np.load(folder / "pendigits.npz") as arrays:
            records.append(_record("pendigits", arrays["X"].astype(np.float64)))
    return records


def _record(data: str, X: Any) -> Record:
    generator = LandmarkSpectral(N_PARTITIONS, n_clusters=N_CLUSTERS, n_jobs=1, random_state=0)
    ks = generator.fit(X).n_clusters_
    with threadpool_limits(1):
        ours, theirs = in_turn(
            lambda: generator.fit(X),
            lambda: [KMeans(int(k), n_init=1, random_state=0).fit(X) for k in ks],
            repeats=5,
        )
    return Record(
        name=f"one partition of LandmarkSpectral, {data}, {X.shape[0]} x {X.shape[1]}",
        seconds=ours / N_PARTITIONS,
        reference="KMeans(n_init=1), float64, 1 thread",
        reference_seconds=theirs / N_PARTITIONS,
        target=TARGET,
    )


def _many_numbers() -> Record:
    X = make_blobs(N_SCANNED, N_FEATURES, centers=30, cluster_std=6.0, random_state=0)[0]
    generator = LandmarkSpectral(N_PARTITIONS, n_jobs=1, random_state=0)

    def separate() -> None:
        for k in KS:
            clone(generator).set_params(k_min=k, k_max=k).fit(X)

    with threadpool_limits(1):
        ours, theirs = in_turn(lambda: generator.labels_for_each(X, KS), separate, repeats=5)
    return Record(
        name=f"{N_PARTITIONS} partitions of LandmarkSpectral for each K = 2..10, n = {N_SCANNED}",
        seconds=ours,
        reference="one fit per K",
        reference_seconds=theirs,
        target=2,
    )
