"""The order of rows and clusters in the published programs, for tests against their output."""

from __future__ import annotations

import numpy as np


def their_clusters(core, labels):
    """For every cluster of the compressed ensemble, its number in the published programs.

    These number clusters partition by partition, by label; `labels` count from 0.
    """
    start = np.concatenate([[0], np.cumsum(labels.max(axis=0) + 1)])
    return np.concatenate(
        [start[i] + names for i, names in zip(core.partition_order, core.categories, strict=True)]
    ).astype(int)


def their_rows(core, micro_cluster):
    """For every row of the compressed ensemble, its number in the published programs."""
    rows = np.empty(core.n_rows, int)
    rows[core.inverse] = micro_cluster
    return rows


def within_sum_of_squares(points, labels):
    """The k-means objective of a given partition."""
    return sum(
        ((points[labels == k] - points[labels == k].mean(axis=0)) ** 2).sum()
        for k in np.unique(labels)
    )
