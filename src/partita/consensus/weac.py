"""WEAC: linkage on a co-association matrix weighted by crowd agreement."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from partita.consensus.base import BaseConsensus, MethodInfo, Solution
from partita.consensus.constraints import LINKAGE, N_CLUSTERS, NON_NEGATIVE
from partita.ensemble import Ensemble
from partita.matrices import crowd_weighted_coassociation
from partita.solvers.linkage import agglomerate

__all__ = ["WEAC"]


class WEAC(BaseConsensus):
    """Weighted evidence accumulation clustering.

    A partition that the others agree with is trusted more. Its crowd agreement NCAI is the mean
    normalized mutual information with the others, relative to the best partition, and

        WCA_pq = Σ_i w_i [partition i joins p and q] / Σ_i w_i,  w = NCAI^beta,

    is clustered hierarchically.

    Parameters
    ----------
    n_clusters : int
    linkage : {"average", "complete", "single"}
        The paper's WEAC-AL, WEAC-CL and WEAC-SL.
    beta : float
        How hard disagreement with the crowd is punished; 0 gives `EAC`.

    Attributes
    ----------
    tree_ : Tree
        Merges over distinct rows and their heights.

    Notes
    -----
    Cost O(n' m² + n'² m); 8 n'² bytes for n' distinct rows, twice that with missing labels. Samples
    with equal labels are at distance 0, so that solving on weighted distinct rows is exact.

    Missing labels: two partitions are compared on the samples both label, two samples by the
    partitions that label both.

    Deviation from the paper: the cut performs the first n' - K merges and so always yields K
    clusters. Mutual information is divided by the larger entropy, as in the authors' program.

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
        distances = crowd_weighted_coassociation(ensemble, beta=self.beta, expand=False)
        np.subtract(1.0, distances, out=distances)
        tree = agglomerate(distances, ensemble.weights, self.linkage, overwrite=True)
        return Solution(tree.cut(self.n_clusters), learned={"tree_": tree})
