"""Certainty of base clusters, corrected for chance.

The entropy of a cluster with respect to another partition cannot exceed the logarithm of its size.
So the certainty of `cluster_certainty` is high for every small cluster, also for a random one. Here
the entropy is compared with that of a random cluster of the same size.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita.ensemble import as_ensemble
from partita.matrices._locally_weighted import entropy_and_members
from partita.matrices.cluster_counts import cluster_sizes

__all__ = [
    "bits_by_partition",
    "certainty_above_chance",
    "corrected_certainty",
    "expected_entropy",
]

_FEW = 512  # base clusters: all partitions at once, without a search for equal sizes
_ROUNDING = 1e-9  # relative differences of sums of weights up to this are rounding errors
_GENUINE, _RANDOM = 0.5, 0.8  # ratios of the entropy to that of a random cluster
_ENTRIES = 1 << 15  # pairs of sizes at a time; their numbers stay in the cache


def corrected_certainty(partitions: Any, theta: float = 0.4) -> NDArray[np.float64]:
    """Return the certainty of every base cluster, corrected for chance, shape (L,).

    With the entropy H(c) of a cluster with respect to the other partitions and its expected value
    H₀(c) for a random cluster of the same size,

        w_c = exp(-[(1 - s_c) H(c) + s_c ρ_c H̄₀] / (theta m)),  ρ_c = H(c) / H₀(c),

    divided by the largest w. H̄₀ is the mean of H₀, weighted by size, and s rises smoothly from 0 at
    ρ = 0.5 to 1 at ρ = 0.8. A cluster with less than half of the entropy of a random one keeps the
    certainty of `cluster_certainty`; one that looks random loses what chance gave it for its size.

    Parameters
    ----------
    partitions : array-like of shape (n_samples, n_partitions), data frame, list or Ensemble
        The partitions.
    theta : float, default=0.4
        Influence of the entropy: the smaller, the lower the weight of uncertain clusters.

    Examples
    --------
    >>> from partita.matrices import corrected_certainty
    >>> partitions = [[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1], [0, 1, 0, 1, 0, 1]]
    >>> corrected_certainty(partitions).round(2)
    array([1.  , 1.  , 1.  , 1.  , 0.47, 0.47])
    """
    if not theta > 0:
        raise ValueError(f"theta must be positive, got {theta!r}")
    ensemble = as_ensemble(partitions)
    # A weight is a number of samples. No cluster may have less than one.
    unit = min(1.0, float(ensemble.weights.min()))
    sizes = cluster_sizes(ensemble) / unit
    entropy, members = entropy_and_members(ensemble)
    labeled = members / unit if ensemble.n_missing else None
    expected = expected_entropy(sizes, labeled, ensemble.offsets)
    return certainty_above_chance(entropy, expected, sizes, theta * ensemble.n_partitions)


def expected_entropy(
    sizes: NDArray[np.float64], members: NDArray[np.float64] | None, offsets: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the expected entropy in bits of random clusters with respect to other partitions.

    A cluster of s samples that are drawn at random has X samples in a cluster of n of the N samples
    of a partition; X is hypergeometric. As E[X log X] = s (n / N) E[log(1 + Y)] with Y
    hypergeometric for s - 1, n - 1 and N - 1, the expected entropy is

        log s - Σ_n (n / N) E[log(1 + Y)],
        E[log(1 + Y)] ≈ log(1 + λ) - Var(Y) / (2 (1 + λ)²),  λ = E[Y].

    The expansion is exact for s = 1 and s = N, and for large clusters it is the correction of
    Miller and Madow. Its error is below 0.03 bits.

    Parameters
    ----------
    sizes : array of shape (L,)
        Number of samples of every base cluster.
    members : array of shape (L, m) or None
        Number of samples of a cluster that each other partition labels; None if all do.
    offsets : array of shape (m + 1,)
        First base cluster of every partition.

    Returns
    -------
    array of shape (L,)
        Sums over the other partitions.
    """
    expected = np.zeros(len(sizes))
    for _, bits in bits_by_partition(sizes, members, offsets):
        expected += bits.sum(axis=1)
    return expected


def bits_by_partition(
    sizes: NDArray[np.float64], members: NDArray[np.float64] | None, offsets: NDArray[np.int64]
) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Yield some partitions and the terms of `expected_entropy` of all clusters for them, (L, k).

    The term of a cluster and its own partition is 0. Parameters as in `expected_entropy`.
    """
    n_partitions = len(offsets) - 1
    if members is None:
        totals = np.bincount(np.repeat(np.arange(n_partitions), np.diff(offsets)), sizes)
        if np.ptp(totals) <= _ROUNDING * totals.max():
            of_sizes, position = _complete_bits(sizes, offsets)
            for i, row in enumerate(of_sizes):
                of_clusters = row[position]
                of_clusters[offsets[i] : offsets[i + 1]] = 0.0
                yield slice(i, i + 1), of_clusters[:, None]
            return
        members = np.broadcast_to(sizes[:, None], (len(sizes), n_partitions))
    at_once = n_partitions if len(sizes) <= _FEW else 1
    for first in range(0, n_partitions, at_once):
        bounds = offsets[first : first + at_once + 1]
        drawn, position = _distinct(members[:, first : first + at_once])
        bits = _expected_bits(drawn, sizes, bounds)[position]
        for i, own in enumerate(map(slice, bounds[:-1], bounds[1:])):
            bits[own, i] = 0.0
        yield slice(first, first + at_once), bits


def _complete_bits(
    sizes: NDArray[np.float64], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the expected entropy by partition and distinct size, (m, U), and the size of clusters.

    All partitions must have equally many samples, as without missing labels: E[log(1 + Y)] depends
    on two sizes alone then. It is computed once for every pair of distinct sizes.
    """
    distinct, position = np.unique(sizes, return_inverse=True)
    n_sizes, n_partitions, total = len(distinct), len(offsets) - 1, float(sizes[: offsets[1]].sum())
    shares = sp.csr_array(
        (sizes / (max(total, 1.0) * np.log(2.0)), position.reshape(-1), offsets),
        shape=(n_partitions, n_sizes),
    )
    drawn = np.maximum(distinct, 1.0)
    mean_factor = np.maximum(distinct - 1.0, 0.0)[:, None] / max(total - 1.0, 1.0)
    variance_factor = (1.0 - mean_factor) / (2.0 * max(total - 2.0, 1.0))
    bits = np.empty((n_partitions, n_sizes))
    at_once = max(1, _ENTRIES // n_sizes)
    for start in range(0, n_sizes, at_once):
        s = drawn[start : start + at_once]
        logarithm = (s - 1.0) * mean_factor
        correction = np.maximum(total - s, 0.0) * variance_factor
        correction *= logarithm
        logarithm += 1.0
        correction /= logarithm
        correction /= logarithm
        np.log(logarithm, out=logarithm)
        logarithm -= correction
        bits[:, start : start + at_once] = np.log2(s) - shares @ logarithm
    return np.maximum(bits, 0.0, out=bits), position.reshape(-1)


def _distinct(sizes: NDArray[np.float64]) -> tuple[NDArray[np.float64], Any]:
    """Return the distinct rows of sizes, at least 1, and where every row is; few rows as given."""
    sizes = np.maximum(sizes, 1.0)
    if len(sizes) <= _FEW:
        return sizes, ...
    distinct, position = np.unique(sizes, return_inverse=True)
    return distinct[:, None], position.reshape(-1)


def _expected_bits(
    drawn: NDArray[np.float64], sizes: NDArray[np.float64], bounds: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the expected entropy of clusters of `drawn` samples in some partitions.

    drawn : (n, number of partitions)
    sizes : sizes of all base clusters
    bounds : first base cluster of each of the partitions, and the end of the last
    """
    partition = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    n = sizes[bounds[0] : bounds[-1]]
    shares = np.zeros((len(n), len(bounds) - 1))
    shares[np.arange(len(n)), partition] = n
    total = np.maximum(shares.sum(axis=0), 1.0)
    shares /= total * np.log(2.0)
    others, rest = np.maximum(total - 1.0, 1.0)[partition], np.maximum(total - 2.0, 1.0)[partition]
    s = drawn[:, partition]
    n_others = np.maximum(n - 1.0, 0.0)
    logarithm = s - 1.0
    logarithm *= n_others / others
    correction = np.subtract(total[partition], s, out=s)
    np.maximum(correction, 0.0, out=correction)
    correction *= logarithm
    correction *= (1.0 - n_others / others) / rest
    logarithm += 1.0
    correction /= 2.0 * np.square(logarithm)
    np.log(logarithm, out=logarithm)
    logarithm -= correction
    return np.asarray(np.maximum(np.log2(drawn) - logarithm @ shares, 0.0))


def certainty_above_chance(
    entropy: NDArray[np.float64],
    expected: NDArray[np.float64],
    sizes: NDArray[np.float64],
    scale: float,
) -> NDArray[np.float64]:
    """Return the corrected certainty from entropies and their expected values.

    A cluster whose expected entropy is 0, such as a single sample, is as good as chance. The more
    a cluster looks random, the more its entropy is replaced by the same share of the mean expected
    entropy. The correction of clusters that are far from random would cost accuracy: the small
    ones among them are certain for a reason.

    Parameters
    ----------
    entropy, expected, sizes : arrays of shape (L,)
        Entropy of the base clusters, the same of random clusters, and numbers of samples.
    scale : float
        theta m.
    """
    is_defined = expected > 0
    ratio = np.where(is_defined, entropy / np.where(is_defined, expected, 1.0), 1.0)
    step = np.clip((ratio - _GENUINE) / (_RANDOM - _GENUINE), 0.0, 1.0)
    step *= step * (3.0 - 2.0 * step)
    mean = (expected @ sizes) / sizes.sum()
    exponent = (entropy + step * (ratio * mean - entropy)) / scale
    return np.exp(exponent[sizes > 0].min() - exponent)
