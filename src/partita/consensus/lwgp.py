"""LWGP: normalized cut of the locally weighted bipartite graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita.consensus._certainty_cut import CertaintyCut, bytes_of_cut
from partita.consensus.base import MethodInfo
from partita.consensus.constraints import CHECKPOINT, N_CLUSTERS, N_INIT, POSITIVE, RANDOM_STATE
from partita.ensemble import Ensemble
from partita.matrices import cluster_certainty
from partita.matrices.overlaps import entropy_by_overlaps
from partita.matrices.subset_certainty import cluster_certainties

__all__ = ["LWGP"]


class LWGP(CertaintyCut):
    """Locally weighted graph partitioning.

    Samples and base clusters are the two sides of a bipartite graph. The edge between a sample and
    each of its clusters is the certainty of that cluster with respect to the other partitions,

        B̃ = B diag(ECI),  ECI_c = exp(-H(c) / (theta m)),

    and the graph is cut by a transfer cut: the eigenproblem is solved on the side of the clusters.
    Small base clusters are certain whatever they contain. If many labels are random, `CCGP`, which
    corrects the certainty for chance, is far better.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    theta : float, default=0.4
        Influence of the entropy: the smaller, the lower the weight of uncertain clusters. The paper
        recommends 0.2 to 1.
    n_init : int, default=10
        Restarts of the final k-means; the smallest inertia wins.
    checkpoint : folder or Checkpoint, optional
        For labels in a store or on a cluster: where the state is saved from time to time, so that
        the same call continues from there after an interruption. By default nothing is saved.
    random_state : int, Generator, RandomState or None, default=None
        Random numbers of k-means. An int gives the same result in every call; a checkpoint needs
        one.

    Attributes
    ----------
    objective_ : float
        Inertia of the final k-means.

    Notes
    -----
    Cost O(n m² + n' m K) plus an eigenproblem on the smaller side; no n x n array.

    Missing labels: the entropy with respect to a partition uses the members of the cluster that the
    partition labels; a missing label is a missing edge.

    Soft partitions: overlaps of clusters are Σ_x p_c(x) p_d(x), and memberships weight the edges.

    Deviation from the paper: 10 restarts of k-means instead of 3.

    References
    ----------
    D. Huang, C.-D. Wang, J.-H. Lai. Locally weighted ensemble clustering. IEEE Transactions on
    Cybernetics 48(5), 2018. https://doi.org/10.1109/TCYB.2017.2702343

    Examples
    --------
    >>> from partita import LWGP
    >>> LWGP(n_clusters=2, random_state=0).fit_predict([[0, 0, 1, 1], [5, 5, 7, 7], [0, 1, 1, 1]])
    array([0, 0, 1, 1])
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="lwgp",
        name="Locally weighted graph partitioning",
        family="graph",
        cite="huang2018",
        missing="native",
        deterministic=False,
        out_of_core=True,
        soft=True,
        time="n m² + n' m K",
        memory="n' (m + K)",
        bytes_needed=bytes_of_cut,
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": N_CLUSTERS,
        "theta": POSITIVE,
        "n_init": N_INIT,
        "checkpoint": CHECKPOINT,
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        theta: float = 0.4,
        n_init: int = 10,
        checkpoint: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.theta = theta
        self.n_init = n_init
        self.checkpoint = checkpoint
        self.random_state = random_state

    def _certainty(self, ensemble: Ensemble) -> NDArray[np.float64]:
        return cluster_certainty(ensemble, self.theta)

    def _certainties(
        self, ensemble: Ensemble, subsets: Sequence[NDArray[np.int64]]
    ) -> list[NDArray[np.float64]]:
        return cluster_certainties(ensemble, subsets, self.theta)

    def _certainty_by_overlaps(
        self, overlaps: NDArray[np.float64], offsets: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        entropy = entropy_by_overlaps(overlaps, offsets)
        return np.exp(-entropy / (self.theta * (len(offsets) - 1)))
