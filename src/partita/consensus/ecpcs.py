"""ECPCS: similarity of clusters, propagated by random walks."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita.consensus.base import BaseConsensus, MethodInfo, Size, Solution
from partita.consensus.constraints import N_CLUSTERS, N_INIT, POSITIVE_INT, RANDOM_STATE, StrOptions
from partita.ensemble import Ensemble
from partita.matrices import cluster_similarity, enhanced_coassociation, incidence
from partita.solvers.linkage import agglomerate
from partita.solvers.normalized_cuts import normalized_cut

__all__ = ["ECPCS"]


class ECPCS(BaseConsensus):
    """Ensemble clustering by propagating cluster-wise similarities (ECPCS-HC, ECPCS-MC).

    The clusters of all partitions are the nodes of a graph; a walker steps from one to another in
    proportion to their Jaccard coefficient,

        P_cc' = J_cc' / Σ_d J_cd,  J_cc' = |c ∩ c'| / |c ∪ c'|,

    and two clusters are similar (Z) if the walks of 1 to T steps from them visit the same places:
    the cosine between the stacked rows of P, P², ..., Pᵀ. Clusters that never overlap, such as
    those of one partition, may so turn out similar. Then either

    - `assign_labels="hierarchical"`: the enhanced co-association of two samples is the mean, over
      partitions, of the similarity of their clusters, and average linkage is done on it; or
    - `assign_labels="meta"`: the clusters are cut into `n_clusters` meta-clusters, and a sample
      goes to the one with the largest share of clusters that contain it.

    Parameters
    ----------
    n_clusters : int
    assign_labels : {"hierarchical", "meta"}
        The paper's ECPCS-HC or ECPCS-MC.
    n_steps : int
        Length T of the walks.
    n_init : int
        Starts of the discretization that yields the meta-clusters (`assign_labels="meta"` only).
    random_state : int, Generator, RandomState or None
        For these starts; with `assign_labels="hierarchical"` nothing is random.

    Attributes
    ----------
    meta_clusters_ : array of shape (n_base_clusters,)
        The meta-cluster of every cluster of `Ensemble.compress()` (`assign_labels="meta"` only).
    tree_ : Tree
        Merges over distinct rows and their heights (`assign_labels="hierarchical"` only).

    Notes
    -----
    Cost O(n' m² + L³) for n' distinct rows and L clusters in all, and for the hierarchical variant
    O(n'² m). Memory: about 50 L² bytes, and 8 to 20 n'² more for the hierarchical variant; the
    meta-cluster variant needs no n x n matrix.

    Missing labels: overlaps of clusters and similarities of samples are taken over the labels that
    are there; a sample votes with the clusters it has.

    Deviations from the paper: the powers of P are not formed, their inner products come from the
    eigenvectors of a symmetric matrix; the cut into meta-clusters takes the best of `n_init` starts
    instead of one; a sample that two meta-clusters claim equally goes to the one that comes first
    in the compressed ensemble, whatever the order of the data.

    References
    ----------
    D. Huang, C.-D. Wang, H. Peng, J. Lai, C.-K. Kwoh. Enhanced ensemble clustering via fast
    propagation of cluster-wise similarities. IEEE Transactions on Systems, Man, and Cybernetics:
    Systems 51(1), 2021. https://doi.org/10.1109/TSMC.2018.2876202

    Examples
    --------
    >>> from partita import ECPCS
    >>> labels = [[0, 0, 0, 1, 1], [0, 0, 0, 1, 2], [5, 5, 7, 7, 7]]
    >>> ECPCS(n_clusters=2).fit_predict(labels)
    array([0, 0, 0, 1, 1])
    >>> ECPCS(n_clusters=2, assign_labels="meta", random_state=0).fit_predict(labels)
    array([0, 0, 0, 1, 1])
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="ecpcs",
        name="Ensemble clustering by propagating cluster-wise similarities",
        family="linkage",
        cite="huang2021",
        missing="pairwise",
        deterministic=False,
        time="n' m² + L³ + n'² m",
        memory="n'² + L²",
        bytes_needed=lambda s: 20 * s.n_rows**2 + 56 * s.n_base_clusters**2,
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
        return labels_and_votes + 56 * size.n_base_clusters**2

    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> Solution:
        if self.assign_labels == "hierarchical":
            distances = enhanced_coassociation(ensemble, n_steps=self.n_steps, expand=False)
            np.subtract(1.0, distances, out=distances)
            tree = agglomerate(distances, ensemble.weights, "average", overwrite=True)
            return Solution(tree.cut(self.n_clusters), learned={"tree_": tree})
        similarity = cluster_similarity(ensemble, self.n_steps)
        meta = normalized_cut(similarity, self.n_clusters, rng, n_init=self.n_init)
        votes = _votes(ensemble, meta)
        return Solution(np.argmax(votes, axis=1), learned={"meta_clusters_": meta})


def _votes(ensemble: Ensemble, meta: NDArray[np.int64]) -> NDArray[np.float64]:
    """Share of every meta-cluster's clusters that contain a row, shape (n_rows, n_meta)."""
    member = np.zeros((len(meta), meta.max() + 1))
    member[np.arange(len(meta)), meta] = 1.0
    return np.asarray(incidence(ensemble) @ (member / member.sum(axis=0)))
