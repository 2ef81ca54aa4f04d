"""Base partitions of a planted clustering: noisy copies of it, or ones that also mix it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._input.checks import random_generator

__all__ = ["make_mixed_partitions", "make_partitions"]


def make_partitions(
    n_samples: int = 60,
    n_partitions: int = 12,
    n_clusters: int = 3,
    *,
    noise: float = 0.1,
    missing_ratio: float = 0.0,
    k_min: int | None = None,
    k_max: int | None = None,
    balanced: bool = False,
    shuffle: bool = False,
    random_state: Any = 0,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Make base partitions that see planted clusters through noise.

    Partition i has K_i clusters. With K_i = K it repeats the planted clusters, with K_i > K it
    splits some or all of them at random, with K_i < K it merges some. Then noise is added.

    Parameters
    ----------
    n_samples : int, default=60
        Number of samples.
    n_partitions : int, default=12
        Number of base partitions.
    n_clusters : int, default=3
        K, the number of planted clusters.
    noise : float, default=0.1
        Share of labels that are replaced by a random one.
    missing_ratio : float, default=0.0
        Share of labels that are replaced by -1. Every sample keeps at least one label.
    k_min, k_max : int, optional
        Range from which K_i is drawn uniformly, both ends included. By default K_i = K.
    balanced : bool, default=False
        Whether the planted clusters have equal sizes. By default the sizes are as 1 : 2 : 3 ...
    shuffle : bool, default=False
        Whether the samples are in random order. By default one planted cluster follows the other.
    random_state : int, Generator, RandomState or None, default=0
        Seed. The same seed gives the same partitions.

    Returns
    -------
    partitions : array of shape (n_samples, n_partitions)
        Labels, -1 where missing.
    y : array of shape (n_samples,)
        The planted clusters.

    Examples
    --------
    >>> from partita.datasets import make_partitions
    >>> partitions, y = make_partitions(6, 4, 2, noise=0.2)
    >>> y
    array([0, 0, 1, 1, 1, 1])
    >>> partitions
    array([[0, 0, 0, 1],
           [0, 0, 0, 0],
           [1, 1, 1, 1],
           [1, 0, 1, 0],
           [1, 1, 1, 1],
           [1, 1, 1, 1]])
    """
    rng = random_generator(random_state)
    size = np.ones(n_clusters) if balanced else np.arange(1, n_clusters + 1)
    share = size / size.sum()
    y = np.searchsorted(np.cumsum(share), (np.arange(n_samples) + 0.5) / n_samples)
    if shuffle:
        y = rng.permutation(y)
    k = np.full(n_partitions, n_clusters)
    partitions = np.tile(y[:, None], n_partitions)
    if k_min is not None or k_max is not None:
        low = k_min or min(n_clusters, k_max or n_clusters)
        high = k_max or max(n_clusters, low)
        k = rng.integers(low, high + 1, size=n_partitions)
        # Piece j of max(K, K_i) belongs to planted cluster j mod K and base cluster j mod K_i.
        n_pieces = -(-(np.maximum(k, n_clusters) - y[:, None]) // n_clusters)
        partitions = (partitions + n_clusters * rng.integers(n_pieces)) % k
    is_noise = rng.random(partitions.shape) < noise
    partitions[is_noise] = rng.integers(np.broadcast_to(k, partitions.shape)[is_noise])
    is_missing = rng.random(partitions.shape) < missing_ratio
    is_missing[np.arange(n_samples), rng.integers(n_partitions, size=n_samples)] = False
    partitions[is_missing] = -1
    return partitions, y


def make_mixed_partitions(
    n_samples: int,
    n_partitions: int,
    n_clusters: int,
    *,
    n_pieces: int,
    noise: float,
    k_min: int,
    k_max: int,
    random_state: Any = 0,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Make base partitions that split and mix planted clusters, and add noise.

    In each partition every planted cluster falls into pieces at random, and every piece belongs to
    a random base cluster. A base cluster therefore holds pieces of several planted clusters, or of
    none. Nearly all rows are distinct. `make_partitions` is easier: it splits or merges planted
    clusters, but does not mix them.

    Parameters
    ----------
    n_samples : int
        Number of samples.
    n_partitions : int
        Number of base partitions.
    n_clusters : int
        Number of planted clusters, drawn with equal probability.
    n_pieces : int
        Number of pieces of each planted cluster in each partition.
    noise : float
        Share of labels that are replaced by a random one.
    k_min, k_max : int
        Range from which the number of base clusters of each partition is drawn uniformly, both
        ends included.
    random_state : int, Generator, RandomState or None, default=0
        Seed. The same seed gives the same partitions.

    Returns
    -------
    partitions : array of shape (n_samples, n_partitions)
        Labels.
    y : array of shape (n_samples,)
        The planted clusters.

    Examples
    --------
    >>> from partita.datasets import make_mixed_partitions
    >>> partitions, y = make_mixed_partitions(100, 5, 3, n_pieces=2, noise=0.1, k_min=3, k_max=6)
    >>> partitions.shape
    (100, 5)
    """
    rng = random_generator(random_state)
    y = rng.integers(0, n_clusters, n_samples)
    columns = []
    for k in rng.integers(k_min, k_max + 1, n_partitions):
        pieces = rng.integers(0, k, (n_clusters, n_pieces))
        column = pieces[y, rng.integers(0, n_pieces, n_samples)]
        is_noise = rng.random(n_samples) < noise
        column[is_noise] = rng.integers(0, k, np.count_nonzero(is_noise))
        columns.append(column)
    return np.stack(columns, axis=1), y
