"""Ensembles whose answer is known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["noisy_ensemble", "renamed"]


def noisy_ensemble(
    n_samples: int = 60,
    n_partitions: int = 12,
    n_clusters: int = 3,
    *,
    noise: float = 0.1,
    missing: float = 0.0,
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
    seed : int

    Returns
    -------
    truth : array of shape (n_samples,)
        Clusters of unequal size.
    labels : array of shape (n_samples, n_partitions)
    """
    rng = np.random.default_rng(seed)
    share = np.arange(1, n_clusters + 1) / np.arange(1, n_clusters + 1).sum()
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
