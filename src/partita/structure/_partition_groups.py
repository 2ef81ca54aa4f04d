"""Group partitions by agreement, and compare the groups with those of one common clustering."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita.solvers import agglomerate

__all__ = [
    "chance_agreement",
    "group_partitions",
    "joint_information",
    "nested_agreement",
    "shuffle_within",
]

_MAX_GROUPS = 10
_LEAST_PARTITIONS = 3  # of a group
_CHANCE = 0.01  # sum of squared agreements that counts as chance
_CHANCE_TABLES = 3  # permuted tables from which the agreement by chance is estimated


def nested_agreement(
    clusters: NDArray[np.int64], partition: NDArray[np.int64], chance: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the agreement of all pairs of partitions, corrected for chance, shape (m, m).

    (a - e) / (1 - e) with the mutual information divided by the smaller entropy, a, and its value
    for permuted labels, e: 1 if one partition refines the other, 0 by chance.
    """
    agreement = (joint_information(clusters, partition) - chance) / (1.0 - chance)
    np.fill_diagonal(agreement, 1.0)
    return np.clip(agreement, 0.0, 1.0)


def chance_agreement(
    clusters: NDArray[np.int64], partition: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the mean agreement of permuted labels, shape (m, m), below 1."""
    one = np.zeros(len(clusters), np.int64)
    tables = [
        joint_information(shuffle_within(clusters, one, rng), partition)
        for _ in range(_CHANCE_TABLES)
    ]
    return np.minimum(np.mean(tables, axis=0), 0.99)


def joint_information(
    clusters: NDArray[np.int64], partition: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the mutual information of all pairs, divided by the smaller entropy, shape (m, m).

    Parameters
    ----------
    clusters : array of shape (n, m)
        Base cluster of each sample in each partition, numbered over all partitions, -1 if missing.
    partition : array of shape (L,), ascending
        Partition of each base cluster; every partition has one at least.
    """
    n, m = clusters.shape
    observed = clusters >= 0
    starts = np.concatenate([[0], np.cumsum(observed.sum(axis=1))])
    table = sp.csr_matrix(
        (np.ones(starts[-1]), clusters[observed], starts), shape=(n, len(partition))
    )
    transposed = table.T.tocsr()
    first = np.searchsorted(partition, np.arange(m + 1))
    result = np.zeros((m, m))
    for i in range(m):
        counts = (transposed[first[i] : first[i + 1]] @ table).toarray()
        by_row, by_column = np.add.reduceat(counts, first[:-1], axis=1), counts.sum(axis=0)
        total = np.add.reduceat(by_column, first[:-1])
        cells = np.add.reduceat(_x_log_x(counts).sum(axis=0), first[:-1])
        rows, columns = (
            _x_log_x(by_row).sum(axis=0),
            np.add.reduceat(_x_log_x(by_column), first[:-1]),
        )
        all_log = _x_log_x(total)
        smaller = np.minimum(all_log - rows, all_log - columns)
        shared = np.maximum(cells - rows - columns + all_log, 0.0)
        np.divide(shared, smaller, out=result[i], where=smaller > 1e-9 * np.maximum(total, 1.0))
    return np.minimum((result + result.T) / 2, 1.0)


def _x_log_x(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(values * np.log(np.where(values > 0, values, 1.0)))


def shuffle_within(
    clusters: NDArray[np.int64], groups: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Permute the labels of every partition separately within groups of samples."""
    shuffled = np.empty_like(clusters)
    order = np.argsort(groups, kind="stable")
    for i in range(clusters.shape[1]):
        shuffled[order, i] = clusters[np.lexsort((rng.random(len(groups)), groups)), i]
    return shuffled


def group_partitions(agreement: NDArray[np.float64]) -> tuple[NDArray[np.int64], float]:
    """Group partitions by average linkage, into the number of groups with the best separation.

    The distance of two partitions is 1 minus the cosine of their agreements with the others: two
    partitions that agree with the same others are near, also if one of them has more noise.

    Returns the group of each partition, -1 for one outside all groups, and the separation: the mean
    difference of a partition's mean distances to the next group and to its own, 0 outside groups.
    One group and 0 if no cut has two groups of three partitions or more.
    """
    m = len(agreement)
    distance = _profile_distance(agreement)
    tree = agglomerate(distance)
    best, best_score = np.zeros(m, np.int64), 0.0
    for k in range(2, min(m - 1, _MAX_GROUPS) + 1):
        groups = tree.cut(k)
        sizes = np.bincount(groups)
        is_large = sizes >= _LEAST_PARTITIONS
        if np.count_nonzero(is_large) < 2:
            continue
        score = _separation(distance, groups, is_large)
        if score > best_score + 1e-12:
            numbers = np.where(is_large, np.cumsum(is_large) - 1, -1)
            best, best_score = numbers[groups], score
    return best, best_score


def _profile_distance(agreement: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 - cosine of the agreements of two partitions with all others."""
    profiles = agreement.copy()
    np.fill_diagonal(profiles, 0.0)
    shared = profiles @ profiles
    squares = np.maximum((profiles**2).sum(axis=1)[:, None] - profiles**2, 0.0)
    # agreement by chance is not exactly 0: profiles without any other agreement are not similar
    cosine = shared / np.sqrt((squares + _CHANCE) * (squares.T + _CHANCE))
    distance = 1.0 - np.clip((cosine + cosine.T) / 2, 0.0, 1.0)
    np.fill_diagonal(distance, 0.0)
    return distance


def _separation(
    distance: NDArray[np.float64], groups: NDArray[np.int64], is_large: NDArray[np.bool_]
) -> float:
    rows = np.flatnonzero(is_large[groups])
    indicator = np.eye(len(is_large))[:, is_large][groups]
    sizes = indicator.sum(axis=0)
    sums = distance[rows] @ indicator
    own = indicator[rows].astype(bool)
    within = sums[own] / ((own @ sizes) - 1)
    between = np.where(own, np.inf, sums / sizes).min(axis=1)
    return float((between - within).sum() / len(distance))
