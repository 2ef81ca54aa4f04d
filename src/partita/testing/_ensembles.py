"""Partitions for the checks, besides those of `partita.datasets.make_partitions`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["contested_partitions", "rename_labels"]


def rename_labels(partitions: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the same partitions with other names of clusters; -1 stays -1."""
    renamed = partitions.copy()
    for i in range(partitions.shape[1]):
        names = rng.permutation(partitions[:, i].max() + 1) * 3 + 5
        is_labeled = partitions[:, i] >= 0
        renamed[is_labeled, i] = names[partitions[is_labeled, i]]
    return renamed


def contested_partitions() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return partitions of which the best two clusters depend on the weights.

    There are three groups of rows: left, middle and right. In a third of the partitions some rows
    of the middle group belong to the left group, the others to the right group: few rows of large
    weight to the left, many rows of small weight to the right.

    Returns
    -------
    partitions : array of shape (28, 12)
    weights : array of shape (28,)
    """
    left, middle, right = 0, 1, 2
    groups = (  # label in 8 partitions, label in the other 4, number of rows, weight of each
        (left, left, 10, 2),
        (middle, left, 2, 10),
        (middle, right, 6, 1),
        (right, right, 10, 5),
    )
    rng = np.random.default_rng(0)
    rows, weights = [], []
    for majority_label, minority_label, n_rows, weight in groups:
        for _ in range(n_rows):
            row = np.repeat([majority_label, minority_label], [8, 4])
            row[rng.integers(12)] = 3 + rng.integers(3)  # makes all rows distinct
            rows.append(row)
            weights.append(weight)
    return np.asarray(rows), np.asarray(weights)
