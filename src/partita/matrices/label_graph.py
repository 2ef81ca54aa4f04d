"""The bipartite graph of rows and base clusters as a linear operator."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse import csgraph
from scipy.sparse.linalg import LinearOperator

from partita.ensemble import Ensemble
from partita.matrices.cluster_counts import incidence
from partita.matrices.overlaps import overlaps_of_rows
from partita.scale import EnsembleRows, cluster_sums, row_sums

__all__ = ["LabelGraph", "has_matrix", "is_gram_cheaper"]

_SMALL = 2_000_000  # labels below which a sparse matrix is used, and nothing is compiled
_OPERATIONS = 2000  # elementary operations per label: some fifty products in both directions
_PRODUCTS = 45  # products with which Lanczos iterations compute some ten eigenvectors
# a pair of entries and an entry of the result of a sparse product, in products of a dense one
_PAIR, _RESULT = 100, 500
# nanoseconds: a product with the graph and its transpose, per label; a pair of labels of a row to
# form the product of both; an entry of that product when it is applied
_PER_LABEL, _PER_PAIR, _PER_ENTRY = 1.9, 3.5, 0.21


def has_matrix(n_labels: int) -> bool:
    """Return whether a graph of so many labels keeps a sparse matrix."""
    return n_labels < _SMALL


def is_gram_cheaper(n_rows: int, n_partitions: int, n_base_clusters: int) -> bool:
    """Return whether Bᵀ B is formed for eigenvectors, rather than B and Bᵀ applied in turn."""
    forming = _PER_PAIR * n_rows * n_partitions**2 / 2
    applying = _PER_ENTRY * _PRODUCTS * n_base_clusters**2
    return forming + applying < _PER_LABEL * _PRODUCTS * n_rows * n_partitions


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
        graph = LabelGraph(self.ensemble, self.cluster_factors * right, self.row_factors * left)
        graph._incidence = self._incidence
        return graph

    def tocsr(self) -> sp.csr_matrix:
        """Return the graph as a sparse matrix."""
        matrix = incidence(self.ensemble, self.cluster_factors)
        matrix.data *= np.repeat(self.row_factors, np.diff(matrix.indptr))
        return matrix

    def toarray(self) -> NDArray[np.float64]:
        """Return the graph as an array."""
        e, (n, p) = self.ensemble, self.shape
        clusters = e.codes + e.offsets[:-1]
        if e.n_missing:
            clusters[~e.observed] = p  # a column of their own
        matrix = np.zeros((n, p + 1))
        matrix[np.arange(n)[:, None], clusters] = np.append(self.cluster_factors, 0.0)[clusters]
        matrix *= self.row_factors[:, None]
        return matrix[:, :p]

    @property
    def is_faster_dense(self) -> bool:
        """Whether the product of the graph and its transpose is faster of arrays.

        Otherwise it is that of sparse matrices, whose cost depends on the pairs of labels of a row,
        or of members of a cluster if there are more clusters than rows.
        """
        n, p = self.shape
        smaller = min(n, p)
        n_pairs = self.ensemble.codes.size**2 / max(n, p)
        sparse = _PAIR * n_pairs + _RESULT * min(smaller**2, n_pairs)
        return n * p < _SMALL and smaller * n * p < sparse

    @cached_property
    def _incidence(self) -> sp.csr_matrix | None:
        """The 0/1 matrix B of a small graph."""
        return incidence(self.ensemble) if has_matrix(self.ensemble.codes.size) else None

    @cached_property
    def _transposed(self) -> Any:
        """Bᵀ of a small graph; scipy takes as long to transpose as for a product."""
        return None if self._incidence is None else self._incidence.T

    @property
    def is_gram_cheaper(self) -> bool:
        """Whether `column_gram` is faster than the products of a Lanczos iteration."""
        n, m = self.ensemble.codes.shape
        return is_gram_cheaper(n, m, self.shape[1])

    def column_gram(self) -> NDArray[np.float64]:
        """Return Gᵀ G, dense (L, L)."""
        squares = self.row_factors**2 / self.ensemble.weights
        product = overlaps_of_rows(EnsembleRows(self.ensemble), lambda _: squares)
        product *= self.cluster_factors
        product *= self.cluster_factors[:, None]
        return product

    def components(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the connected component of every row and of every base cluster.

        Partitions are joined one by one: rows that are in one cluster of any of them are in one
        component.
        """
        e = self.ensemble
        rows = np.arange(e.n_rows)
        for codes in e.codes.T:
            labeled = np.flatnonzero(codes != e.missing_code)
            rows = _join(rows, labeled, codes[labeled].astype(np.int64))
            if not rows.any():
                return rows, np.zeros(self.shape[1], np.int64)
        columns = np.zeros(self.shape[1], np.int64)
        for codes, start in zip(e.codes.T, e.offsets, strict=False):
            labeled = np.flatnonzero(codes != e.missing_code)
            columns[start + codes[labeled].astype(np.int64)] = rows[labeled]
        return rows, columns

    def _matvec(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        e = self.ensemble
        values = self.cluster_factors * v.ravel()
        if self._incidence is not None:
            return self.row_factors * (self._incidence @ values)
        work = _OPERATIONS * e.codes.size
        return self.row_factors * row_sums(e.codes, e.missing_code, e.offsets, values, work)

    def _matmat(self, V: NDArray[np.float64]) -> NDArray[np.float64]:
        if self._incidence is None:
            return np.column_stack([self._matvec(v) for v in V.T])
        return self.row_factors[:, None] * (self._incidence @ (self.cluster_factors[:, None] * V))

    def _rmatvec(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        e = self.ensemble
        values = self.row_factors * v.ravel()
        if self._incidence is not None:
            return self.cluster_factors * (self._transposed @ values)
        work = _OPERATIONS * e.codes.size
        sums = cluster_sums(e.codes, e.missing_code, e.offsets, values, work)
        return self.cluster_factors * sums

    def _transpose(self) -> Any:
        return self._adjoint()


def _join(
    components: NDArray[np.int64], labeled: NDArray[np.int64], codes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the components of rows after those with equal codes are joined."""
    n_old, n_codes = int(components.max()) + 1, int(codes.max(initial=-1)) + 1
    pairs = components[labeled] * n_codes + codes
    if n_old * n_codes <= len(pairs):  # few different pairs
        pairs = np.flatnonzero(np.bincount(pairs))
    if not len(pairs):
        return components
    old, new = np.divmod(pairs, n_codes)
    n_nodes = n_old + n_codes
    edges = sp.coo_matrix((np.ones(len(old)), (old, n_old + new)), (n_nodes, n_nodes))
    joined = csgraph.connected_components(edges, directed=False)[1][:n_old]
    return np.unique(joined, return_inverse=True)[1].astype(np.int64)[components]
