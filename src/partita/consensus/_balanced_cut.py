"""Base class of the methods that cut a graph into balanced parts: CSPA, HGPA, MCLA, GCC."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita.consensus.base import BaseConsensus, Size, Solution
from partita.consensus.constraints import N_CLUSTERS, N_INIT, NON_NEGATIVE, RANDOM_STATE
from partita.ensemble import Ensemble, SoftEnsemble
from partita.solvers.graph_cut.graphs import METIS_ROWS, Cut

__all__ = ["BalancedCutConsensus", "cut_bytes"]


def cut_bytes(size: Size) -> int:
    """Return the bytes of a cut of the rows without an n' x n' graph."""
    return (
        size.n_rows * (48 * size.n_partitions + 40 * size.n_clusters)
        + 8 * size.n_base_clusters * size.n_clusters
        + 8 * min(size.n_rows, size.n_base_clusters, 1500) ** 2
    )


class BalancedCutConsensus(BaseConsensus):
    """A consensus by a balanced cut. A method adds the constraint of `partitioner`."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": N_CLUSTERS,
        "balance": NON_NEGATIVE,
        "n_init": N_INIT,
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        balance: float = 0.05,
        partitioner: str = "auto",
        n_init: int = 5,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.balance = balance
        self.partitioner = partitioner
        self.n_init = n_init
        self.random_state = random_state

    @property
    def _cut_options(self) -> dict[str, Any]:
        """Keyword arguments of every cut."""
        return {"balance": self.balance, "n_init": self.n_init, "partitioner": self.partitioner}

    def _metis_bytes(self, size: Size) -> int:
        """Return the bytes of the n' x n' graph, which only METIS needs."""
        uses_metis = self.partitioner == "metis" or (
            self.partitioner == "auto" and size.n_rows <= METIS_ROWS
        )
        return 28 * size.n_rows**2 if uses_metis else 0

    def _cut_solution(self, labels: NDArray[np.int64], cut: Cut, unit: float = 1.0) -> Solution:
        """Return a solution whose objective is the weight of the cut divided by `unit`."""
        return Solution(
            labels,
            objective=cut.cut / unit,
            n_iter=len(cut.history),
            history=cut.history / unit,
            learned={"partitioner_": cut.partitioner},
        )

    def _solve_trivial(self, core: Ensemble | SoftEnsemble) -> Solution:
        return Solution(np.arange(core.n_rows), n_iter=0, learned={"partitioner_": "none"})
