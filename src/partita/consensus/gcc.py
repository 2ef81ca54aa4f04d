"""GCC: three graph cuts of one ensemble, of which the one nearest to it is kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from partita.consensus._balanced_cut import BalancedCutConsensus
from partita.consensus.base import MethodInfo, Size, Solution
from partita.consensus.constraints import StrOptions
from partita.ensemble import Ensemble
from partita.matrices import cluster_jaccard, cluster_sizes, incidence
from partita.metrics import anmi
from partita.solvers.graph_cut.graphs import METIS_ROWS, cut_cliques
from partita.solvers.graph_cut.hypergraphs import cut_hypergraph
from partita.solvers.meta_clusters import meta_clusters

__all__ = ["GCC"]


class GCC(BalancedCutConsensus):
    """Graph-based consensus clustering: the best of CSPA, HGPA and MCLA.

    The supra-consensus function of the paper: the three cuts are made, and the one with the largest
    average normalized mutual information with the partitions is returned,

        ANMI = Σ_i n_i NMI(labels, partition_i) / Σ_i n_i,  n_i = samples that partition i labels.

    No truth is needed for that choice.

    Parameters
    ----------
    n_clusters : int
    balance : float
        How much a part may exceed its even share, in all three cuts.
    partitioner : {"auto", "builtin"}
        Who makes the starts: METIS and KaHyPar where they are installed and the graph is not too
        large for them, as in the three methods, or our own procedures alone.
    n_init : int
        Starts of every cut.
    random_state : int, Generator, RandomState or None

    Attributes
    ----------
    best_ : str
        "cspa", "hgpa" or "mcla"; the first in this order if they tie. "none" where nothing was left
        to cut.
    scores_ : dict
        ANMI of each of the three.
    partitioner_ : str
        Who made the starts of the best.
    objective_ : float
        ANMI of the best.

    Notes
    -----
    Cost and memory of the three cuts together. Missing labels as each of them takes them; NMI over
    the samples that are labeled. Deviation from the paper: CSPA takes part at any size, because it
    needs no n x n graph here.

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
        graph = self.partitioner == "auto" and size.n_rows <= METIS_ROWS
        return self.info.bytes_needed(size) + (28 * size.n_rows**2 if graph else 0)

    def _solve_trivial(self, core: Ensemble) -> Solution:
        learned = {"best_": "none", "scores_": {}, "partitioner_": "none"}
        return Solution(np.arange(core.n_rows), n_iter=0, learned=learned)

    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> Solution:
        B, K = incidence(ensemble), self.n_clusters
        options = self._cut_options
        cspa = cut_cliques(B, ensemble.weights, K, rng, task="GCC: CSPA", **options)
        hgpa = cut_hypergraph(B, ensemble.weights, K, rng, task="GCC: HGPA", **options)
        jaccard, sizes = cluster_jaccard(ensemble), cluster_sizes(ensemble)
        mcla = meta_clusters(B, jaccard, sizes, K, rng, task="GCC: MCLA", **options)
        labels = {"cspa": cspa.labels, "hgpa": hgpa.labels, "mcla": mcla.labels}
        cuts = {"cspa": cspa, "hgpa": hgpa, "mcla": mcla.groups}
        rows_as_samples = replace(ensemble, inverse=None)
        scores = {name: anmi(found, rows_as_samples) for name, found in labels.items()}
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
