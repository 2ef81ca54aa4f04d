"""GP-MGLA: cut of a graph of samples and clusters, with links between clusters."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from partita.consensus.base import BaseConsensus, MethodInfo, Solution
from partita.consensus.constraints import N_CLUSTERS, N_INIT, NON_NEGATIVE, POSITIVE, RANDOM_STATE
from partita.ensemble import Ensemble
from partita.matrices import connected_triples, crowd_agreement, incidence
from partita.solvers import transfer_cut

__all__ = ["GPMGLA"]


class GPMGLA(BaseConsensus):
    """Graph partitioning with multi-granularity link analysis (GP-MGLA).

    Partitions, clusters and samples all have a say. A partition weighs w = NCAI^beta, by how far
    the others agree with it (see `WEAC`). A sample is tied to its clusters by alpha w, and clusters
    are tied to each other by what they overlap in common,

        SACT_cd ∝ Σ_k w_p(k) min(J_ck, J_kd),

    over the clusters k of all partitions p(k), with J the Jaccard coefficients. The graph of
    samples and clusters is cut by transferring the problem to the side of the clusters.

    Parameters
    ----------
    n_clusters : int
    alpha : float
        Weight of the ties between samples and clusters against those among clusters.
    beta : float
        How hard disagreement with the crowd is punished.
    n_init : int
        Restarts of the final k-means.
    random_state : int, Generator, RandomState or None

    Attributes
    ----------
    objective_ : float
        Inertia of the final k-means.

    Notes
    -----
    Cost O(n' m² + L³) for n' distinct rows and L clusters in all; about 50 L² bytes and no n x n
    array. Solving on weighted distinct rows is exact.

    Missing labels: partitions are compared on the samples both label, overlaps of clusters are
    taken over the labels that are there, and there is no tie where there is no label.

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
    >>> labels = [[0, 0, 1, 1], [0, 0, 1, 2], [5, 5, 5, 7]]
    >>> GPMGLA(n_clusters=2, random_state=0).fit_predict(labels)
    array([0, 0, 1, 1])
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="gpmgla",
        name="Graph partitioning with multi-granularity link analysis",
        family="graph",
        cite="huang2015",
        missing="native",
        deterministic=False,
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
        weight = crowd_agreement(ensemble) ** self.beta
        labels, inertia = transfer_cut(
            incidence(ensemble, self.alpha * np.repeat(weight, ensemble.n_clusters)),
            ensemble.weights,
            self.n_clusters,
            rng,
            n_init=self.n_init,
            links=connected_triples(ensemble, weight),
        )
        return Solution(labels, objective=inertia)
