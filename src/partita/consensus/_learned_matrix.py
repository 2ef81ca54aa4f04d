"""Methods that learn a matrix over samples before they read a partition from it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from partita.consensus.base import BaseConsensus, Solution
from partita.ensemble import Ensemble
from partita.exceptions import NotSupportedError
from partita.matrices.agreement import expand_pairs

__all__ = ["LearnedMatrixConsensus"]


class LearnedMatrixConsensus(BaseConsensus):
    """A method whose result is a matrix over samples before it is a partition.

    Attributes
    ----------
    core_matrix_ : array of shape (n_distinct, n_distinct)
    core_index_ : array of shape (n_samples,)
        Row of the core matrix that holds each sample.
    """

    def _store_solution(self, core: Ensemble, solution: Solution) -> None:
        self._core = core
        self.core_matrix_ = solution.matrix
        self._core_diagonal = solution.diagonal
        self.core_index_ = core.inverse

    def consensus_matrix(self) -> NDArray[np.float64]:
        """The learned matrix with a row per sample, within the memory budget.

        Entry (p, q) is the core matrix's at the rows of p and q; where the learned matrix has a
        part of its own on the diagonal, that is added.
        """
        check_is_fitted(self)
        if self.core_matrix_ is None:
            raise NotSupportedError(
                "No matrix was learned: every distinct row became a cluster of its own."
            )
        full = expand_pairs(self.core_matrix_, self._core)
        if self._core_diagonal is not None:
            full[np.diag_indices_from(full)] += self._core.expand(self._core_diagonal, 0.0)
        return full
