"""Fuse the partitions of several generators, alone and together, and take the best consensus.

Graph cuts follow clusters of any shape, but cut off samples that are isolated by chance. k-means
finds round clusters that touch, but cuts long ones into pieces. No generator is the best for all
data; the nearest neighbors of the samples tell which consensus to take.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import FeatureUnion

from partita.registry import prepare
from partita.select_k import Evidence

__all__ = ["Consensus", "best_consensus"]

_COMPARED_SAMPLES = 200_000  # of more samples, drawn at random: fewer have farther neighbors


@dataclass(frozen=True, eq=False)
class Consensus:
    """A consensus and what it was made by.

    Attributes
    ----------
    generator : transformer
        The fitted generator; a `FeatureUnion` of several.
    partitions : array of shape (n_samples, n_partitions)
        Its partitions.
    method : estimator
        The method that fused them.
    """

    generator: Any
    partitions: NDArray[np.int32]
    method: Any

    @classmethod
    def of(
        cls, generators: Sequence[Any], tables: Sequence[NDArray[np.int32]], method: Any
    ) -> Consensus:
        """Fuse the tables of fitted generators by an unfitted method."""
        if len(generators) == 1:
            return cls(generators[0], tables[0], method.fit(tables[0]))
        union = FeatureUnion([(type(each).__name__, each) for each in generators])
        partitions = np.hstack(tables)
        return cls(union, partitions, method.fit(partitions))


def best_consensus(
    X: Any, generators: Sequence[Any], method: Any, n_clusters: int | None, rng: np.random.Generator
) -> Consensus:
    """Return the consensus with the most isolated clusters.

    The partitions of each generator are fused, and those of all together. Clusters are isolated
    if few of the nearest neighbors of their samples are in other clusters, compared with random
    clusters of the same sizes.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        Features; dense for more than one generator.
    generators : sequence of transformers
        What makes the partitions, in the order in which ties are resolved.
    method : estimator
        Consensus method.
    n_clusters : int or None
        Number of clusters; None for a method that chooses it.
    rng : Generator
        Source of random numbers.
    """
    fitted = [prepare(each, n_clusters, rng, keep_n_clusters=True) for each in generators]
    tables = [each.fit_transform(X) for each in fitted]
    if len(fitted) == 1:
        return Consensus.of(fitted, tables, prepare(method, n_clusters, rng))
    every = range(len(fitted))
    rivals = [
        Consensus.of(
            [fitted[i] for i in own], [tables[i] for i in own], prepare(method, n_clusters, rng)
        )
        for own in (*([i] for i in every), every)
    ]
    rows = np.arange(X.shape[0])
    if len(rows) > _COMPARED_SAMPLES:
        rows = rng.choice(rows, _COMPARED_SAMPLES, replace=False)
    isolation = Evidence.isolation(X[rows]).of
    return max(rivals, key=lambda rival: isolation(rival.method.labels_[rows]))
