"""ECPCS: similarity of base clusters, propagated by random walks."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita.consensus._linkage import linkage_solution
from partita.consensus.base import BaseConsensus, MethodInfo, Size, Solution
from partita.consensus.constraints import N_CLUSTERS, N_INIT, POSITIVE_INT, RANDOM_STATE, StrOptions
from partita.ensemble import Ensemble, SoftEnsemble
from partita.matrices import cluster_similarity, enhanced_coassociation, incidence
from partita.matrices.soft_similarities import (
    soft_cluster_similarity,
    soft_enhanced_coassociation,
)
from partita.solvers.normalized_cuts import normalized_cut

__all__ = ["ECPCS"]


class ECPCS(BaseConsensus):
    """Ensemble clustering by propagating cluster-wise similarities (ECPCS-HC, ECPCS-MC).

    The base clusters are the nodes of a graph. A random walk steps from one to another in
    proportion to their Jaccard coefficient,

        P_cc' = J_cc' / Σ_d J_cd,  J_cc' = |c ∩ c'| / |c ∪ c'|.

    The similarity Z of two clusters is the cosine of their trajectories, the stacked rows of P, P²,
    ..., Pᵀ for T steps. Clusters that do not overlap, such as those of one partition, can so be
    similar. Labels are then assigned in one of two ways:

    - `assign_labels="hierarchical"`: the enhanced co-association of two samples is the mean, over
      partitions, of the similarity of their clusters, and is clustered by average linkage.
    - `assign_labels="meta"`: the base clusters are cut into `n_clusters` meta-clusters, and a
      sample goes to the meta-cluster with the largest share of clusters that contain it.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    assign_labels : {"hierarchical", "meta"}, default="hierarchical"
        How labels are assigned: ECPCS-HC or ECPCS-MC of the paper.
    n_steps : int, default=20
        Length T of the walks.
    n_init : int, default=20
        Restarts of the discretization that gives the meta-clusters. Used with
        `assign_labels="meta"` only.
    random_state : int, Generator, RandomState or None, default=None
        Random numbers of these restarts. With `assign_labels="hierarchical"` nothing is random.

    Attributes
    ----------
    meta_clusters_ : array of shape (n_base_clusters,)
        Meta-cluster of every base cluster of `Ensemble.compress()` (`assign_labels="meta"` only).
    tree_ : Tree
        Merges of distinct rows and their heights (`assign_labels="hierarchical"` only).

    Notes
    -----
    Cost O(n' m² + L³) for n' distinct rows and L base clusters, plus O(n'² m) for the hierarchical
    variant. Memory: about 24 L² bytes, or 30 L² + 9 n'² bytes for the hierarchical variant. The
    meta-cluster variant needs no n x n matrix. The part L³ is one eigendecomposition, and in the
    hierarchical variant, which needs the similarities within partitions only, 2 to 5 products where
    the walks mix fast: half of the time at L = 2400.

    Missing labels: overlaps of clusters and similarities of samples use the labels that exist. A
    sample votes with the clusters it has.

    Soft partitions: the Jaccard coefficients are those of memberships (N = Σ_x p_c(x) p_d(x), |c| =
    Σ_x p_c(x)), and a pair has the mean of Σ_cd p_c q_d z_cd.

    Deviations from the paper: not all powers of P are computed; the inner products of their rows
    come from eigenvectors of a symmetric matrix, and of the powers of what these leave out only
    those are computed that change a cosine by 1e-11 or more. The cut into meta-clusters is the best
    of `n_init` restarts instead of one. A sample with equal shares in two meta-clusters goes to the
    one that comes first in the compressed ensemble, whose order does not depend on the order of the
    data.

    References
    ----------
    D. Huang, C.-D. Wang, H. Peng, J. Lai, C.-K. Kwoh. Enhanced ensemble clustering via fast
    propagation of cluster-wise similarities. IEEE Transactions on Systems, Man, and Cybernetics:
    Systems 51(1), 2021. https://doi.org/10.1109/TSMC.2018.2876202

    Examples
    --------
    >>> from partita import ECPCS
    >>> partitions = [[0, 0, 0, 1, 1], [0, 0, 0, 1, 2], [5, 5, 7, 7, 7]]
    >>> ECPCS(n_clusters=2).fit_predict(partitions)
    array([0, 0, 0, 1, 1])
    >>> ECPCS(n_clusters=2, assign_labels="meta", random_state=0).fit_predict(partitions)
    array([0, 0, 0, 1, 1])
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="ecpcs",
        name="Ensemble clustering by propagating cluster-wise similarities",
        family="linkage",
        cite="huang2021",
        missing="pairwise",
        deterministic=False,
        soft=True,
        time="n' m² + L³ + n'² m",
        memory="n'² + L²",
        bytes_needed=lambda s: 9 * s.n_rows**2 + 30 * s.n_base_clusters**2,
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": N_CLUSTERS,
        "assign_labels": [StrOptions({"hierarchical", "meta"})],
        "n_steps": POSITIVE_INT,
        "n_init": N_INIT,
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        assign_labels: str = "hierarchical",
        n_steps: int = 20,
        n_init: int = 20,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.assign_labels = assign_labels
        self.n_steps = n_steps
        self.n_init = n_init
        self.random_state = random_state

    def bytes_needed(self, size: Size) -> int:
        if self.assign_labels == "hierarchical":
            return self.info.bytes_needed(size)
        labels_and_votes = size.n_rows * (24 * size.n_partitions + 16 * size.n_clusters)
        return labels_and_votes + 24 * size.n_base_clusters**2

    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> Solution:
        if self.assign_labels == "hierarchical":
            affinity = enhanced_coassociation(ensemble, n_steps=self.n_steps, expand=False)
            return linkage_solution(affinity, ensemble.weights, self.n_clusters)
        similarity = cluster_similarity(ensemble, self.n_steps)
        meta_clusters = normalized_cut(similarity, self.n_clusters, rng, n_init=self.n_init)
        shares = _shares(incidence(ensemble), meta_clusters)
        return Solution(np.argmax(shares, axis=1), learned={"meta_clusters_": meta_clusters})

    def _solve_soft(self, soft: SoftEnsemble, rng: np.random.Generator) -> Solution:
        if self.assign_labels == "hierarchical":
            affinity = soft_enhanced_coassociation(soft, self.n_steps)
            return linkage_solution(affinity, soft.weights, self.n_clusters)
        similarity = soft_cluster_similarity(soft, self.n_steps)
        meta_clusters = normalized_cut(similarity, self.n_clusters, rng, n_init=self.n_init)
        shares = _shares(soft.memberships, meta_clusters)
        return Solution(np.argmax(shares, axis=1), learned={"meta_clusters_": meta_clusters})


def _shares(B: Any, meta_clusters: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the share of each meta-cluster's clusters that contain a row, (n_rows, n_meta)."""
    member = np.zeros((len(meta_clusters), meta_clusters.max() + 1))
    member[np.arange(len(meta_clusters)), meta_clusters] = 1.0
    return np.asarray(B @ (member / member.sum(axis=0)))
