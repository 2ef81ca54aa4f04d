"""Tables and features with and without clusters, for `choosing_k`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_blobs, make_circles, make_moons

from partita.datasets import make_mixed_partitions, make_partitions

__all__ = [
    "NOISE_FEATURES",
    "NOISE_LABELS",
    "PLANTED",
    "SHAPES",
    "blobs",
    "many_blobs",
    "noise",
    "noise_features",
    "planted",
    "shapes",
]

PLANTED = ("K_i = K", "K_i varied", "mixed clusters", "missing labels")
NOISE_LABELS = (
    "equal sizes",
    "unequal sizes",
    "one large cluster",
    "two clusters",
    "many clusters",
    "half as many clusters as samples",
    "different K_i",
    "rare labels",
    "missing labels",
    "few partitions",
    "copies",
    "copies with errors",
    "1000 samples",
    "nine of ten labels missing",
)
NOISE_FEATURES = (
    "uniform",
    "ball",
    "normal",
    "lognormal",
    "gamma",
    "t, 3 degrees of freedom",
    "correlated",
    "elongated",
    "mixed scales",
    "sparse",
    "ring",
    "grades 1 to 5",
    "normal, 1000 samples",
    "uniform, 1000 samples",
)
SHAPES = ("moons", "circles", "spirals", "ring around a blob")

Labels = NDArray[np.int64]
Points = NDArray[np.float64]


def planted(kind: str, seed: int) -> tuple[Labels, int]:
    """Return partitions of 2 to 8 planted clusters, and their number."""
    rng = np.random.default_rng([PLANTED.index(kind), seed])
    k, n, m = (
        int(rng.integers(2, 9)),
        int(rng.choice([60, 120, 250])),
        int(rng.choice([10, 20, 40])),
    )
    share, balanced = float(rng.uniform(0.1, 0.5)), bool(rng.integers(2))
    if kind == "mixed clusters":
        pieces = int(rng.integers(1, 4))
        options: dict[str, Any] = {"n_pieces": pieces, "k_min": k, "k_max": 3 * k}
        return make_mixed_partitions(n, m, k, noise=share / 2, random_state=seed, **options)[0], k
    options = {"balanced": balanced, "random_state": seed}
    if kind == "K_i varied":
        options |= {"k_min": 2, "k_max": 2 * k + 2}
    if kind == "missing labels":
        options |= {"k_min": max(2, k - 2), "k_max": k + 3, "missing_ratio": 0.25}
    return make_partitions(n, m, k, noise=share if kind == "K_i = K" else 0.8 * share, **options)[
        0
    ], k


def noise(kind: str, seed: int) -> Labels:
    """Return random partitions; -1 is a missing label. Copies repeat five or ten of them."""
    rng = np.random.default_rng([NOISE_LABELS.index(kind), seed])
    n, m, k = (
        int(rng.choice([40, 120, 250])),
        int(rng.choice([10, 20, 40])),
        int(rng.integers(2, 9)),
    )
    if kind == "few partitions":
        m = int(rng.integers(4, 9))
    if kind == "1000 samples":
        n, m = 1000, 20
    shape = n, m
    if kind == "unequal sizes":
        return rng.choice(k, p=rng.dirichlet(np.full(k, 0.5)), size=shape)
    if kind == "two clusters":
        return rng.integers(0, 2, shape)
    if kind == "rare labels":
        return (rng.random(shape) < 0.08).astype(np.int64)
    if kind == "many clusters":
        return rng.integers(0, n // 6, shape)
    if kind == "half as many clusters as samples":
        return rng.integers(0, n // 2, shape)
    if kind == "different K_i":
        return rng.integers(0, rng.integers(2, 15, m), shape)
    labels = rng.integers(0, k, shape)
    if kind == "one large cluster":
        labels[rng.random(shape) < 0.8] = 0
    if kind in ("missing labels", "nine of ten labels missing"):
        ratio = rng.uniform(0.1, 0.6) if kind == "missing labels" else 0.9
        labels[rng.random(shape) < ratio] = -1
        is_label = labels >= 0
        labels = labels[np.ix_(is_label.any(axis=1), is_label.any(axis=0))]
    if kind.startswith("copies"):
        labels = np.hstack([labels[:, : m // 2]] * 2)
    if kind == "copies with errors":
        is_error = rng.random(labels.shape) < 0.05
        labels[is_error] = rng.integers(0, k, np.count_nonzero(is_error))
    return labels


def noise_features(kind: str, seed: int) -> Points:
    """Return 100 to 1000 points without clusters in 2 to 50 dimensions."""
    rng = np.random.default_rng([NOISE_FEATURES.index(kind), seed])
    n, d = int(rng.choice([100, 200, 500])), int(rng.choice([2, 3, 5, 10, 50]))
    if kind.endswith("1000 samples"):
        n = 1000
    if kind.startswith("uniform"):
        return rng.uniform(size=(n, d))
    if kind == "lognormal":
        return np.exp(rng.normal(size=(n, d)))
    if kind == "gamma":
        return rng.gamma(2.0, size=(n, d))
    if kind == "t, 3 degrees of freedom":
        return rng.standard_t(3, size=(n, d))
    if kind == "sparse":
        return rng.gamma(1.0, size=(n, max(d, 10))) * (rng.random((n, max(d, 10))) < 0.1)
    if kind == "ring":
        angle = rng.uniform(0, 2 * np.pi, n)
        return np.column_stack([np.cos(angle), np.sin(angle)]) + 0.05 * rng.normal(size=(n, 2))
    if kind == "grades 1 to 5":
        return rng.integers(1, 6, size=(n, max(d, 5))).astype(np.float64)
    points = rng.normal(size=(n, d))
    if kind == "ball":
        points *= rng.uniform(size=(n, 1)) ** (1 / d) / np.linalg.norm(
            points, axis=1, keepdims=True
        )
    if kind == "correlated":
        points = points @ rng.normal(size=(d, d))
    if kind == "elongated":
        points[:, 0] *= 10.0
    if kind == "mixed scales":
        points *= 10.0 ** rng.uniform(-2, 2, size=d)
    return points


def blobs(seed: int) -> tuple[Points, int]:
    """Return points of 2 to 6 round clusters at random places, and their number."""
    rng = np.random.default_rng([99, seed])
    k, d, n = (
        int(rng.integers(2, 7)),
        int(rng.choice([2, 3, 5, 10])),
        int(rng.choice([100, 200, 400])),
    )
    centers = rng.normal(size=(k, d)) * rng.uniform(3.0, 7.0) / np.sqrt(min(d, 4))
    points, _ = make_blobs(n, centers=centers, cluster_std=1.0, random_state=seed)
    return points, k


def many_blobs(seed: int) -> tuple[Points, int]:
    """Return points of 11 to 25 round clusters at random places, and their number."""
    rng = np.random.default_rng([98, seed])
    k, d, size = (
        int(rng.integers(11, 26)),
        int(rng.choice([2, 3, 5, 10])),
        int(rng.integers(20, 51)),
    )
    points, _ = make_blobs(
        k * size, d, centers=k, cluster_std=rng.uniform(0.3, 1.0), random_state=seed
    )
    return points, k


def shapes(kind: str, seed: int) -> tuple[Points, int]:
    """Return points of two or three clusters that are not round, and their number."""
    rng = np.random.default_rng([SHAPES.index(kind), seed])
    n, width = int(rng.choice([200, 300, 400])), float(rng.uniform(0.03, 0.08))
    if kind == "moons":
        return make_moons(n, noise=width, random_state=seed)[0], 2
    if kind == "circles":
        factor = float(rng.uniform(0.3, 0.6))
        return make_circles(n, noise=width, factor=factor, random_state=seed)[0], 2
    k = int(rng.integers(2, 4))
    if kind == "spirals":
        turn = rng.uniform(0.5, 3.0, n)
        angle = 2.0 * turn + 2 * np.pi * rng.integers(0, k, n) / k
        points = turn[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
        return points + width * rng.normal(size=(n, 2)), k
    angle = rng.uniform(0, 2 * np.pi, n)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    is_ring = rng.random(n) < 0.6
    points = np.where(is_ring[:, None], ring, 0.0)
    return points + rng.normal(size=(n, 2)) * np.where(is_ring, width, 0.15)[:, None], 2
