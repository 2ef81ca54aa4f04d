"""PTA: linkage on the similarity of probability trajectories."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from partita.consensus.base import BaseConsensus, MethodInfo, Solution
from partita.consensus.constraints import LINKAGE, N_CLUSTERS, POSITIVE_INT
from partita.ensemble import Ensemble
from partita.matrices import trajectory_similarity
from partita.solvers.linkage import agglomerate

__all__ = ["PTA"]


class PTA(BaseConsensus):
    """Probability trajectory accumulation.

    Samples with equal labels form a micro-cluster. Every micro-cluster keeps only its elite
    neighbors, the strongest by co-association S, and a walker on that graph steps from a to b with
    a probability that grows with the size r of the goal,

        P_ab = S_ab r_b / Σ_c S_ac r_c.

    Two micro-clusters are similar if the walks of 1 to T steps from them visit the same places:
    PTS is the cosine between the stacked rows of P, P², ..., Pᵀ. Hierarchical clustering is done
    on 1 - PTS. Weak, unreliable agreements are gone, and chains of strong ones count.

    Parameters
    ----------
    n_clusters : int
    linkage : {"average", "complete", "single"}
        The paper's PTA-AL, PTA-CL and PTA-SL.
    n_neighbors, n_steps : int, optional
        Elite neighbors and walk length; min(floor(sqrt(n') / 2), 20), at least 1, by default,
        for n' micro-clusters. With a dozen micro-clusters or fewer that is a single step to a
        single neighbor, and most walks never meet: set both.

    Attributes
    ----------
    tree_ : Tree
        Merges over micro-clusters and their heights.

    Notes
    -----
    Cost O(n'² m + n'³) for n' micro-clusters, one eigendecomposition; about 60 n'² bytes.

    A micro-cluster counts as one in the linkage, whatever its size, as in the paper: sizes enter
    the walk only. Missing labels: similarities over the partitions that label both samples.
    Neighbors that tie with the weakest elite neighbor are kept too. A micro-cluster that agrees
    with no other is as far from everything as can be.

    Deviations from the paper: the powers of P are not formed, their inner products come from the
    eigenvectors of a symmetric matrix; similarities below 1e-13 are 0, so that walks that never
    meet tie exactly.

    References
    ----------
    D. Huang, J.-H. Lai, C.-D. Wang. Robust ensemble clustering using probability trajectories. IEEE
    TKDE 28(5), 2016. https://doi.org/10.1109/TKDE.2015.2503753

    Examples
    --------
    >>> from partita import PTA
    >>> labels = [[0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1, 1, 1]]
    >>> labels += [[0, 0, 1, 1, 2, 2, 3, 3], [0, 1, 0, 1, 2, 2, 2, 3]]
    >>> PTA(n_clusters=2, n_neighbors=2, n_steps=2).fit_predict(labels)
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="pta",
        name="Probability trajectory accumulation",
        family="linkage",
        cite="huang2016",
        missing="pairwise",
        deterministic=True,
        time="n'³",
        memory="n'²",
        bytes_needed=lambda s: 60 * s.n_rows**2,
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
        distances = trajectory_similarity(
            ensemble, n_neighbors=self.n_neighbors, n_steps=self.n_steps, expand=False
        )
        np.subtract(1.0, distances, out=distances)
        # without weights: the paper's agglomeration starts from micro-clusters of size 1
        tree = agglomerate(distances, linkage=self.linkage, overwrite=True)
        return Solution(tree.cut(self.n_clusters), learned={"tree_": tree})
