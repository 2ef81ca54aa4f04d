"""A new method in one file
========================

Write a new consensus method in one file, and run the tests that every method passes.

The class has a description, its parameters and `_solve`, which labels the rows of an ensemble. The
base class reads the input, treats missing labels, removes repeated rows, checks the memory, makes
the random numbers and numbers the clusters. CONTRIBUTING.md has the whole recipe.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from partita import BaseConsensus, Ensemble, MethodInfo, Solution, coassociation, compare
from partita.datasets import make_partitions
from partita.plotting import ComparisonDisplay
from partita.solvers import agglomerate
from partita.testing import check_consensus


class SharpenedLinkage(BaseConsensus):
    """Average linkage on a power of the co-association.

    A power above 1 reduces the influence of pairs that few partitions put together.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    power : float, default=2.0
        Exponent of the co-association.
    """

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
print("SharpenedLinkage passes all tests of a consensus method.\n")

partitions, y = make_partitions(200, 20, 4, noise=0.4)
comparison = compare(partitions, [SharpenedLinkage, "eac", "lwea"], n_clusters=4, y=y)
print(comparison)
display = ComparisonDisplay.from_comparison(comparison).plot()
