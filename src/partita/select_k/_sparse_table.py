"""A sparse table of features, such as counts of terms, whose number of clusters is scanned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita.generators.generation import cuts_a_graph, make_generator
from partita.select_k._scanned import ScannedTable
from partita.select_k._sparse_null import exchanged_reference
from partita.select_k._spectral_gap import eigenvalue_ratios

__all__ = ["SparseTable", "rows_as_compared"]


class SparseTable(ScannedTable):
    """Sparse features and the generator of their partitions.

    The gap in the spectrum of their graph of neighbors weighs, but is not tested: texts about
    several topics seldom have a gap as large as that of a line or a sphere, and the null has the
    neighbors that texts without topics have. The rows are those that `rows_as_compared` returns.
    """

    gap_is_tested: ClassVar[bool] = False

    def reference(self, rng: np.random.Generator) -> Self:
        drawn = exchanged_reference(self._X, rng)
        return type(self)(rows_as_compared(drawn, self._generator), self._generator)

    def spectral_gaps(self, numbers: Sequence[int]) -> NDArray[np.float64] | None:
        return eigenvalue_ratios(self._X, numbers) if cuts_a_graph(self._generator) else None


def rows_as_compared(X: sp.csr_matrix, generator: Any) -> sp.csr_matrix:
    """Return canonical rows whose distances a generator compares, of unit length if by the cosine.

    Parameters
    ----------
    X : CSR matrix of shape (n_samples, n_features)
        Features. It stays as it is.
    generator : generator
        What makes the partitions.
    """
    X = X.copy()
    X.sum_duplicates()
    X.eliminate_zeros()
    if getattr(make_generator(generator), "metric", None) == "cosine":
        n_entries = np.diff(X.indptr)
        # squares of entries that were divided by the largest one of their row do not overflow
        largest = abs(X).max(axis=1).toarray().ravel()
        X.data /= np.repeat(largest, n_entries)
        X.data /= np.repeat(np.sqrt(X.multiply(X).sum(axis=1).A1), n_entries)
    return X
