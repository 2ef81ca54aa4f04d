"""A start for label k-means: many small groups, merged two by two."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.scale import EnsembleRows
from partita.solvers.label_kmeans.iteration import label_kmeans
from partita.solvers.label_kmeans.seeds import draw_seeds, seed_statistics
from partita.solvers.label_kmeans.statistics import Geometry

__all__ = ["merged_groups", "most_groups"]

_TIMES, _MORE = 4, 300  # so many times as many groups, but no more than that beyond
_ITERATIONS = 5


def most_groups(n_clusters: int) -> int:
    """How many groups a merged start begins with, if there are rows enough."""
    return min(_TIMES * n_clusters, n_clusters + _MORE)


def merged_groups(
    rows: EnsembleRows, geometry: Geometry, n_clusters: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """The group of every row, of `n_clusters` groups to begin with.

    A seed is one row, and a row shares few labels with most of its own cluster: a cluster without a
    seed is shared out among the others and rarely comes together again. Many seeds leave none out,
    and small groups, unlike rows, hold labels enough to tell which of them belong together. So: a
    few iterations with four times as many groups from random seeds, then Ward's mergers.
    """
    many = max(n_clusters, min(most_groups(n_clusters), rows.n_rows // 2))
    chosen = draw_seeds(rows, geometry, many, "random", rng)
    start = seed_statistics(rows, geometry, rows.take(chosen))
    small = label_kmeans(rows, geometry, many, lambda _: start, n_init=1, max_iter=_ITERATIONS)
    products = geometry.inner_products(small.counts, small.masses)
    return _mergers(products, small.masses.sum(axis=0), n_clusters)[small.labels]


def _mergers(
    products: NDArray[np.float64], masses: NDArray[np.float64], n_clusters: int
) -> NDArray[np.int64]:
    """The new number of every group when always the two are merged that lose least by it.

    That is the sum of squared distances from the center, of which the inner products of the centers
    are all that must be known: those of a merged center follow from its parts'.
    """
    products, masses = products.copy(), masses.copy()
    number = np.arange(len(masses))
    for n_groups in range(len(masses), n_clusters, -1):
        squares = np.diag(products)
        distances = squares[:, None] + squares - 2.0 * products
        lost = distances * (np.multiply.outer(masses, masses) / np.add.outer(masses, masses))
        lost[np.tril_indices(n_groups)] = np.inf
        a, b = np.unravel_index(np.argmin(lost), lost.shape)
        share = masses[b] / (masses[a] + masses[b])
        products[a] += share * (products[b] - products[a])
        products[:, a] += share * (products[:, b] - products[:, a])
        masses[a] += masses[b]
        masses = np.delete(masses, b)
        products = np.delete(np.delete(products, b, axis=0), b, axis=1)
        number[number == b] = a
        number[number > b] -= 1
    return number
