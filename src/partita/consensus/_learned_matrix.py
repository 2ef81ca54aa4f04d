"""Base class of the methods that learn a matrix over samples and read a clustering from it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from partita.consensus.base import BaseConsensus, Solution
from partita.ensemble import Ensemble, SoftEnsemble
from partita.exceptions import NotSupportedError
from partita.matrices.agreement import expand_pairs

__all__ = ["LearnedMatrixConsensus"]


class LearnedMatrixConsensus(BaseConsensus):
    """A method that learns a matrix over samples.

    Its `_solve` returns the matrix over distinct rows in `Solution.matrix`.

    Attributes
    ----------
    core_matrix_ : array of shape (n_distinct, n_distinct) or None
        The learned matrix over distinct rows. None if every distinct row is a cluster of its own.
    core_index_ : array of shape (n_samples,)
        Row of `core_matrix_` of each sample.
    """

    def _store_solution(self, core: Ensemble | SoftEnsemble, solution: Solution) -> None:
        self._core = core
        self.core_matrix_ = solution.matrix
        self._core_diagonal = solution.diagonal
        self.core_index_ = core.inverse

    def consensus_matrix(self) -> NDArray[np.float64]:
        """Return the learned matrix with a row per sample, within the memory budget.

        Entry (p, q) is the entry of `core_matrix_` at the rows of p and q. If the method learned a
        separate diagonal, it is added.

        Returns
        -------
        array of shape (n_samples, n_samples)
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
