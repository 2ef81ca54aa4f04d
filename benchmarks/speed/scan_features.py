"""Scans of features compared with the loops over scikit-learn's KMeans that users write instead.

The loops choose a number by one criterion, and always return one (the gap statistic may return 1).
They have no resamples. `EnsembleClustering()` also clusters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import silhouette_score

from benchmarks.speed._measure import Record, in_turn
from partita import EnsembleClustering, scan_k_features

KS = range(2, 11)
MANY_KS = range(2, 31)  # that `EnsembleClustering()` tries where there may be more than 10
N_INIT, N_REFERENCES = 10, 10
BY_SILHOUETTE = f"silhouette of KMeans(n_init={N_INIT})"
TARGET_OF_GAP, TARGET = (
    1 / 2,
    1 / 40,
)  # what the scans reached when these rows were added, with room

Points = NDArray[np.float64]


def by_silhouette(X: Points, ks: range) -> int:
    """Return the number with the largest mean silhouette."""
    widths = [silhouette_score(X, kmeans(X, k).labels_) for k in ks]
    return ks[int(np.argmax(widths))]


def by_gap_statistic(X: Points) -> int:
    """Return the number of the gap statistic, with ten sets that are uniform in the box of X.

    The smallest number, from 1 on, whose gap is at least the next gap minus its standard error.
    """
    ks = range(1, KS[-1] + 2)
    rng = np.random.default_rng(0)
    low, high = X.min(axis=0), X.max(axis=0)
    logs = [
        [np.log(kmeans(points, k).inertia_) for k in ks]
        for points in (X, *(rng.uniform(low, high, X.shape) for _ in range(N_REFERENCES)))
    ]
    gaps = np.mean(logs[1:], axis=0) - logs[0]
    errors = np.std(logs[1:], axis=0) * np.sqrt(1 + 1 / N_REFERENCES)
    return ks[int(np.argmax(np.append(gaps[:-1] >= gaps[1:] - errors[1:], True)))]


def kmeans(X: Points, k: int) -> KMeans:
    return KMeans(k, n_init=N_INIT, random_state=0).fit(X)


def many_blobs(n: int) -> Points:
    """Return n points of 15 round clusters at random places."""
    rng = np.random.default_rng(1)
    centers = rng.uniform(-30, 30, (15, 2))
    return centers[np.arange(n) % 15] + rng.normal(size=(n, 2))


def run() -> list[Record]:
    X = make_blobs(400, 8, centers=4, cluster_std=2.0, random_state=0)[0]
    scan: Callable[[], Any] = lambda: scan_k_features(X, KS, random_state=0)  # noqa: E731
    ours, gap, widths = in_turn(
        scan, lambda: by_gap_statistic(X), lambda: by_silhouette(X, KS), repeats=2
    )
    name = "scan_k_features, 400 x 8, K = 2..10, all criteria and nulls"
    records = [
        Record(
            f"{name}, against the gap statistic",
            ours,
            f"gap statistic of KMeans(n_init={N_INIT}), 10 reference sets, K = 1..11",
            gap,
            TARGET_OF_GAP,
            note="one criterion with a null, without resamples",
        ),
        Record(
            f"{name}, against silhouettes",
            ours,
            f"{BY_SILHOUETTE}, K = 2..10",
            widths,
            TARGET,
            note="one criterion, without a null and resamples",
        ),
    ]
    sets = {
        "two moons": (make_moons(400, noise=0.06, random_state=0)[0], KS),
        "five blobs": (make_blobs(400, 2, centers=5, random_state=0)[0], KS),
        "15 blobs": (many_blobs(300), MANY_KS),
        "15 large blobs": (many_blobs(1500), MANY_KS),
    }
    for kind, (points, ks) in sets.items():
        seconds, reference = in_turn(
            lambda X=points: EnsembleClustering(random_state=0).fit(X),
            lambda X=points, ks=ks: by_silhouette(X, ks),
            repeats=1 if len(points) > 400 else 2,
        )
        records.append(
            Record(
                f"EnsembleClustering() on {kind}, {len(points)} x 2",
                seconds,
                f"{BY_SILHOUETTE}, K = {ks[0]}..{ks[-1]}",
                reference,
                TARGET,
                note="the loop cannot say that there is no structure, and finds no moons",
            )
        )
    return records
