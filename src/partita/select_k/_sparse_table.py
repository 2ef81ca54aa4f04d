"""A sparse table of features, such as counts of terms, whose number of clusters is scanned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita.ensemble import Ensemble
from partita.generators.generation import cuts_a_graph, generate_for_each, make_generator
from partita.select_k._evidence import Evidence
from partita.select_k._scanned import ScannedFeatures
from partita.select_k._sparse_null import exchanged_reference
from partita.select_k._spectral_gap import eigenvalue_ratios

__all__ = ["SparseTable", "rows_as_compared"]


class SparseTable(ScannedFeatures):
    """Sparse features and the generator of their partitions.

    The gap in the spectrum of their graph of neighbors weighs, but is not tested: texts about
    several topics seldom have a gap as large as that of a line or a sphere, and the null has the
    neighbors that texts without topics have.

    Parameters
    ----------
    X : canonical CSR matrix of shape (n_samples, n_features)
        Features, as `rows_as_compared` returns them.
    generator : generator
        What makes the partitions.
    """

    gap_is_tested: ClassVar[bool] = False

    def __init__(self, X: sp.csr_matrix, generator: Any) -> None:
        self._X, self._generator = X, generator
        self.n_samples = X.shape[0]

    def partitions(self, numbers: Sequence[int], random_state: int) -> Iterator[Ensemble]:
        return generate_for_each(self._X, self._generator, numbers, random_state=random_state)

    def reference(self, rng: np.random.Generator) -> Self:
        drawn = exchanged_reference(self._X, rng)
        return type(self)(rows_as_compared(drawn, self._generator), self._generator)

    def subset(self, rows: NDArray[np.int64]) -> Self:
        return type(self)(self._X[rows], self._generator)

    def evidence(self) -> Evidence:
        return Evidence.of_features(self._X, is_graph=cuts_a_graph(self._generator))

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
