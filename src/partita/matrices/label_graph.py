"""The bipartite graph of rows and base clusters as a linear operator."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from partita.ensemble import Ensemble
from partita.matrices.cluster_counts import incidence
from partita.scale import cluster_sums, row_sums

__all__ = ["LabelGraph"]

_SMALL = 2_000_000  # labels up to which a sparse matrix is as fast as compiled look-ups


class LabelGraph(LinearOperator):
    """The edges diag(a) B diag(b) between rows and base clusters, without a matrix.

    A product costs one look-up per label, in either direction, and no memory besides the codes. A
    small graph keeps its sparse matrix, with the same sums in the same order.

    Parameters
    ----------
    ensemble : Ensemble
        The partitions.
    cluster_factors : array of shape (n_base_clusters,), optional
        Factors b of the base clusters; 1 by default.
    row_factors : array of shape (n_rows,), optional
        Factors a of the rows; 1 by default.
    """

    def __init__(
        self,
        ensemble: Ensemble,
        cluster_factors: NDArray[np.float64] | None = None,
        row_factors: NDArray[np.float64] | None = None,
    ) -> None:
        n, p = ensemble.n_rows, ensemble.n_base_clusters
        super().__init__(np.dtype(np.float64), (n, p))
        self.ensemble = ensemble
        self.cluster_factors = np.ones(p) if cluster_factors is None else cluster_factors
        self.row_factors = np.ones(n) if row_factors is None else row_factors

    def scaled(self, left: NDArray[np.float64], right: NDArray[np.float64]) -> LabelGraph:
        """Return diag(left) G diag(right)."""
        return LabelGraph(self.ensemble, self.cluster_factors * right, self.row_factors * left)

    def tocsr(self) -> sp.csr_matrix:
        """Return the graph as a sparse matrix."""
        return sp.csr_matrix(
            sp.diags(self.row_factors) @ incidence(self.ensemble, self.cluster_factors)
        )

    @cached_property
    def _incidence(self) -> sp.csr_matrix | None:
        """The 0/1 matrix B of a small graph."""
        return incidence(self.ensemble) if self.ensemble.codes.size <= _SMALL else None

    def _matvec(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        e = self.ensemble
        values = self.cluster_factors * v.ravel()
        if self._incidence is not None:
            return self.row_factors * (self._incidence @ values)
        return self.row_factors * row_sums(e.codes, e.missing_code, e.offsets, values)

    def _rmatvec(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        e = self.ensemble
        values = self.row_factors * v.ravel()
        if self._incidence is not None:
            return self.cluster_factors * (self._incidence.T @ values)
        return self.cluster_factors * cluster_sums(e.codes, e.missing_code, e.offsets, values)

    def _transpose(self) -> Any:
        return self._adjoint()
