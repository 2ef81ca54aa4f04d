"""LWEA: linkage on the locally weighted co-association matrix."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from partita.consensus.base import BaseConsensus, MethodInfo, Solution
from partita.consensus.constraints import LINKAGE, N_CLUSTERS, POSITIVE
from partita.ensemble import Ensemble
from partita.matrices import locally_weighted_coassociation
from partita.solvers.linkage import agglomerate

__all__ = ["LWEA"]


class LWEA(BaseConsensus):
    """Locally weighted evidence accumulation.

    Clusters, not partitions, are trusted or not: a cluster that the other partitions scatter has
    high entropy H(c) and counts little,

        ECI_c = exp(-H(c) / (theta m)),  LWCA = B diag(ECI) Bᵀ / m,

    and hierarchical clustering is done on 1 - LWCA.

    Parameters
    ----------
    n_clusters : int
    theta : float
        How gently uncertainty is punished; the paper advises 0.2 to 1.
    linkage : {"average", "single", "complete"}

    Attributes
    ----------
    tree_ : Tree
        Merges over distinct rows and their heights.

    Notes
    -----
    Cost O(n m² + n'² m); 8 n'² bytes. Deviation from the paper: samples with equal labels are one
    weighted row from the start (in the paper they merge first, at a height above 0, which is the
    same tree unless the cut falls inside such a group). Missing labels: entropies over the members
    a partition labels, similarities over the partitions that label both samples.

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
        distances = locally_weighted_coassociation(ensemble, theta=self.theta, expand=False)
        np.subtract(1.0, distances, out=distances)
        tree = agglomerate(distances, ensemble.weights, self.linkage, overwrite=True)
        return Solution(tree.cut(self.n_clusters), learned={"tree_": tree})
