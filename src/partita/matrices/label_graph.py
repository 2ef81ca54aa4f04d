"""The graph of rows and clusters, as products by look-up."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from partita.ensemble import Ensemble
from partita.matrices.cluster_counts import incidence
from partita.scale import cluster_sums, row_sums

__all__ = ["LabelGraph"]


class LabelGraph(LinearOperator):
    """diag(a) B diag(b), never formed: edges between rows and their clusters.

    A product costs one look-up per label, in either direction, and no more memory than the table of
    labels itself.

    Parameters
    ----------
    ensemble : Ensemble
    of_clusters : array of shape (n_base_clusters,), optional
        b; 1 by default.
    of_rows : array of shape (n_rows,), optional
        a; 1 by default.
    """

    def __init__(
        self,
        ensemble: Ensemble,
        of_clusters: NDArray[np.float64] | None = None,
        of_rows: NDArray[np.float64] | None = None,
    ) -> None:
        n, p = ensemble.n_rows, ensemble.n_base_clusters
        super().__init__(np.dtype(np.float64), (n, p))
        self.ensemble = ensemble
        self.of_clusters = np.ones(p) if of_clusters is None else of_clusters
        self.of_rows = np.ones(n) if of_rows is None else of_rows

    def scaled(self, left: NDArray[np.float64], right: NDArray[np.float64]) -> LabelGraph:
        """diag(left) G diag(right)."""
        return LabelGraph(self.ensemble, self.of_clusters * right, self.of_rows * left)

    def tocsr(self) -> sp.csr_matrix:
        """The graph as a sparse matrix."""
        return sp.csr_matrix(sp.diags(self.of_rows) @ incidence(self.ensemble, self.of_clusters))

    def _matvec(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        e = self.ensemble
        values = self.of_clusters * v.ravel()
        return self.of_rows * row_sums(e.codes, e.missing_code, e.offsets, values)

    def _rmatvec(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        e = self.ensemble
        values = self.of_rows * v.ravel()
        return self.of_clusters * cluster_sums(e.codes, e.missing_code, e.offsets, values)

    def _transpose(self) -> Any:
        return self._adjoint()
