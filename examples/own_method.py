"""A consensus method of one's own in one file, and the battery that every method passes.

It says what it is, which parameters it takes and how it labels rows. Input of every kind, missing
labels, weights, memory, seeds and the numbering of clusters are the base class's work.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

import partita
from partita.consensus import BaseConsensus, MethodInfo, Solution
from partita.datasets import make_partitions
from partita.ensemble import Ensemble
from partita.matrices import coassociation
from partita.solvers import agglomerate
from partita.testing import check_consensus


class SharpenedLinkage(BaseConsensus):
    """Average linkage on co-association raised to a power: rare agreement counts for less."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="sharpenedlinkage",
        name="Linkage on sharpened co-association",
        family="linkage",
        cite="fred2005",
        missing="pairwise",
        deterministic=True,
        time="n'^2 m",
        memory="n'^2",
        bytes_needed=lambda size: 24 * size.n_rows**2,
    )

    def __init__(self, n_clusters: int = 8, *, power: float = 2.0) -> None:
        self.n_clusters = n_clusters
        self.power = power

    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> Solution:
        similarity: Any = coassociation(ensemble, expand=False) ** self.power
        tree = agglomerate(1.0 - similarity, ensemble.weights, "average")
        return Solution(tree.cut(self.n_clusters))


check_consensus(SharpenedLinkage())
print("the battery passes")

labels, truth = make_partitions(200, 20, 4, noise=0.4)
print(partita.compare(labels, [SharpenedLinkage, "eac", "lwea"], n_clusters=4, y=truth))
