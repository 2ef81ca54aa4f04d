"""Ensembles whose answer is known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["contested_ensemble", "noisy_ensemble", "renamed"]


def noisy_ensemble(
    n_samples: int = 60,
    n_partitions: int = 12,
    n_clusters: int = 3,
    *,
    noise: float = 0.1,
    missing: float = 0.0,
    balanced: bool = False,
    seed: int = 0,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A planted partition and noisy copies of it.

    Parameters
    ----------
    n_samples, n_partitions, n_clusters : int
    noise : float
        Share of labels replaced by a random one.
    missing : float
        Share of labels replaced by -1; every sample keeps at least one.
    balanced : bool
        Planted clusters of equal size; otherwise as 1 : 2 : 3 ...
    seed : int

    Returns
    -------
    truth : array of shape (n_samples,)
        Clusters in one piece after the other.
    labels : array of shape (n_samples, n_partitions)
    """
    rng = np.random.default_rng(seed)
    size = np.ones(n_clusters) if balanced else np.arange(1, n_clusters + 1)
    share = size / size.sum()
    truth = np.searchsorted(np.cumsum(share), (np.arange(n_samples) + 0.5) / n_samples)
    labels = np.tile(truth[:, None], n_partitions)
    flipped = rng.random(labels.shape) < noise
    labels[flipped] = rng.integers(n_clusters, size=int(flipped.sum()))
    gone = rng.random(labels.shape) < missing
    gone[np.arange(n_samples), rng.integers(n_partitions, size=n_samples)] = False
    labels[gone] = -1
    return truth, labels


def renamed(labels: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """The same partitions under other names; -1 keeps its meaning."""
    other = labels.copy()
    for i in range(labels.shape[1]):
        names = rng.permutation(labels[:, i].max() + 1) * 3 + 5
        known = labels[:, i] >= 0
        other[known, i] = names[labels[known, i]]
    return other


def contested_ensemble() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Three groups of rows, the middle one torn between the others, and weights that decide.

    A third of the partitions joins some rows of the middle group to the left, the others to the
    right: few heavy rows to the left, many light ones to the right.

    Returns
    -------
    labels : array of shape (28, 12)
    weights : array of shape (28,)
    """
    left, middle, right = 0, 1, 2
    groups = (
        (left, left, 10, 2),
        (middle, left, 2, 10),
        (middle, right, 6, 1),
        (right, right, 10, 5),
    )
    rng = np.random.default_rng(0)
    rows, weights = [], []
    for most, rest, n_rows, weight in groups:
        for _ in range(n_rows):
            row = np.repeat([most, rest], [8, 4])
            row[rng.integers(12)] = 3 + rng.integers(3)  # so that no two rows are equal
            rows.append(row)
            weights.append(weight)
    return np.asarray(rows), np.asarray(weights)
