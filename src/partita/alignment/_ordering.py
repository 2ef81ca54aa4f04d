"""Order the nodes of a layered graph such that few edges cross."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["count_crossings", "order_layers"]

_SWEEPS = 12


def order_layers(tables: Sequence[NDArray[np.float64]]) -> list[NDArray[np.int64]]:
    """Return the position of every node in its layer, by sweeps of barycenters.

    A sweep orders each layer by the mean position of the neighbors in the layer before it, down and
    then up again. The order with the fewest crossings is kept.

    Parameters
    ----------
    tables : list of arrays of shape (n_nodes_i, n_nodes_i+1)
        Weights of the edges between neighboring layers, 0 where there is no edge.
    """
    sizes = [len(tables[0]), *(table.shape[1] for table in tables)]
    positions = [np.arange(size) for size in sizes]
    best, fewest = [p.copy() for p in positions], _all_crossings(tables, positions)
    for sweep in range(_SWEEPS):
        if sweep % 2 == 0:
            for i, table in enumerate(tables):
                positions[i + 1] = _by_barycenter(table.T, positions[i], positions[i + 1])
        else:
            for i in reversed(range(len(tables))):
                positions[i] = _by_barycenter(tables[i], positions[i + 1], positions[i])
        n_crossings = _all_crossings(tables, positions)
        if n_crossings < fewest:
            best, fewest = [p.copy() for p in positions], n_crossings
    return best


def count_crossings(
    table: NDArray[np.float64], upper: NDArray[np.int64], lower: NDArray[np.int64]
) -> int:
    """Count the pairs of edges that cross between two layers with these positions."""
    first, second = np.nonzero(table)
    left, right = upper[first], lower[second]
    crosses = (left[:, None] < left) & (right[:, None] > right)
    return int(np.count_nonzero(crosses))


def _all_crossings(
    tables: Sequence[NDArray[np.float64]], positions: Sequence[NDArray[np.int64]]
) -> int:
    return sum(
        count_crossings(table, positions[i], positions[i + 1]) for i, table in enumerate(tables)
    )


def _by_barycenter(
    weights: NDArray[np.float64], fixed: NDArray[np.int64], old: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return new positions of the rows; a row without an edge keeps its old position as center."""
    total = weights.sum(axis=1)
    center = np.where(total > 0, weights @ fixed / np.where(total > 0, total, 1.0), old)
    position = np.empty(len(center), np.int64)
    position[np.lexsort((old, center))] = np.arange(len(center))
    return position
