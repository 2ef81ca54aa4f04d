"""PTA: linkage on the similarity of probability trajectories."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from partita.consensus._linkage import linkage_solution
from partita.consensus.base import BaseConsensus, MethodInfo, Solution
from partita.consensus.constraints import LINKAGE, N_CLUSTERS, POSITIVE_INT
from partita.ensemble import Ensemble, SoftEnsemble
from partita.matrices import trajectory_similarity
from partita.matrices.trajectories import MANY_NEIGHBORS, soft_trajectory_similarity

__all__ = ["PTA"]


class PTA(BaseConsensus):
    """Probability trajectory accumulation.

    Samples with equal labels form a micro-cluster. In the graph of micro-clusters each keeps the
    edges to its elite neighbors only, those with the largest co-association S. A random walk steps
    from micro-cluster a to b in proportion to their co-association and to the size r of b,

        P_ab = S_ab r_b / Σ_c S_ac r_c.

    The similarity PTS of two micro-clusters is the cosine of their trajectories, the stacked rows
    of P, P², ..., Pᵀ for T steps. Hierarchical clustering is done with the distance 1 - PTS. Weak
    agreements, which are unreliable, are removed, and chains of strong agreements count.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    linkage : {"average", "complete", "single"}, default="average"
        Distance of two clusters: PTA-AL, PTA-CL and PTA-SL of the paper.
    n_neighbors : int, optional
        Number of elite neighbors of a micro-cluster. The default for n' micro-clusters is
        min(floor(sqrt(n') / 2), 20), at least 1. With a dozen micro-clusters or fewer this is 1,
        most walks never meet, and `n_neighbors` and `n_steps` should be set.
    n_steps : int, optional
        Length T of the walks, with the same default.

    Attributes
    ----------
    tree_ : Tree
        Merges of micro-clusters and their heights.

    Notes
    -----
    Cost O(n'² (m + e T)) for n' micro-clusters with e elite neighbors on average, and about 9 n'² +
    23,000 n' bytes: the products of the walks use the elite neighbors only. If the walks mix fast,
    64 eigenvectors describe the late steps, and products are needed for p early steps only. These
    2 p e n'² multiplications bound the speed: 3e10 at n' = 5000 with 20 partitions (e = 52, p = 11
    of T = 20), about 4 to 7 s of one core. Up to 500 micro-clusters, or if ties give each so many
    neighbors that this would cost more, one eigendecomposition is used instead, in O(n'³) time and
    36 n'² bytes. Twenty partitions have so many ties up to about 2000 micro-clusters; the memory
    that a plan states is for them.

    As in the paper, every micro-cluster counts as one in the linkage; sizes enter the walk only.
    Neighbors that tie with the weakest elite neighbor are kept too. A micro-cluster that agrees
    with no other has the largest possible distance to all others.

    The walks have no step from a micro-cluster to itself. Two neighbors that are linked mostly to
    each other are therefore at different places after every step, and their similarity is near 0,
    while two neighbors of a third one have a large similarity. Many elite neighbors hide this; few
    micro-clusters show it. In the example of seven objects of Strehl and Ghosh, `PTA` joins
    objects 4, 6 and 7, all neighbors of object 5, for any `n_neighbors`, where most other methods
    return {4, 5} and {6, 7}.

    Missing labels: the co-association of a pair uses the partitions that label both samples.

    Soft partitions: the elite neighbors are those with the largest expected co-association.

    Deviations from the paper: the powers of P are not stored; their inner products are summed by
    Horner's rule, or come from the eigenvectors of a symmetric matrix. Where few eigenvectors
    describe the late steps, a similarity changes by at most 1e-10. Similarities below 1e-13 are set
    to 0, so that walks that never meet tie exactly.

    References
    ----------
    D. Huang, J.-H. Lai, C.-D. Wang. Robust ensemble clustering using probability trajectories. IEEE
    TKDE 28(5), 2016. https://doi.org/10.1109/TKDE.2015.2503753

    Examples
    --------
    >>> from partita import PTA
    >>> partitions = [[0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1, 1, 1]]
    >>> partitions += [[0, 0, 1, 1, 2, 2, 3, 3], [0, 1, 0, 1, 2, 2, 2, 3]]
    >>> PTA(n_clusters=2, n_neighbors=2, n_steps=2).fit_predict(partitions)
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="pta",
        name="Probability trajectory accumulation",
        family="linkage",
        cite="huang2016",
        missing="pairwise",
        deterministic=True,
        soft=True,
        time="n'² (m + e T)",
        memory="n'²",
        bytes_needed=lambda s: max(
            36 * min(s.n_rows, MANY_NEIGHBORS) ** 2, 9 * s.n_rows**2 + 23_000 * s.n_rows
        ),
        weighted=False,
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": N_CLUSTERS,
        "linkage": LINKAGE,
        "n_neighbors": [*POSITIVE_INT, None],
        "n_steps": [*POSITIVE_INT, None],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        linkage: str = "average",
        n_neighbors: int | None = None,
        n_steps: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.n_neighbors = n_neighbors
        self.n_steps = n_steps

    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> Solution:
        similarity = trajectory_similarity(
            ensemble, n_neighbors=self.n_neighbors, n_steps=self.n_steps, expand=False
        )
        # without weights: the agglomeration of the paper starts from micro-clusters of size 1
        return linkage_solution(similarity, None, self.n_clusters, self.linkage)

    def _solve_soft(self, soft: SoftEnsemble, rng: np.random.Generator) -> Solution:
        similarity = soft_trajectory_similarity(
            soft, n_neighbors=self.n_neighbors, n_steps=self.n_steps
        )
        return linkage_solution(similarity, None, self.n_clusters, self.linkage)
