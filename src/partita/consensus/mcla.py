"""MCLA: clusters are clustered, and samples go to the meta-cluster that holds them most."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from partita.consensus._balanced_cut import BalancedCutConsensus
from partita.consensus.base import MethodInfo, Solution
from partita.consensus.constraints import StrOptions
from partita.ensemble import Ensemble
from partita.matrices import cluster_jaccard, cluster_sizes, incidence
from partita.solvers.meta_clusters import meta_clusters

__all__ = ["MCLA"]


class MCLA(BalancedCutConsensus):
    """Meta-clustering algorithm.

    The clusters of all partitions are the vertices of a graph, joined by their Jaccard coefficient
    |c ∩ c'| / |c ∪ c'|. It is cut into `n_clusters` meta-clusters of about equal total size; a
    sample's association with a meta-cluster is the share of its clusters that hold the sample,

        a_pk = (1/|M_k|) Σ_{c in M_k} B_pc,

    and the sample goes where that is largest. Only the meta-clusters are balanced, and votes are
    shares, so that clusters of moderately unequal size are found.

    Parameters
    ----------
    n_clusters : int
    balance : float
        How much the clusters of a meta-cluster may exceed an even share of all clusters' sizes.
    partitioner : {"auto", "metis", "builtin"}
        Who makes the starts that are then refined: METIS (`pip install "partita[graph]"`), or
        k-means of the graph's eigenvectors. "auto" takes METIS where it is installed and there are
        at most 500 clusters in all, none larger than a quarter of an even share.
    n_init : int
        Starts, of which the smallest cut is kept.
    random_state : int, Generator, RandomState or None

    Attributes
    ----------
    partitioner_ : str
        "metis", "builtin", or "none" where nothing was left to cut.
    objective_ : float
        Jaccard coefficients cut.
    history_ : array
        The same after every pass of the refinement.

    Notes
    -----
    Planted clusters as 1 : 2 : 3 are found. Measured on four Gaussian blobs and 20 k-means
    partitions of them (mean adjusted Rand index of ten draws): blobs of 188 samples each 0.99; of
    400, 200, 100 and 50 samples 0.63, where `LWGP` has 0.99. The paper's example of seven objects
    needs `balance=0.2` for the meta-clusters behind its expected answer.

    Cost O(n' m² + L²) for L clusters in all, and as much memory as L² numbers take; no n x n array.
    Missing labels: Jaccard coefficients over what is labeled, no vote where there is no label.

    Deviations from the paper: a sample with equal associations goes to the first such meta-cluster,
    not to a random one, so that samples with the same labels never part; METIS makes the start, our
    own Fiduccia-Mattheyses refinement has the last word. A meta-cluster that no sample prefers
    disappears; a warning then says that fewer than `n_clusters` came back.

    References
    ----------
    A. Strehl, J. Ghosh. Cluster ensembles: a knowledge reuse framework for combining multiple
    partitions. Journal of Machine Learning Research 3, 2002.

    Examples
    --------
    >>> from partita import MCLA
    >>> MCLA(n_clusters=2, random_state=0).fit_predict([[0, 0, 1, 1], [5, 5, 7, 7], [0, 1, 1, 1]])
    array([0, 0, 1, 1])
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="mcla",
        name="Meta-clustering algorithm",
        family="graph",
        cite="strehl2002",
        missing="native",
        deterministic=False,
        time="n' m² + L²",
        memory="n' (m + K) + L²",
        bytes_needed=lambda s: (
            s.n_rows * (48 * s.n_partitions + 8 * s.n_clusters) + 56 * s.n_base_clusters**2
        ),
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BalancedCutConsensus._parameter_constraints,
        "partitioner": [StrOptions({"auto", "metis", "builtin"})],
    }

    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> Solution:
        found = meta_clusters(
            incidence(ensemble),
            cluster_jaccard(ensemble),
            cluster_sizes(ensemble),
            self.n_clusters,
            rng,
            task=type(self).__name__,
            **self._cut_options,
        )
        return Solution(
            found.labels,
            objective=found.groups.cut,
            n_iter=len(found.groups.history),
            history=found.groups.history,
            learned={"partitioner_": found.groups.partitioner},
        )
