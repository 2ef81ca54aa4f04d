"""WEAC: linkage on a co-association matrix weighted by crowd agreement."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from partita.consensus._linkage import linkage_solution
from partita.consensus.base import BaseConsensus, MethodInfo, Solution
from partita.consensus.constraints import LINKAGE, N_CLUSTERS, NON_NEGATIVE
from partita.ensemble import Ensemble, SoftEnsemble
from partita.matrices import crowd_weighted_coassociation
from partita.matrices.soft_similarities import soft_crowd_weighted_coassociation

__all__ = ["WEAC"]


class WEAC(BaseConsensus):
    """Weighted evidence accumulation clustering.

    A partition with which the others agree has a larger weight. The normalized crowd agreement
    index NCAI of a partition is its mean normalized mutual information with the others, divided by
    the largest such mean. Hierarchical clustering is done with the distance 1 - WCA, where

        WCA_pq = Σ_i w_i [partition i joins p and q] / Σ_i w_i,  w = NCAI^beta.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    linkage : {"average", "complete", "single"}, default="average"
        Distance of two clusters: WEAC-AL, WEAC-CL and WEAC-SL of the paper.
    beta : float, default=2.0
        Influence of the crowd agreement on the weights; with 0 all partitions have equal weight, as
        in `EAC`.

    Attributes
    ----------
    tree_ : Tree
        Merges of distinct rows and their heights.

    Notes
    -----
    Cost O(n' m² + n'² m) for n' distinct rows; 8 n'² bytes, twice that with missing labels. Samples
    with equal labels have distance 0, so that solving on weighted distinct rows is exact.

    Missing labels: two partitions are compared on the samples that both label, two samples on the
    partitions that label both.

    Soft partitions: the agreement of two partitions is that of labels drawn by their memberships.

    Deviations from the paper: the cut performs the first n' - K merges and therefore always returns
    K clusters. Mutual information is divided by the larger entropy, as in the authors' program.

    References
    ----------
    D. Huang, J.-H. Lai, C.-D. Wang. Combining multiple clusterings via crowd agreement estimation
    and multi-granularity link analysis. Neurocomputing 170, 2015.
    https://doi.org/10.1016/j.neucom.2014.05.094

    Examples
    --------
    >>> from partita import WEAC
    >>> WEAC(n_clusters=2).fit_predict([[0, 0, 1, 1], [0, 0, 1, 2], [5, 5, 5, 7]])
    array([0, 0, 1, 1])
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="weac",
        name="Weighted evidence accumulation clustering",
        family="linkage",
        cite="huang2015",
        missing="pairwise",
        deterministic=True,
        soft=True,
        time="n' m² + n'² m",
        memory="n'²",
        bytes_needed=lambda s: 18 * s.n_rows**2,
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": N_CLUSTERS,
        "linkage": LINKAGE,
        "beta": NON_NEGATIVE,
    }

    def __init__(self, n_clusters: int = 8, *, linkage: str = "average", beta: float = 2.0) -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.beta = beta

    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> Solution:
        similarity = crowd_weighted_coassociation(ensemble, beta=self.beta, expand=False)
        return linkage_solution(similarity, ensemble.weights, self.n_clusters, self.linkage)

    def _solve_soft(self, soft: SoftEnsemble, rng: np.random.Generator) -> Solution:
        similarity = soft_crowd_weighted_coassociation(soft, self.beta)
        return linkage_solution(similarity, soft.weights, self.n_clusters, self.linkage)
