"""Ensembles whose answer is known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["contested_ensemble", "renamed"]


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
