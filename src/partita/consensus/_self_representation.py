"""Base class of RSEC and NRSEC: a low-rank representation of the co-association matrix."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita.consensus._learned_matrix import LearnedMatrixConsensus
from partita.consensus.base import Solution
from partita.consensus.constraints import (
    MAX_ITER,
    N_CLUSTERS,
    N_INIT,
    POSITIVE,
    RANDOM_STATE,
    Interval,
    StrOptions,
)
from partita.ensemble import Ensemble, SoftEnsemble
from partita.matrices import incidence
from partita.solvers.range_basis import SimilarityBasis, similarity_basis
from partita.solvers.representation_errors import ColumnErrors, EntryErrors, Errors
from partita.solvers.self_representation import Course, Representation, representation_labels

__all__ = ["SelfRepresentationConsensus"]


class SelfRepresentationConsensus(LearnedMatrixConsensus):
    """A method that represents the co-association matrix S by itself, S = S Z + E."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": N_CLUSTERS,
        "lambda1": POSITIVE,
        "lambda2": POSITIVE,
        "error_norm": [StrOptions({"l1", "l21"})],
        "similarity": [StrOptions({"auto", "share", "signed"})],
        "rho": [Interval(Real, 1, None, closed="neither")],
        "mu": [*POSITIVE, None],
        "scale_embedding": ["boolean"],
        "assign_labels": [StrOptions({"embedding", "representation"})],
        "n_init": N_INIT,
        "max_iter": MAX_ITER,
        "tol": POSITIVE,
        "random_state": RANDOM_STATE,
    }
    n_clusters: int
    lambda1: float
    lambda2: float
    error_norm: str
    similarity: str
    rho: float
    mu: float | None
    scale_embedding: bool
    assign_labels: str
    n_init: int
    max_iter: int
    tol: float

    @property
    def _iteration_options(self) -> dict[str, Any]:
        """Keyword arguments of `fit_representation`."""
        return {
            "growth": self.rho,
            "first_penalty": self.mu,
            "scale_embedding": self.scale_embedding,
            "max_iter": self.max_iter,
            "tol": self.tol,
            "task": type(self).__name__,
        }

    def _errors(
        self, similarity: SimilarityBasis, factors: NDArray[np.float64] | None = None
    ) -> Errors:
        """Return E = 0; `factors` multiply the penalty of each column or entry."""
        norm = ColumnErrors if self.error_norm == "l21" else EntryErrors
        return norm(similarity.vectors, similarity.root, self.lambda2, factors)

    def _similarity(self, ensemble: Ensemble | SoftEnsemble) -> SimilarityBasis:
        """Return the basis of S, from its factors.

        With the numbers J of the partitions that join a pair and O of those that label it, S is
        (2 J - O)/m if it is signed, and otherwise (J + (m - O)/2)/m. For memberships J is the
        expected number.
        """
        if isinstance(ensemble, SoftEnsemble):
            factor = sp.csr_matrix(ensemble.memberships)
        else:
            factor = incidence(ensemble)
        m = ensemble.n_partitions
        parts, signs = [factor], [np.ones(factor.shape[1])]
        is_signed = self.similarity == "signed"
        if self.similarity == "auto":
            is_signed = ensemble.n_missing > 0
        observed = ensemble.observed.astype(np.float64)
        everywhere = np.full((ensemble.n_rows, 1), np.sqrt(m))
        if is_signed:
            parts[0] = np.sqrt(2.0) * factor
            parts.append(observed if ensemble.n_missing else everywhere)
            signs.append(np.full(parts[1].shape[1], -1.0))
        elif ensemble.n_missing:
            parts += [np.sqrt(0.5) * observed, np.sqrt(0.5) * everywhere]
            signs += [np.full(m, -1.0), np.ones(1)]
        scaled = sp.csr_matrix(sp.hstack(parts) / np.sqrt(m))
        return similarity_basis(scaled, np.concatenate(signs), ensemble.weights)

    def _solution(
        self,
        ensemble: Ensemble | SoftEnsemble,
        result: Representation,
        courses: Sequence[Course],
        objective: float,
        rng: np.random.Generator,
        *,
        converged: bool = True,
    ) -> Solution:
        """Return the solution from the last result and the courses of all outer steps."""
        history = np.concatenate([course.residuals for course in courses])
        return Solution(
            representation_labels(result, ensemble.weights, self.assign_labels, rng, self.n_init),
            objective=objective,
            n_iter=len(history),
            converged=converged and all(course.converged for course in courses),
            history=history,
            matrix=result.matrix(),
            learned={"embedding_": ensemble.expand(result.embedding, np.nan)},
        )
