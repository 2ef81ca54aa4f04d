"""LWEA: linkage on the locally weighted co-association matrix."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from partita.consensus._linkage import linkage_solution
from partita.consensus.base import BaseConsensus, MethodInfo, Solution
from partita.consensus.constraints import LINKAGE, N_CLUSTERS, POSITIVE
from partita.ensemble import Ensemble, SoftEnsemble
from partita.matrices import locally_weighted_coassociation
from partita.matrices.soft import soft_locally_weighted_coassociation

__all__ = ["LWEA"]


class LWEA(BaseConsensus):
    """Locally weighted evidence accumulation.

    Every base cluster has a weight of its own. A cluster c that the other partitions split has a
    high entropy H(c) and a low weight,

        ECI_c = exp(-H(c) / (theta m)),  LWCA = B diag(ECI) Bᵀ / m,

    and hierarchical clustering is done with the distance 1 - LWCA.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    theta : float, default=0.4
        Influence of the entropy: the smaller, the lower the weight of uncertain clusters. The paper
        recommends 0.2 to 1.
    linkage : {"average", "single", "complete"}, default="average"
        Distance of two clusters.

    Attributes
    ----------
    tree_ : Tree
        Merges of distinct rows and their heights.

    Notes
    -----
    Cost O(n m² + n'² m) for n' distinct rows; 8 n'² bytes.

    Missing labels: the entropy with respect to a partition uses the members of the cluster that the
    partition labels. The similarity of a pair uses the partitions that label both samples.

    Soft partitions: overlaps of clusters are Σ_x p_c(x) p_d(x), and LWCA = P diag(ECI) Pᵀ / m.

    Deviation from the paper: samples with equal labels are one weighted row from the start. In the
    paper they merge first, at a height above 0, which gives the same tree unless the cut falls
    inside such a group.

    References
    ----------
    D. Huang, C.-D. Wang, J.-H. Lai. Locally weighted ensemble clustering. IEEE Transactions on
    Cybernetics 48(5), 2018. https://doi.org/10.1109/TCYB.2017.2702343

    Examples
    --------
    >>> from partita import LWEA
    >>> LWEA(n_clusters=2).fit_predict([[0, 0, 1, 1], [5, 5, 7, 7], [0, 1, 1, 1]])
    array([0, 0, 1, 1])
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="lwea",
        name="Locally weighted evidence accumulation",
        family="linkage",
        cite="huang2018",
        missing="pairwise",
        deterministic=True,
        soft=True,
        time="n m² + n'² m",
        memory="n'²",
        bytes_needed=lambda s: 8 * s.n_rows**2,
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": N_CLUSTERS,
        "theta": POSITIVE,
        "linkage": LINKAGE,
    }

    def __init__(
        self, n_clusters: int = 8, *, theta: float = 0.4, linkage: str = "average"
    ) -> None:
        self.n_clusters = n_clusters
        self.theta = theta
        self.linkage = linkage

    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> Solution:
        similarity = locally_weighted_coassociation(ensemble, theta=self.theta, expand=False)
        return linkage_solution(similarity, ensemble.weights, self.n_clusters, self.linkage)

    def _solve_soft(self, soft: SoftEnsemble, rng: np.random.Generator) -> Solution:
        similarity = soft_locally_weighted_coassociation(soft, self.theta)
        return linkage_solution(similarity, soft.weights, self.n_clusters, self.linkage)
