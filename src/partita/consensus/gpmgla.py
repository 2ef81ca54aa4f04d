"""GP-MGLA: cut of a graph of samples and base clusters, with edges between base clusters."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from partita.consensus.base import BaseConsensus, MethodInfo, Solution
from partita.consensus.constraints import N_CLUSTERS, N_INIT, NON_NEGATIVE, POSITIVE, RANDOM_STATE
from partita.ensemble import Ensemble, SoftEnsemble
from partita.matrices import connected_triples, crowd_agreement, incidence
from partita.matrices.soft_similarities import soft_connected_triples, soft_crowd_agreement
from partita.solvers import transfer_cut

__all__ = ["GPMGLA"]


class GPMGLA(BaseConsensus):
    """Graph partitioning with multi-granularity link analysis (GP-MGLA).

    The graph of samples and base clusters uses information on partitions, clusters and samples. A
    partition has the weight w = NCAI^beta, which is large if the others agree with it (see `WEAC`).
    The edge between a sample and each of its clusters is alpha w. The edge between two base
    clusters is large if both overlap the same clusters,

        SACT_cd ∝ Σ_k w_p(k) min(J_ck, J_kd),

    over the clusters k of all partitions p(k), with the Jaccard coefficients J. The graph is cut by
    a transfer cut: the eigenproblem is solved on the side of the clusters.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    alpha : float, default=0.5
        Weight of the edges between samples and clusters, relative to those between clusters.
    beta : float, default=2.0
        Influence of the crowd agreement on the weights; with 0 all partitions have equal weight.
    n_init : int, default=10
        Restarts of the final k-means; the smallest inertia wins.
    random_state : int, Generator, RandomState or None, default=None
        Random numbers of k-means. An int gives the same result in every call.

    Attributes
    ----------
    objective_ : float
        Inertia of the final k-means.

    Notes
    -----
    Cost O(n' m² + L³) for n' distinct rows and L base clusters; about 50 L² bytes and no n x n
    array. Solving on weighted distinct rows is exact.

    Missing labels: partitions are compared on the samples that both label, overlaps of clusters use
    the labels that exist, and a missing label is a missing edge.

    Soft partitions: memberships are the weights of the edges; agreement and Jaccard coefficients
    are those of labels drawn by their memberships.

    Deviations from the paper: 10 restarts of k-means instead of 3. Mutual information is divided by
    the larger entropy, as in the authors' program.

    References
    ----------
    D. Huang, J.-H. Lai, C.-D. Wang. Combining multiple clusterings via crowd agreement estimation
    and multi-granularity link analysis. Neurocomputing 170, 2015.
    https://doi.org/10.1016/j.neucom.2014.05.094

    Examples
    --------
    >>> from partita import GPMGLA
    >>> partitions = [[0, 0, 1, 1], [0, 0, 1, 2], [5, 5, 5, 7]]
    >>> GPMGLA(n_clusters=2, random_state=0).fit_predict(partitions)
    array([0, 0, 1, 1])
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="gpmgla",
        name="Graph partitioning with multi-granularity link analysis",
        family="graph",
        cite="huang2015",
        missing="native",
        deterministic=False,
        soft=True,
        time="n' m² + L³",
        memory="n' (m + K) + L²",
        bytes_needed=lambda s: (
            s.n_rows * (48 * s.n_partitions + 24 * s.n_clusters) + 50 * s.n_base_clusters**2
        ),
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": N_CLUSTERS,
        "alpha": POSITIVE,
        "beta": NON_NEGATIVE,
        "n_init": N_INIT,
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        alpha: float = 0.5,
        beta: float = 2.0,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.beta = beta
        self.n_init = n_init
        self.random_state = random_state

    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> Solution:
        partition_weights = crowd_agreement(ensemble) ** self.beta
        labels, inertia = transfer_cut(
            incidence(ensemble, self.alpha * np.repeat(partition_weights, ensemble.n_clusters)),
            ensemble.weights,
            self.n_clusters,
            rng,
            n_init=self.n_init,
            links=connected_triples(ensemble, partition_weights),
        )
        return Solution(labels, objective=inertia)

    def _solve_soft(self, soft: SoftEnsemble, rng: np.random.Generator) -> Solution:
        partition_weights = soft_crowd_agreement(soft) ** self.beta
        labels, inertia = transfer_cut(
            soft.memberships * (self.alpha * np.repeat(partition_weights, np.diff(soft.offsets))),
            soft.weights,
            self.n_clusters,
            rng,
            n_init=self.n_init,
            links=soft_connected_triples(soft, partition_weights),
        )
        return Solution(labels, objective=inertia)
