"""Spectral embedding and clustering of a dense, sparse or factored affinity, with weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, eigsh

from partita._linalg import eigh
from partita.solvers.kmeans import weighted_kmeans

__all__ = [
    "Factored",
    "as_factor",
    "gram",
    "normalize_rows",
    "scaled_factor",
    "spectral_clustering",
    "spectral_embedding",
    "top_eigenvectors",
]

_DENSE = 1500  # below this order a full decomposition beats Lanczos
_FORMED = 500  # below this order forming a product beats applying its factors
_TINY = 1e-10


@dataclass(frozen=True)
class Factored:
    """The affinity F Fᵀ, never formed; `factor` is dense or sparse, shape (n, p)."""

    factor: Any

    @property
    def shape(self) -> tuple[int, int]:
        return (self.factor.shape[0], self.factor.shape[0])


def top_eigenvectors(
    matrix: Any, n_components: int, *, n: int | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Largest eigenvalues, descending, and their eigenvectors of a symmetric matrix or operator.

    Small matrices are decomposed by LAPACK, others by Lanczos from a fixed start.
    """
    n = matrix.shape[0] if n is None else n
    n_components = min(n_components, n)
    small = n_components > n // 4
    small |= n <= (_DENSE if isinstance(matrix, np.ndarray) else _FORMED)
    if isinstance(matrix, np.ndarray) and small:
        values, vectors = eigh(matrix, subset_by_index=(n - n_components, n - 1))
    elif small:
        dense = matrix @ np.eye(n)
        values, vectors = eigh((dense + dense.T) / 2, subset_by_index=(n - n_components, n - 1))
    else:
        start = np.random.default_rng(0).standard_normal(n)
        values, vectors = eigsh(matrix, k=n_components, which="LA", v0=start)
        order = np.argsort(values)
        values, vectors = values[order], vectors[:, order]
    return values[::-1], vectors[:, ::-1]


def spectral_embedding(
    affinity: Any, weights: NDArray[np.float64], n_components: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Top eigenvectors of D^-½ A D^-½ on weighted rows.

    A row of weight r stands for r equal samples: degrees are d = A r, and the symmetric problem
    is diag(sqrt(r/d)) A diag(sqrt(r/d)), whose eigenvectors divided by sqrt(r) are those of the
    full one.

    Returns
    -------
    values : array of shape (n_components,), descending
    vectors : array of shape (n, n_components)
        Entry of every row as it would stand, repeated, in the full eigenvectors.
    """
    root = np.sqrt(weights)
    if isinstance(affinity, Factored):
        factor = affinity.factor
        degree = np.asarray(factor @ (factor.T @ weights)).ravel()
        scale = root / np.sqrt(np.maximum(degree, _TINY))
        scaled = sp.diags(scale) @ factor if sp.issparse(factor) else scale[:, None] * factor
        return _from_factor(scaled, n_components, root)
    degree = np.asarray(affinity @ weights).ravel()
    scale = root / np.sqrt(np.maximum(degree, _TINY))
    if sp.issparse(affinity):
        normalized = sp.diags(scale) @ affinity @ sp.diags(scale)
    else:
        normalized = affinity * np.outer(scale, scale)
    values, vectors = top_eigenvectors(normalized, n_components)
    return values, vectors / root[:, None]


def _from_factor(
    scaled: Any, n_components: int, root: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Left singular vectors of the scaled factor, from its smaller side."""
    n, p = scaled.shape
    if p <= n:
        values, right = top_eigenvectors(gram(scaled.T), n_components, n=p)
        singular = np.sqrt(np.maximum(values, 0.0))
        left = np.asarray(scaled @ right) / np.maximum(singular, _TINY)
    else:
        values, left = top_eigenvectors(gram(scaled), n_components, n=n)
    return values, left / root[:, None]


def as_factor(factor: Any, *, formed: bool = False) -> Any:
    """An array, a sparse matrix, or an operator where products with it take less than with these.

    An operator has `tocsr` and `scaled`; with `formed` its entries are needed.
    """
    if not isinstance(factor, LinearOperator):
        return sp.csr_matrix(factor) if sp.issparse(factor) else np.asarray(factor, np.float64)
    n, p = factor.shape
    return factor if not formed and _FORMED < p <= n else factor.tocsr()


def scaled_factor(factor: Any, left: NDArray[np.float64], right: NDArray[np.float64]) -> Any:
    """diag(left) F diag(right)."""
    if isinstance(factor, LinearOperator):
        return factor.scaled(left, right)
    if sp.issparse(factor):
        scaled = factor.tocsr(copy=True)
        scaled.data *= np.repeat(left, np.diff(scaled.indptr)) * right[scaled.indices]
        return scaled
    return left[:, None] * factor * right


def gram(matrix: Any) -> Any:
    """M Mᵀ: formed where it is small, an operator where it is not."""
    n = matrix.shape[0]
    if n <= _FORMED:
        product = matrix @ matrix.T
        return np.asarray(product.toarray() if sp.issparse(product) else product)
    transposed = matrix.T.tocsr() if sp.issparse(matrix) else matrix.T
    rows = matrix.tocsr() if sp.issparse(matrix) else matrix
    return LinearOperator((n, n), matvec=lambda v: rows @ (transposed @ v), dtype=np.float64)


def normalize_rows(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows to unit length; a zero row stays zero."""
    length = np.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix / np.where(length > 0, length, 1.0)


def spectral_clustering(
    affinity: Any,
    weights: NDArray[np.float64],
    n_clusters: int,
    rng: np.random.Generator,
    *,
    n_init: int = 10,
) -> NDArray[np.int64]:
    """Normalized spectral clustering: embedding, unit rows, weighted k-means."""
    _, vectors = spectral_embedding(affinity, weights, n_clusters)
    labels, _ = weighted_kmeans(normalize_rows(vectors), weights, n_clusters, rng, n_init=n_init)
    return labels
