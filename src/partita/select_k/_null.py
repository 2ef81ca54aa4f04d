"""Null ensembles: the same kind of partitions without common structure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita._contingency import ContingencyTable
from partita._linalg import svd
from partita.ensemble import Ensemble
from partita.solvers.components import connected_components

__all__ = ["copies", "permuted", "uniform_reference"]

_COPY = 0.6  # adjusted Rand index from which two partitions count as copies
_COMPARED_SAMPLES = 1000


def copies(ensemble: Ensemble, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the group of each partition; a group are partitions that are nearly copies.

    A group is linked by adjusted Rand indices of at least 0.6, over at most 1,000 samples. A group
    of more than a quarter of the partitions is not one of copies but common structure: each of its
    partitions is a group by itself.
    """
    rows = np.arange(ensemble.n_samples)
    if len(rows) > _COMPARED_SAMPLES:
        rows = np.sort(rng.choice(rows, _COMPARED_SAMPLES, replace=False))
    m = ensemble.n_partitions
    is_copy = np.eye(m, dtype=bool)
    # the clusters of these rows are at most as many as the rows
    columns = np.stack([np.unique(c, return_inverse=True)[1] for c in ensemble.codes[rows].T])
    observed = np.ascontiguousarray(ensemble.observed[rows].T)
    offsets = np.concatenate([[0], np.cumsum(columns.max(axis=1) + 1)])
    for i in range(1, m):
        both = observed[:i] & observed[i]
        others = (columns[:i] + offsets[:i, None])[both]
        own = np.broadcast_to(columns[i], both.shape)[both]
        table = ContingencyTable.from_codes(
            others, own, int(offsets[i]), int(offsets[i + 1] - offsets[i])
        )
        is_copy[i, :i] = is_copy[:i, i] = _is_copy(table, offsets[: i + 1])
    groups = connected_components(is_copy)[1]
    is_large = np.bincount(groups)[groups] > m / 4
    return np.where(is_large, m + np.arange(m), groups)


def _is_copy(table: ContingencyTable, offsets: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Compare the columns of a table with several partitions, whose clusters are its rows."""
    m, width = len(offsets) - 1, table.shape[1]
    partition = np.repeat(np.arange(m), np.diff(offsets))
    of_cell = partition[table.rows]
    totals = np.bincount(of_cell, table.counts, m)
    of_columns = np.bincount(of_cell * width + table.columns, table.counts, m * width)
    both, by_rows, by_columns = (
        (squares - totals) / 2
        for squares in (
            np.bincount(of_cell, np.square(table.counts, dtype=np.float64), m),
            np.bincount(partition, np.square(table.row_sums), m),
            np.square(of_columns.reshape(m, width)).sum(axis=1),
        )
    )
    expected = by_rows * by_columns / np.maximum((np.square(totals) - totals) / 2, 1)
    excess, largest = both - expected, (by_rows + by_columns) / 2 - expected
    is_other = (both != by_rows) | (both != by_columns)
    rand = np.divide(excess, largest, out=np.ones(m), where=is_other)
    return (totals > 0) & (rand >= _COPY)


def permuted(
    ensemble: Ensemble, rng: np.random.Generator, groups: NDArray[np.int64] | None = None
) -> Ensemble:
    """Shuffle the labels of every partition separately, among the samples that it labels.

    Cluster sizes and missing labels stay, the agreement of the partitions is that of chance. The
    partitions of one group are shuffled alike; by default each partition is a group. All samples
    have weight 1.
    """
    codes = ensemble.codes.copy()
    if groups is None:
        groups = np.arange(ensemble.n_partitions)
    for group in np.unique(groups):
        key = rng.random(ensemble.n_samples)
        for i in np.flatnonzero(groups == group):
            labeled = np.flatnonzero(ensemble.observed[:, i])
            codes[labeled, i] = codes[labeled[np.argsort(key[labeled])], i]
    return Ensemble.from_codes(codes, ensemble.layout, unlabeled="keep")


def uniform_reference(X: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw as many points uniformly from the box of X's principal axes (Tibshirani et al.).

    No box has the shape of a feature with one frequent value, such as a count that is mostly 0.
    The values of such features are shuffled instead.
    """
    is_shuffled = np.array([_has_frequent_value(column) for column in X.T], dtype=bool)
    reference = np.empty_like(X)
    reference[:, is_shuffled] = rng.permuted(X[:, is_shuffled], axis=0)
    varied = X[:, ~is_shuffled]
    center = varied.mean(axis=0)
    if varied.shape[1]:
        _, _, axes = svd(varied - center, full_matrices=False)
        scores = (varied - center) @ axes.T
        drawn = rng.uniform(scores.min(axis=0), scores.max(axis=0), scores.shape)
        reference[:, ~is_shuffled] = drawn @ axes + center
    return reference


def _has_frequent_value(column: NDArray[np.float64]) -> bool:
    """Return whether at least half of the samples have the same value, and not all of them."""
    most = int(np.unique(column, return_counts=True)[1].max())
    return most < len(column) <= 2 * most
