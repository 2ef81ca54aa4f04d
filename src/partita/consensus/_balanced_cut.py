"""What the methods that cut a graph into balanced parts share: CSPA, HGPA, MCLA, GCC."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from partita.consensus.base import BaseConsensus, Solution
from partita.consensus.constraints import N_CLUSTERS, N_INIT, NON_NEGATIVE, RANDOM_STATE
from partita.ensemble import Ensemble

__all__ = ["BalancedCutConsensus"]


class BalancedCutConsensus(BaseConsensus):
    """A consensus by a balanced cut; a method adds who may make the starts."""

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
        """What every cut is told."""
        return {"balance": self.balance, "n_init": self.n_init, "partitioner": self.partitioner}

    def _solve_trivial(self, core: Ensemble) -> Solution:
        return Solution(np.arange(core.n_rows), n_iter=0, learned={"partitioner_": "none"})
