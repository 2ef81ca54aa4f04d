"""Certainty of base clusters in several subsets of the partitions, whose terms are shared.

The entropy of a cluster, and that of a random one, is a sum over the other partitions. Its terms do
not depend on the subset.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from partita.ensemble import Ensemble
from partita.matrices._locally_weighted import pairwise_entropy
from partita.matrices.chance import bits_by_partition, certainty_above_chance
from partita.matrices.cluster_counts import cluster_sizes

__all__ = ["cluster_certainties", "corrected_certainties"]


def cluster_certainties(
    ensemble: Ensemble, subsets: Sequence[NDArray[np.int64]], theta: float
) -> list[NDArray[np.float64]]:
    """Return `cluster_certainty` of all partitions and of each of several subsets of them.

    Parameters
    ----------
    ensemble : Ensemble
        The partitions.
    subsets : sequence of arrays of indices
        Partitions of each subset.
    theta : float
        As in `cluster_certainty`.

    Returns
    -------
    list of 1 + len(subsets) arrays
        Certainty of the clusters of all partitions, then of those of each subset, partition by
        partition. Cost that of the whole ensemble, and a sum for each subset; 8 m L bytes.
    """
    terms = pairwise_entropy(ensemble)[0]
    entropies = [terms.sum(axis=0), *(_sums(terms, ensemble, subset) for subset in subsets)]
    sizes = [ensemble.n_partitions, *map(len, subsets)]
    return [np.exp(-entropy / (theta * m)) for entropy, m in zip(entropies, sizes, strict=True)]


def corrected_certainties(
    ensemble: Ensemble, subsets: Sequence[NDArray[np.int64]], theta: float
) -> list[NDArray[np.float64]]:
    """Return `corrected_certainty` of all partitions and of each of several subsets of them.

    Parameters and result as in `cluster_certainties`. If a weight is below 1, the smallest of all
    rows is the unit of all subsets.
    """
    unit = min(1.0, float(ensemble.weights.min()))
    sizes = cluster_sizes(ensemble) / unit
    terms, members = pairwise_entropy(ensemble)
    labeled = members / unit if ensemble.n_missing else None
    of_chance, sums = np.empty(terms.shape), np.zeros(len(sizes))
    for partitions, bits in bits_by_partition(sizes, labeled, ensemble.offsets):
        of_chance[partitions] = bits.T
        sums += bits.sum(axis=1)  # in the order of `expected_entropy`, to the last bit
    scale = theta * ensemble.n_partitions
    return [
        certainty_above_chance(terms.sum(axis=0), sums, sizes, scale),
        *(
            certainty_above_chance(
                _sums(terms, ensemble, subset),
                _sums(of_chance, ensemble, subset),
                sizes[_clusters(ensemble, subset)],
                theta * len(subset),
            )
            for subset in subsets
        ),
    ]


def _sums(
    terms: NDArray[np.float64], ensemble: Ensemble, subset: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the sum over the partitions of a subset for each of their clusters."""
    return np.asarray(terms[np.ix_(subset, _clusters(ensemble, subset))].sum(axis=0))


def _clusters(ensemble: Ensemble, subset: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the base clusters of some partitions, partition by partition."""
    begin, end = ensemble.offsets[subset], ensemble.offsets[subset + 1]
    return np.concatenate([np.arange(*bounds) for bounds in zip(begin, end, strict=True)])
