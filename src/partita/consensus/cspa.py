"""CSPA: balanced cut of the co-association graph."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from partita.consensus._balanced_cut import BalancedCutConsensus
from partita.consensus.base import MethodInfo, Size, Solution
from partita.consensus.constraints import StrOptions
from partita.ensemble import Ensemble
from partita.matrices import incidence
from partita.solvers.graph_cut.graphs import METIS_ROWS, cut_cliques

__all__ = ["CSPA"]


class CSPA(BalancedCutConsensus):
    """Cluster-based similarity partitioning algorithm.

    Samples are the vertices of a graph, joined by their co-association: the share of partitions
    that put the two together. The graph is cut into `n_clusters` parts of about equal size with as
    little weight between them as possible,

        min Σ_{p, q in different parts} (B Bᵀ)_pq / m,  every part at most (1 + balance) n / K.

    **Parts are balanced by definition.** Where the true clusters differ in size a balanced cut must
    break the large ones: see the figures below before using it.

    Parameters
    ----------
    n_clusters : int
    balance : float
        How much a part may exceed its even share of the samples.
    partitioner : {"auto", "metis", "builtin"}
        Who makes the starts that are then refined: METIS (`pip install "partita[graph]"`), or
        k-means of the graph's eigenvectors. "auto" takes METIS where it is installed and there are
        at most 500 distinct rows: METIS needs the graph written out, and from there on it takes
        longer and cuts no less (n' = 3000: 18 times as long for the same cut). Nor does "auto" take
        it where a distinct row stands for more than a quarter of an even part.
    n_init : int
        Starts, of which the smallest cut is kept.
    random_state : int, Generator, RandomState or None

    Attributes
    ----------
    partitioner_ : str
        "metis", "builtin", or "none" where nothing was left to cut.
    objective_ : float
        Co-association between different parts, summed over pairs of samples.
    history_ : array
        The same after every pass of the refinement.

    Notes
    -----
    Measured on four Gaussian blobs and 20 k-means partitions of them (mean adjusted Rand index of
    ten draws): blobs of 188 samples each 0.99; of 400, 200, 100 and 50 samples 0.60, where `LWGP`
    has 0.99. A larger `balance` is no way out: with 1.0 the unequal blobs reach 0.69, the equal
    ones fall to 0.54.

    Cost O(n' m K) a sweep over n' distinct rows, and O(n' (m + K)) memory: gains are read from how
    many of every cluster's samples each part holds, and no n' x n' graph is stored. With METIS it
    is, in 28 n'² bytes. Missing labels count as disagreement, as in the paper.

    Deviations from the paper: samples with the same labels are one vertex of their number's weight
    and never part. The balance yields to such vertices: one heavier than an even share has a part
    of its own size while the others share the rest, and no part has to be smaller than an even
    packing of whole vertices allows. METIS makes the starts; our own Fiduccia-Mattheyses refinement
    has the last word, so that balance and number of parts hold for any partitioner. Labels are not
    those of another implementation bit by bit.

    References
    ----------
    A. Strehl, J. Ghosh. Cluster ensembles: a knowledge reuse framework for combining multiple
    partitions. Journal of Machine Learning Research 3, 2002.

    Examples
    --------
    >>> from partita import CSPA
    >>> CSPA(n_clusters=2, random_state=0).fit_predict([[0, 0, 1, 1], [5, 5, 7, 7], [0, 1, 1, 1]])
    array([0, 0, 1, 1])
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="cspa",
        name="Cluster-based similarity partitioning",
        family="graph",
        cite="strehl2002",
        missing="disagree",
        deterministic=False,
        time="n' m K a sweep",
        memory="n' (m + K), n'² for METIS",
        bytes_needed=lambda s: (
            s.n_rows * (48 * s.n_partitions + 40 * s.n_clusters)
            + 8 * s.n_base_clusters * s.n_clusters
            + 8 * min(s.n_rows, s.n_base_clusters, 1500) ** 2
        ),
        balanced=True,
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BalancedCutConsensus._parameter_constraints,
        "partitioner": [StrOptions({"auto", "metis", "builtin"})],
    }

    def bytes_needed(self, size: Size) -> int:
        graph = self.partitioner == "metis" or (
            self.partitioner == "auto" and size.n_rows <= METIS_ROWS
        )
        return self.info.bytes_needed(size) + (28 * size.n_rows**2 if graph else 0)

    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> Solution:
        found = cut_cliques(
            incidence(ensemble),
            ensemble.weights,
            self.n_clusters,
            rng,
            task=type(self).__name__,
            **self._cut_options,
        )
        m = ensemble.n_partitions
        return Solution(
            found.labels,
            objective=found.cut / m,
            n_iter=len(found.history),
            history=found.history / m,
            learned={"partitioner_": found.partitioner},
        )
