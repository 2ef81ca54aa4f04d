"""Base class of RSEC and NRSEC: a low-rank representation of the co-association matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from partita.consensus._learned_matrix import LearnedMatrixConsensus
from partita.consensus.base import Solution
from partita.consensus.constraints import (
    MAX_ITER,
    N_CLUSTERS,
    N_INIT,
    POSITIVE,
    RANDOM_STATE,
    StrOptions,
)
from partita.ensemble import Ensemble
from partita.solvers.self_representation import Representation, representation_labels

__all__ = ["SelfRepresentationConsensus"]


class SelfRepresentationConsensus(LearnedMatrixConsensus):
    """A method that represents the co-association matrix S by itself, S = S Z + E."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": N_CLUSTERS,
        "lambda1": POSITIVE,
        "lambda2": POSITIVE,
        "assign_labels": [StrOptions({"embedding", "representation"})],
        "n_init": N_INIT,
        "max_iter": MAX_ITER,
        "tol": POSITIVE,
        "random_state": RANDOM_STATE,
    }
    n_clusters: int
    lambda1: float
    lambda2: float
    assign_labels: str
    n_init: int
    max_iter: int
    tol: float

    @property
    def _iteration_options(self) -> dict[str, Any]:
        """Keyword arguments of `fit_representation`."""
        return {"max_iter": self.max_iter, "tol": self.tol, "task": type(self).__name__}

    def _solution(
        self,
        ensemble: Ensemble,
        steps: Sequence[Representation],
        objective: float,
        rng: np.random.Generator,
    ) -> Solution:
        """Return the solution after the last of the outer steps."""
        last = steps[-1]
        history = np.concatenate([step.residuals for step in steps])
        return Solution(
            representation_labels(last, ensemble.weights, self.assign_labels, rng, self.n_init),
            objective=objective,
            n_iter=len(history),
            converged=all(step.converged for step in steps),
            history=history,
            matrix=last.matrix / last.scale,
            learned={"embedding_": ensemble.expand(last.embedding, np.nan)},
        )
