"""EAC: linkage on the co-association matrix."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from partita.consensus.base import BaseConsensus, MethodInfo, Solution
from partita.consensus.constraints import LINKAGE, N_CLUSTERS
from partita.ensemble import Ensemble, SoftEnsemble
from partita.matrices import agreement_counts, coassociation
from partita.matrices.soft import soft_coassociation
from partita.solvers.linkage import Tree, agglomerate, spanning_tree

__all__ = ["EAC"]


class EAC(BaseConsensus):
    """Evidence accumulation clustering.

    Every partition is evidence that the pairs it joins belong together. Hierarchical clustering
    with the distance

        d(p, q) = 1 - CA_pq,  CA_pq = (partitions that join p and q) / (partitions that label both),

    gives a tree, which is cut at `n_clusters` or at the partition with the longest lifetime. Some
    papers call the method HCC.

    Parameters
    ----------
    n_clusters : int or None, default=8
        Number of clusters. None chooses the partition with the longest lifetime, that is, the
        largest range of heights at which the tree can be cut to obtain it.
    linkage : {"average", "single", "complete"}, default="average"
        Distance of two clusters. Co-association has many ties, and complete linkage depends on how
        they are broken; average linkage does so least.

    Attributes
    ----------
    tree_ : Tree
        Merges of distinct rows and their heights.

    Notes
    -----
    Cost O(n'² m) for n' distinct rows; 4 n'² bytes without missing labels. Single linkage without
    missing labels needs no matrix.

    Missing labels: a pair is compared on the partitions that label both samples.

    Soft partitions: co-association is the expected share of partitions with a common label, P Pᵀ
    / m, with memberships P.

    Deviations from the paper: agreements are counted as integers, so that equal distances are
    exactly equal. The cut performs the first n' - K merges and therefore always returns K clusters.

    References
    ----------
    A. Fred, A. Jain. Combining multiple clusterings using evidence accumulation. IEEE TPAMI 27(6),
    2005. https://doi.org/10.1109/TPAMI.2005.113

    Examples
    --------
    >>> from partita import EAC
    >>> EAC(n_clusters=2).fit_predict([[0, 0, 1, 1], [5, 5, 7, 7], [0, 1, 1, 1]])
    array([0, 0, 1, 1])
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="eac",
        name="Evidence accumulation clustering",
        family="linkage",
        cite="fred2005",
        missing="pairwise",
        deterministic=True,
        soft=True,
        time="n'² m",
        memory="n'²",
        bytes_needed=lambda s: 8 * s.n_rows**2,
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [*N_CLUSTERS, None],
        "linkage": LINKAGE,
    }

    def __init__(self, n_clusters: int | None = 8, *, linkage: str = "average") -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage

    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> Solution:
        tree = self._tree(ensemble)
        n_clusters = self.n_clusters or tree.longest_lived(ensemble.n_samples)
        return Solution(tree.cut(n_clusters), learned={"tree_": tree})

    def _solve_soft(self, soft: SoftEnsemble, rng: np.random.Generator) -> Solution:
        similarity = soft_coassociation(soft)
        distances = np.subtract(1.0, similarity, out=similarity)
        tree = agglomerate(distances, soft.weights, self.linkage, overwrite=True)
        n_clusters = self.n_clusters or tree.longest_lived(soft.n_samples)
        return Solution(tree.cut(n_clusters), learned={"tree_": tree})

    def _tree(self, ensemble: Ensemble) -> Tree:
        m = ensemble.n_partitions
        if ensemble.n_missing:
            distances = 1.0 - coassociation(ensemble, expand=False)
            return agglomerate(distances, ensemble.weights, self.linkage, overwrite=True)
        if self.linkage == "single":
            tree = spanning_tree(ensemble.codes, ensemble.missing_code)
        else:
            disagreements = agreement_counts(ensemble, np.uint32)
            np.subtract(np.uint32(m), disagreements, out=disagreements)
            tree = agglomerate(disagreements, ensemble.weights, self.linkage, overwrite=True)
        return Tree(tree.left, tree.right, tree.height / m)
