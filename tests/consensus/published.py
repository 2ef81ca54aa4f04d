"""What tests against published programs share: reference files, and the programs' own order."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

REFERENCE = Path(__file__).parents[1] / "reference"


def reference(key):
    """A reference file, its label table as an array of shape (n_samples, n_partitions)."""
    values = json.loads((REFERENCE / f"{key}.json").read_text(encoding="utf-8"))
    values["labels"] = np.array([list(column) for column in values["labels"]]).T
    return values


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
