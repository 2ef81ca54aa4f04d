"""PTGP: cut of the graph of micro-clusters and base clusters under probability trajectories."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita.consensus.base import BaseConsensus, MethodInfo, Solution
from partita.consensus.constraints import N_CLUSTERS, N_INIT, POSITIVE_INT, RANDOM_STATE
from partita.ensemble import Ensemble, SoftEnsemble
from partita.matrices.trajectories import (
    MANY_NEIGHBORS,
    cluster_trajectories,
    soft_trajectory_similarity,
)
from partita.solvers import transfer_cut

__all__ = ["PTGP"]


class PTGP(BaseConsensus):
    """Probability trajectory based graph partitioning.

    Samples with equal labels form a micro-cluster. Micro-clusters and base clusters are the two
    sides of a bipartite graph. The edge between a micro-cluster and a base cluster c is the mean
    trajectory similarity (see `PTA`) to the n_c micro-clusters in c,

        B̃ = PTS B diag(1 / n_c),

    and the graph is cut by a transfer cut: the eigenproblem is solved on the side of the clusters.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_neighbors : int, optional
        Number of elite neighbors of a micro-cluster. The default for n' micro-clusters is
        min(floor(sqrt(n') / 2), 20), at least 1. With a dozen micro-clusters or fewer, set
        `n_neighbors` and `n_steps`.
    n_steps : int, optional
        Length of the walks, with the same default.
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
    Cost O(n'² (m + e T) + n' L²) for n' micro-clusters with e elite neighbors on average and L base
    clusters; about 3 n'² + 16 n' L bytes if there are fewer base clusters than n' / 2, otherwise 11
    n'² + 16 n' L, and 23,000 n' for the walks. The lengths of all walks need p e n'²
    multiplications, which bound the speed: p = T steps, or about T / 2 if the walks mix fast and 64
    eigenvectors describe the late steps (a similarity then changes by at most 1e-10). Up to 500
    micro-clusters, or if ties give each so many neighbors that this would cost more, one
    eigendecomposition is used instead, in O(n'³) time and 36 n'² + 16 n' L bytes. Twenty partitions
    have so many ties up to about 2000 micro-clusters; the memory that a plan states is for them.

    As in the paper, every micro-cluster counts as one in the graph and in k-means; sizes enter the
    walk only.

    The walks have no step from a micro-cluster to itself. Two neighbors that are linked mostly to
    each other are therefore at different places after every step, and their similarity is near 0,
    while two neighbors of a third one have a large similarity. Many elite neighbors hide this; few
    micro-clusters show it. In the example of seven objects of Strehl and Ghosh, `PTGP` joins
    objects 4, 6 and 7, all neighbors of object 5, for any `n_neighbors`, where most other methods
    return {4, 5} and {6, 7}.

    Missing labels: co-association uses the partitions that label both samples, and a micro-cluster
    belongs to no cluster of a partition that does not label it.

    Soft partitions: the elite neighbors are those with the largest expected co-association, and
    means over a base cluster are weighted by memberships.

    Deviations from the paper: 10 restarts of k-means instead of 3. Errors are raised where the
    published program returns a single cluster.

    References
    ----------
    D. Huang, J.-H. Lai, C.-D. Wang. Robust ensemble clustering using probability trajectories. IEEE
    TKDE 28(5), 2016. https://doi.org/10.1109/TKDE.2015.2503753

    Examples
    --------
    >>> from partita import PTGP
    >>> partitions = [[0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1, 1, 1]]
    >>> partitions += [[0, 0, 1, 1, 2, 2, 3, 3], [0, 1, 0, 1, 2, 2, 2, 3]]
    >>> PTGP(n_clusters=2, n_neighbors=2, n_steps=2, random_state=0).fit_predict(partitions)
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="ptgp",
        name="Probability trajectory based graph partitioning",
        family="graph",
        cite="huang2016",
        missing="pairwise",
        deterministic=False,
        soft=True,
        time="n'² (m + e T) + n' L²",
        memory="n'² + n' L",
        bytes_needed=lambda s: (
            max(
                36 * min(s.n_rows, MANY_NEIGHBORS) ** 2,
                (11 if 2 * s.n_base_clusters > s.n_rows else 3) * s.n_rows**2 + 23_000 * s.n_rows,
            )
            + 16 * s.n_rows * s.n_base_clusters
        ),
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
        return self._cut(self._graph(ensemble), rng)

    def _solve_soft(self, soft: SoftEnsemble, rng: np.random.Generator) -> Solution:
        similarity = soft_trajectory_similarity(
            soft, n_neighbors=self.n_neighbors, n_steps=self.n_steps
        )
        return self._cut(similarity @ soft.memberships / soft.memberships.sum(axis=0), rng)

    def _cut(self, graph: NDArray[np.float64], rng: np.random.Generator) -> Solution:
        """Cut the graph of micro-clusters, each of which counts as one, and base clusters."""
        labels, inertia = transfer_cut(
            graph, np.ones(len(graph)), self.n_clusters, rng, n_init=self.n_init
        )
        return Solution(labels, objective=inertia)

    def _graph(self, ensemble: Ensemble) -> NDArray[np.float64]:
        """Return B̃, the mean similarity of every micro-cluster to those in every base cluster."""
        return cluster_trajectories(ensemble, n_neighbors=self.n_neighbors, n_steps=self.n_steps)
