"""PTGP: cut of the graph of micro-clusters and clusters under probability trajectories."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita.consensus.base import BaseConsensus, MethodInfo, Solution
from partita.consensus.constraints import N_CLUSTERS, N_INIT, POSITIVE_INT, RANDOM_STATE
from partita.ensemble import Ensemble
from partita.matrices import incidence, trajectory_similarity
from partita.solvers import transfer_cut

__all__ = ["PTGP"]


class PTGP(BaseConsensus):
    """Probability trajectory based graph partitioning.

    Samples with equal labels form a micro-cluster. A micro-cluster is tied to every cluster of
    every partition by its mean trajectory similarity (see `PTA`) to the cluster's micro-clusters,

        B̃ = PTS B diag(1 / n_c),

    with n_c the number of micro-clusters in cluster c, and the graph is cut by transferring the
    problem to the side of the clusters.

    Parameters
    ----------
    n_clusters : int
    n_neighbors, n_steps : int, optional
        Elite neighbors and walk length; min(floor(sqrt(n') / 2), 20), at least 1, by default,
        for n' micro-clusters. With a dozen micro-clusters or fewer, set both.
    n_init : int
        Restarts of the final k-means.
    random_state : int, Generator, RandomState or None

    Attributes
    ----------
    objective_ : float
        Inertia of the final k-means.

    Notes
    -----
    Cost O(n'² m + n'³ + n' L²) for n' micro-clusters and L clusters in all; about 60 n'² + 24 n' L
    bytes.

    A micro-cluster counts as one in the graph and in k-means, whatever its size, as in the paper:
    sizes enter the walk only. Missing labels: co-association over the partitions that label both
    samples, and a micro-cluster belongs to no cluster of a partition that does not label it.

    Deviations from the paper: 10 restarts of k-means instead of 3; errors are raised, where the
    published program returns one cluster for everything.

    References
    ----------
    D. Huang, J.-H. Lai, C.-D. Wang. Robust ensemble clustering using probability trajectories. IEEE
    TKDE 28(5), 2016. https://doi.org/10.1109/TKDE.2015.2503753

    Examples
    --------
    >>> from partita import PTGP
    >>> labels = [[0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1, 1, 1]]
    >>> labels += [[0, 0, 1, 1, 2, 2, 3, 3], [0, 1, 0, 1, 2, 2, 2, 3]]
    >>> PTGP(n_clusters=2, n_neighbors=2, n_steps=2, random_state=0).fit_predict(labels)
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="ptgp",
        name="Probability trajectory based graph partitioning",
        family="graph",
        cite="huang2016",
        missing="pairwise",
        deterministic=False,
        time="n'³ + n' L²",
        memory="n'² + n' L",
        bytes_needed=lambda s: 60 * s.n_rows**2 + 24 * s.n_rows * s.n_base_clusters,
        weighted=False,
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": N_CLUSTERS,
        "n_neighbors": [*POSITIVE_INT, None],
        "n_steps": [*POSITIVE_INT, None],
        "n_init": N_INIT,
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_neighbors: int | None = None,
        n_steps: int | None = None,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.n_steps = n_steps
        self.n_init = n_init
        self.random_state = random_state

    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> Solution:
        # every micro-cluster has weight 1 here
        labels, inertia = transfer_cut(
            self._graph(ensemble),
            np.ones(ensemble.n_rows),
            self.n_clusters,
            rng,
            n_init=self.n_init,
        )
        return Solution(labels, objective=inertia)

    def _graph(self, ensemble: Ensemble) -> NDArray[np.float64]:
        """Mean trajectory similarity of every micro-cluster to those of every cluster."""
        similarity = trajectory_similarity(
            ensemble, n_neighbors=self.n_neighbors, n_steps=self.n_steps, expand=False
        )
        B = incidence(ensemble)
        micro_clusters = np.asarray(B.sum(axis=0)).ravel()
        return np.asarray(B.T @ similarity).T / micro_clusters  # PTS is symmetric
