"""Null ensembles: the same kind of partitions without common structure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita._contingency import ContingencyTable, adjusted_rand_of
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
    codes, observed, sizes = ensemble.codes[rows], ensemble.observed[rows], ensemble.n_clusters
    m = ensemble.n_partitions
    is_copy = np.eye(m, dtype=bool)
    for i in range(m):
        for j in range(i):
            both = observed[:, i] & observed[:, j]
            table = ContingencyTable.from_codes(
                codes[both, i], codes[both, j], int(sizes[i]), int(sizes[j])
            )
            is_copy[i, j] = is_copy[j, i] = both.any() and adjusted_rand_of(table) >= _COPY
    groups = connected_components(is_copy)[1]
    is_large = np.bincount(groups)[groups] > m / 4
    return np.where(is_large, m + np.arange(m), groups)


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
    """Draw as many points uniformly from the box of X's principal axes (Tibshirani et al.)."""
    center = X.mean(axis=0)
    _, _, axes = svd(X - center, full_matrices=False)
    scores = (X - center) @ axes.T
    return rng.uniform(scores.min(axis=0), scores.max(axis=0), scores.shape) @ axes + center
