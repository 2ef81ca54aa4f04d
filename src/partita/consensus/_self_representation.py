"""Base class of RSEC and NRSEC: a low-rank representation of the co-association matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

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
from partita.matrices import incidence
from partita.solvers.range_basis import SimilarityBasis, similarity_basis
from partita.solvers.self_representation import Course, Representation, representation_labels

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

    def _similarity(self, ensemble: Ensemble) -> SimilarityBasis:
        """Return the basis of `incomplete_coassociation`, from its factors."""
        factor, m = incidence(ensemble), ensemble.n_partitions
        signs = np.ones(factor.shape[1])
        if ensemble.n_missing:  # twice the partitions that join a pair, minus those that label it
            factor = sp.hstack([np.sqrt(2.0) * factor, ensemble.observed.astype(np.float64)])
            signs = np.append(signs, np.full(m, -1.0))
        return similarity_basis(sp.csr_matrix(factor / np.sqrt(m)), signs, ensemble.weights)

    def _solution(
        self,
        ensemble: Ensemble,
        result: Representation,
        courses: Sequence[Course],
        objective: float,
        rng: np.random.Generator,
    ) -> Solution:
        """Return the solution from the last result and the courses of all outer steps."""
        history = np.concatenate([course.residuals for course in courses])
        return Solution(
            representation_labels(result, ensemble.weights, self.assign_labels, rng, self.n_init),
            objective=objective,
            n_iter=len(history),
            converged=all(course.converged for course in courses),
            history=history,
            matrix=result.matrix(),
            learned={"embedding_": ensemble.expand(result.embedding, np.nan)},
        )
