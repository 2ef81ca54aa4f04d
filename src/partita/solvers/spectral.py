"""Embed and cluster weighted rows by the eigenvectors of their affinity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, aslinearoperator, eigsh

from partita._linalg import eigh, symmetric_operator
from partita._threads import run_blocks
from partita.solvers.components import component_vectors, connected_components
from partita.solvers.kmeans import weighted_kmeans

__all__ = [
    "Factored",
    "as_factor",
    "column_gram",
    "embed_normalized",
    "gram",
    "normalize_affinity",
    "normalize_rows",
    "scaled_factor",
    "spectral_clustering",
    "spectral_embedding",
    "top_eigenvectors",
]

_DENSE = 1500  # up to this order a full decomposition is faster than Lanczos
_FORMED = 500  # up to this order forming a product is faster than applying its factors
_FEW_ROWS = 1000  # up to this number a product of sparse matrices is the fastest way to form it
_RESIDUAL = 1e-10  # of Lanczos iterations, relative to the eigenvalue
_ROWS_PER_RESTART = 10  # more restarts of Lanczos cost more than a full decomposition
_TINY = 1e-10
_BLOCK_ENTRIES = 1 << 17  # of an affinity at a time, which stay in the cache


@dataclass(frozen=True)
class Factored:
    """The affinity F Fᵀ, which is never formed.

    Attributes
    ----------
    factor : array or sparse matrix of shape (n, p)
        F.
    """

    factor: Any

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the affinity, (n, n)."""
        return (self.factor.shape[0], self.factor.shape[0])


def top_eigenvectors(
    matrix: Any,
    n_components: int,
    *,
    n: int | None = None,
    first: Callable[[int], NDArray[np.float64]] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the largest eigenvalues, descending, and their eigenvectors.

    A Krylov space of one vector contains one eigenvector of every eigenvalue, so that Lanczos
    misses copies of a multiple eigenvalue and returns smaller ones in their place. The normalized
    graph of separate clusters has the eigenvalue 1 once for each: the eigenvectors must be passed.

    Parameters
    ----------
    matrix : array, sparse matrix or linear operator of shape (n, n), symmetric
        Small matrices are decomposed by LAPACK, others by Lanczos with a fixed initial vector. So
        are arrays whose eigenvalues are so close to each other that Lanczos does not converge.
    n_components : int
        Number of eigenvalues, at most n are returned.
    n : int, optional
        Order of the matrix. By default `matrix.shape[0]`.
    first : callable, optional
        Returns the eigenvectors of the eigenvalue 1, at most as many as its argument says, if that
        is the largest and may be multiple (`component_vectors`). Called only for Lanczos.
    """
    n = matrix.shape[0] if n is None else n
    n_components = min(n_components, n)
    is_small = n_components > n // 4
    is_small |= n <= (_DENSE if isinstance(matrix, np.ndarray) else _FORMED)
    if isinstance(matrix, np.ndarray):
        if not is_small:
            try:
                return _lanczos(
                    symmetric_operator(matrix), n_components, n, first, n // _ROWS_PER_RESTART
                )
            except ArpackNoConvergence:
                pass
        values, vectors = eigh(matrix, subset_by_index=(n - n_components, n - 1))
    elif is_small:
        dense = matrix @ np.eye(n)
        values, vectors = eigh((dense + dense.T) / 2, subset_by_index=(n - n_components, n - 1))
    else:
        return _lanczos(matrix, n_components, n, first)
    return values[::-1], vectors[:, ::-1]


def _lanczos(
    matrix: Any,
    n_components: int,
    n: int,
    first: Callable[[int], NDArray[np.float64]] | None,
    max_restarts: int | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the first eigenvectors, of eigenvalue 1, and the next ones by Lanczos."""
    basis, rest = np.zeros((n, 0)), matrix
    if first is not None:
        basis = first(n_components)
        rest = LinearOperator(
            (n, n),
            matvec=lambda v: np.asarray(matrix @ v).ravel() - basis @ (basis.T @ v.ravel()),
            dtype=np.float64,
        )
    ones, n_left = np.ones(basis.shape[1]), n_components - basis.shape[1]
    if n_left == 0:
        return ones, basis
    start = np.random.default_rng(0).standard_normal(n)
    options: dict[str, Any] = {"v0": start, "tol": _RESIDUAL, "maxiter": max_restarts}
    values, vectors = eigsh(rest, k=n_left, which="LA", **options)
    order = np.argsort(values)[::-1]
    return np.concatenate([ones, values[order]]), np.hstack([basis, vectors[:, order]])


def spectral_embedding(
    affinity: Any,
    weights: NDArray[np.float64],
    n_components: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the leading eigenvectors of D^-½ A D^-½ on weighted rows.

    A row of weight r stands for r equal samples: degrees are d = A r, and the symmetric problem
    is diag(sqrt(r/d)) A diag(sqrt(r/d)). Its eigenvectors divided by sqrt(r) are those of the
    problem over all samples.

    Parameters
    ----------
    affinity : array, sparse matrix or `Factored` of shape (n, n)
        A.
    weights : array of shape (n,)
        Weights r of the rows.
    n_components : int
        Number of eigenvectors.

    Returns
    -------
    values : array of shape (n_components,), descending
        Eigenvalues.
    vectors : array of shape (n, n_components)
        Entries that each sample of a row has in the eigenvectors over all samples.
    """
    root = np.sqrt(weights)
    if isinstance(affinity, Factored):
        factor = affinity.factor
        degree = np.asarray(factor @ (factor.T @ weights)).ravel()
        scale = root / np.sqrt(np.maximum(degree, _TINY))
        scaled = sp.diags(scale) @ factor if sp.issparse(factor) else scale[:, None] * factor
        return _from_factor(scaled, n_components, root)
    if sp.issparse(affinity):
        degree = np.asarray(affinity @ weights).ravel()
        scale = root / np.sqrt(np.maximum(degree, _TINY))
        normalized = sp.diags(scale) @ affinity @ sp.diags(scale)
    else:
        normalized = np.array(affinity, np.float64)
        degree = normalize_affinity(normalized, weights)
    return embed_normalized(normalized, degree, weights, n_components)


def normalize_affinity(
    affinity: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Replace an array A by diag(sqrt(r/d)) A diag(sqrt(r/d)) and return the degrees d = A r."""
    degree = affinity @ weights
    scale = np.sqrt(weights) / np.sqrt(np.maximum(degree, _TINY))
    n = len(affinity)

    def normalize(start: int, stop: int) -> None:
        affinity[start:stop] *= np.outer(scale[start:stop], scale)  # exactly symmetric

    run_blocks(normalize, n, max(1, _BLOCK_ENTRIES // n))
    return np.asarray(degree)


def embed_normalized(
    normalized: Any,
    degree: NDArray[np.float64],
    weights: NDArray[np.float64],
    n_components: int,
    *,
    solve: Callable[..., tuple[NDArray[np.float64], NDArray[np.float64]]] = top_eigenvectors,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the result of `spectral_embedding` from the normalized affinity and its degrees.

    `solve` is called like `top_eigenvectors`, in its place.
    """

    def first(most: int) -> NDArray[np.float64]:
        components = connected_components(normalized, symmetric=True)[1]
        return component_vectors(components, weights * degree, most)

    values, vectors = solve(normalized, n_components, first=first)
    return values, vectors / np.sqrt(weights)[:, None]


def _from_factor(
    scaled: Any, n_components: int, root: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the left singular vectors of the scaled factor, computed from its smaller side."""
    n, p = scaled.shape
    if p <= n:
        values, right = top_eigenvectors(gram(scaled.T), n_components, n=p)
        singular = np.sqrt(np.maximum(values, 0.0))
        left = np.asarray(scaled @ right) / np.maximum(singular, _TINY)
    else:
        values, left = top_eigenvectors(gram(scaled), n_components, n=n)
    return values, left / root[:, None]


def as_factor(factor: Any, *, formed: bool = False) -> Any:
    """Return the factor in the form in which products with it are fastest.

    Parameters
    ----------
    factor : array, sparse matrix or operator like `LabelGraph`
        An operator stays one only where that is faster.
    formed : bool, default=False
        Whether the entries are needed, so that an operator must become a sparse matrix.
    """
    if not isinstance(factor, LinearOperator):
        return sp.csr_matrix(factor) if sp.issparse(factor) else np.asarray(factor, np.float64)
    n, p = factor.shape
    if formed:
        return factor.tocsr()
    if p <= n and (p > _FORMED or n > _FEW_ROWS):
        return factor
    return factor.toarray() if factor.is_faster_dense else factor.tocsr()


def scaled_factor(factor: Any, left: NDArray[np.float64], right: NDArray[np.float64]) -> Any:
    """Return diag(left) F diag(right)."""
    if isinstance(factor, LinearOperator):
        return factor.scaled(left, right)
    if sp.issparse(factor):
        scaled = factor.tocsr(copy=True)
        scaled.data *= np.repeat(left, np.diff(scaled.indptr)) * right[scaled.indices]
        return scaled
    scaled = left[:, None] * factor
    scaled *= right
    return scaled


def gram(matrix: Any) -> Any:
    """Return M Mᵀ: an array if it is small, otherwise an operator."""
    n = matrix.shape[0]
    if n <= _FORMED:
        product = matrix @ matrix.T
        return np.asarray(product.toarray() if sp.issparse(product) else product)
    transposed = matrix.T.tocsr() if sp.issparse(matrix) else matrix.T
    rows = matrix.tocsr() if sp.issparse(matrix) else matrix
    return LinearOperator((n, n), matvec=lambda v: rows @ (transposed @ v), dtype=np.float64)


def column_gram(factor: Any) -> Any:
    """Return Fᵀ F for eigenvectors: an array if it is small, otherwise an operator.

    An operator like `LabelGraph` says whether forming the product is faster than applying F and Fᵀ
    some fifty times.
    """
    if not isinstance(factor, LinearOperator):
        return gram(factor.T)
    is_small = factor.shape[1] <= _FORMED
    if not is_small and not factor.is_gram_cheaper:
        return gram(factor.T)
    product = factor.column_gram()
    return product if is_small else aslinearoperator(product)


def normalize_rows(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale rows to unit length; a row of zeros stays zero."""
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
    """Return labels by normalized spectral clustering: embedding, unit rows, weighted k-means.

    Parameters
    ----------
    affinity, weights
        As in `spectral_embedding`.
    n_clusters : int
        Number of clusters.
    rng : Generator
        Source of random numbers.
    n_init : int, default=10
        Restarts of k-means.
    """
    _, vectors = spectral_embedding(affinity, weights, n_clusters)
    labels, _ = weighted_kmeans(normalize_rows(vectors), weights, n_clusters, rng, n_init=n_init)
    return labels
