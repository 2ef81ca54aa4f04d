"""Initialization of label k-means by merging many small groups."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.scale import EnsembleRows
from partita.solvers.label_kmeans._geometry import Geometry
from partita.solvers.label_kmeans._iteration import label_kmeans
from partita.solvers.label_kmeans._seeds import draw_seeds, seed_statistics

__all__ = ["max_initial_groups", "merged_groups"]

_FACTOR, _MAX_EXTRA = 4, 300  # four times as many groups as clusters, at most 300 more
_MAX_ITER = 5


def max_initial_groups(n_clusters: int) -> int:
    """Return the number of small groups, if there are enough rows."""
    return min(_FACTOR * n_clusters, n_clusters + _MAX_EXTRA)


def merged_groups(
    rows: EnsembleRows, geometry: Geometry, n_clusters: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return an initial group for every row, `n_clusters` groups in all.

    A seed is one row, and a row shares few labels with most rows of its cluster. A cluster without
    a seed is divided among the others and rarely comes together again. With many seeds no cluster
    lacks one, and small groups have enough labels to show which of them belong together. So run a
    few iterations with four times as many groups from random seeds, then merge them by Ward's
    criterion.
    """
    n_groups = max(n_clusters, min(max_initial_groups(n_clusters), rows.n_rows // 2))
    seeds = draw_seeds(rows, geometry, n_groups, "random", rng)
    first = seed_statistics(rows, geometry, rows.take(seeds))
    small = label_kmeans(
        rows, geometry, n_groups, lambda _: first, n_init=1, max_iter=_MAX_ITER, n_final=n_clusters
    )
    products = geometry.inner_products(small.counts, small.masses)
    return _ward_numbers(products, small.masses.sum(axis=0), n_clusters)[small.labels]


def _ward_numbers(
    products: NDArray[np.float64], masses: NDArray[np.float64], n_clusters: int
) -> NDArray[np.int64]:
    """Return the new number of every group after merging down to `n_clusters` groups.

    Each step merges the two groups that increase the sum of squared distances to the centers
    least. The inner products of the centers are enough for this, and those of a merged center
    follow from the two old ones.
    """
    products, masses = products.copy(), masses.copy()
    number = np.arange(len(masses))
    for n_groups in range(len(masses), n_clusters, -1):
        squares = np.diag(products)
        distances = squares[:, None] + squares - 2.0 * products
        increase = distances * (np.multiply.outer(masses, masses) / np.add.outer(masses, masses))
        increase[np.tril_indices(n_groups)] = np.inf
        a, b = np.unravel_index(np.argmin(increase), increase.shape)
        share = masses[b] / (masses[a] + masses[b])
        products[a] += share * (products[b] - products[a])
        products[:, a] += share * (products[:, b] - products[:, a])
        masses[a] += masses[b]
        masses = np.delete(masses, b)
        products = np.delete(np.delete(products, b, axis=0), b, axis=1)
        number[number == b] = a
        number[number > b] -= 1
    return number
