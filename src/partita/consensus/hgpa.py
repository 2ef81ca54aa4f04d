"""HGPA: balanced cut of the hypergraph of clusters."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from partita.consensus._balanced_cut import BalancedCutConsensus
from partita.consensus.base import MethodInfo, Solution
from partita.consensus.constraints import StrOptions
from partita.ensemble import Ensemble
from partita.matrices import incidence
from partita.solvers.graph_cut.hypergraphs import cut_hypergraph

__all__ = ["HGPA"]


class HGPA(BalancedCutConsensus):
    """Hypergraph partitioning algorithm.

    Every cluster of every partition is a hyperedge over its samples. The samples are divided into
    `n_clusters` parts of about equal size so that as few hyperedges as possible are cut,

        min #{clusters c with samples in more than one part},  every part at most (1 + balance) n/K.

    **Parts are balanced by definition, and a cut hyperedge counts the same however it is cut.** The
    weakest of its family by nature: see the figures below before using it.

    Parameters
    ----------
    n_clusters : int
    balance : float
        How much a part may exceed its even share of the samples.
    partitioner : {"auto", "kahypar", "builtin"}
        Who makes the starts that are then refined: KaHyPar (`pip install "partita[graph]"`), or a
        transfer cut of samples and clusters. "auto" takes KaHyPar where it is installed and the
        table of distinct rows has at most 10 000 labels.
    n_init : int
        Starts, of which the smallest cut is kept. One of the transfer cut joins KaHyPar's.
    random_state : int, Generator, RandomState or None

    Attributes
    ----------
    partitioner_ : str
        "kahypar", "builtin", or "none" where nothing was left to cut.
    objective_ : float
        Number of hyperedges cut.
    history_ : array
        The same after every pass of the refinement.

    Notes
    -----
    Measured on four Gaussian blobs and 20 k-means partitions of them (mean adjusted Rand index of
    ten draws): blobs of 188 samples each 0.99; of 400, 200, 100 and 50 samples 0.47 (0.52 with
    KaHyPar), where `LWGP` has 0.99.

    In noisy ensembles nearly every hyperedge is cut whatever one does, and **a smaller cut is then
    no better partition**: a hyperedge is kept whole by gathering its noise. Eight planted clusters
    of 125 samples, 20 partitions, 30 % random labels: the clusters themselves cut all 160
    hyperedges, and the transfer cut finds them (ARI 1.00); KaHyPar keeps one hyperedge whole, and
    the clusters are lost (ARI 0.1). None of eight settings of KaHyPar changes that, nor
    counting the parts of a hyperedge instead (its objective "km1", ARI 0.1): all of them find less
    to cut than the clusters do. Hence the built-in starts for all but small ensembles,
    where they are also 30 times as fast (n = 5000, m = 20).

    Cost O(n' m K) a sweep over n' distinct rows, O(n' (m + K)) memory. A missing label takes the
    sample out of that partition's hyperedges.

    Deviations from the paper: samples with the same labels are one vertex of their number's weight
    and never part; the balance yields to such vertices as in `CSPA`. KaHyPar (or the transfer cut)
    stands where the paper has hMETIS, and Fiduccia-Mattheyses moves on the true cut have the last
    word; labels are not those of another implementation bit by bit.

    References
    ----------
    A. Strehl, J. Ghosh. Cluster ensembles: a knowledge reuse framework for combining multiple
    partitions. Journal of Machine Learning Research 3, 2002.

    Examples
    --------
    >>> from partita import HGPA
    >>> HGPA(n_clusters=2, random_state=0).fit_predict([[0, 0, 1, 1], [5, 5, 7, 7], [0, 1, 1, 1]])
    array([0, 0, 1, 1])
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="hgpa",
        name="Hypergraph partitioning",
        family="graph",
        cite="strehl2002",
        missing="native",
        deterministic=False,
        time="n' m K a sweep",
        memory="n' (m + K)",
        bytes_needed=lambda s: (
            s.n_rows * (48 * s.n_partitions + 40 * s.n_clusters)
            + 8 * s.n_base_clusters * s.n_clusters
            + 8 * min(s.n_rows, s.n_base_clusters, 1500) ** 2
        ),
        balanced=True,
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BalancedCutConsensus._parameter_constraints,
        "partitioner": [StrOptions({"auto", "kahypar", "builtin"})],
    }

    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> Solution:
        found = cut_hypergraph(
            incidence(ensemble),
            ensemble.weights,
            self.n_clusters,
            rng,
            task=type(self).__name__,
            **self._cut_options,
        )
        return Solution(
            found.labels,
            objective=found.cut,
            n_iter=len(found.history),
            history=found.history,
            learned={"partitioner_": found.partitioner},
        )
