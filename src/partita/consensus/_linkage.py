"""Hierarchical clustering of a similarity matrix, shared by the linkage methods."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.consensus.base import Solution
from partita.solvers.linkage import agglomerate

__all__ = ["linkage_solution"]


def linkage_solution(
    similarity: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    n_clusters: int,
    linkage: str = "average",
) -> Solution:
    """Agglomerate rows by 1 - similarity and cut the tree into `n_clusters` clusters.

    The memory of `similarity` is reused. The tree becomes the fitted attribute `tree_`.
    """
    distances = np.subtract(1.0, similarity, out=similarity)
    tree = agglomerate(distances, weights, linkage, overwrite=True)
    return Solution(tree.cut(n_clusters), learned={"tree_": tree})
