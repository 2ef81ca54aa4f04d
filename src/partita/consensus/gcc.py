"""GCC: the best of three graph cuts by mutual information with the partitions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from partita.consensus._balanced_cut import BalancedCutConsensus
from partita.consensus.base import MethodInfo, Size, Solution
from partita.consensus.constraints import StrOptions
from partita.ensemble import Ensemble, SoftEnsemble
from partita.matrices import cluster_jaccard, cluster_sizes, incidence
from partita.metrics import anmi
from partita.solvers.graph_cut.graphs import cut_cliques
from partita.solvers.graph_cut.hypergraphs import cut_hypergraph
from partita.solvers.meta_clusters import find_meta_clusters

__all__ = ["GCC"]


class GCC(BalancedCutConsensus):
    """Graph-based consensus clustering: the best of CSPA, HGPA and MCLA.

    The supra-consensus function of the paper: all three cuts are made, and the one with the largest
    average normalized mutual information with the partitions is returned,

        ANMI = Σ_i n_i NMI(labels, partition_i) / Σ_i n_i,  n_i = samples that partition i labels.

    The choice needs no true classes.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    balance : float, default=0.05
        Share by which a part may exceed an equal share, in all three cuts.
    partitioner : {"auto", "builtin"}, default="auto"
        What computes the initial cuts. "auto" uses METIS and KaHyPar if they are installed and the
        graph is not too large for them, as in the three methods.
    n_init : int, default=5
        Number of initial cuts of each method.
    random_state : int, Generator, RandomState or None, default=None
        Random numbers of the initial cuts. An int gives the same result in every call.

    Attributes
    ----------
    best_ : str
        "cspa", "hgpa" or "mcla"; the first in this order if they tie. "none" if every distinct row
        is a cluster of its own.
    scores_ : dict
        ANMI of each of the three.
    partitioner_ : str
        What computed the initial cuts of the best.
    objective_ : float
        ANMI of the best.

    Notes
    -----
    Cost and memory are those of the three cuts together.

    Missing labels are treated as in each of the three methods; NMI uses the samples that the
    partition labels.

    Deviation from the paper: CSPA is included for any number of samples, because it needs no n x n
    graph here.

    References
    ----------
    A. Strehl, J. Ghosh. Cluster ensembles: a knowledge reuse framework for combining multiple
    partitions. Journal of Machine Learning Research 3, 2002.

    Examples
    --------
    >>> from partita import GCC
    >>> model = GCC(n_clusters=2, random_state=0).fit([[0, 0, 1, 1], [5, 5, 7, 7], [0, 1, 1, 1]])
    >>> model.labels_, model.best_
    (array([0, 0, 1, 1]), 'cspa')
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="gcc",
        name="Graph-based consensus clustering",
        family="graph",
        cite="strehl2002",
        missing="native",
        deterministic=False,
        time="n' m (m + K) + L²",
        memory="n' (m + K) + L², n'² for METIS",
        bytes_needed=lambda s: (
            s.n_rows * (60 * s.n_partitions + 48 * s.n_clusters) + 56 * s.n_base_clusters**2
        ),
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BalancedCutConsensus._parameter_constraints,
        "partitioner": [StrOptions({"auto", "builtin"})],
    }

    def bytes_needed(self, size: Size) -> int:
        return self.info.bytes_needed(size) + self._metis_bytes(size)

    def _solve_trivial(self, core: Ensemble | SoftEnsemble) -> Solution:
        learned = {"best_": "none", "scores_": {}, "partitioner_": "none"}
        return Solution(np.arange(core.n_rows), n_iter=0, learned=learned)

    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> Solution:
        B, K = incidence(ensemble), self.n_clusters
        options = self._cut_options
        cspa = cut_cliques(B, ensemble.weights, K, rng, task="GCC: CSPA", **options)
        hgpa = cut_hypergraph(B, ensemble.weights, K, rng, task="GCC: HGPA", **options)
        jaccard, sizes = cluster_jaccard(ensemble), cluster_sizes(ensemble)
        mcla = find_meta_clusters(B, jaccard, sizes, K, rng, task="GCC: MCLA", **options)
        labels = {"cspa": cspa.labels, "hgpa": hgpa.labels, "mcla": mcla.labels}
        cuts = {"cspa": cspa, "hgpa": hgpa, "mcla": mcla.groups}
        rows_as_samples = replace(ensemble, inverse=None)
        scores = {name: anmi(rows_as_samples, cut) for name, cut in labels.items()}
        best = max(scores, key=lambda name: scores[name])
        return Solution(
            labels[best],
            objective=scores[best],
            n_iter=len(cuts[best].history),
            learned={
                "best_": best,
                "scores_": scores,
                "partitioner_": cuts[best].partitioner,
            },
        )
