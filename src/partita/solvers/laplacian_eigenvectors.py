"""Compute the smallest eigenvalues of the Laplacian of one connected graph."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import splu

from partita._linalg import eigh
from partita.solvers.krylov import improve_eigenvectors

__all__ = ["smallest_eigenvectors"]

_SMALL = 600  # rows: up to here LAPACK is as fast, with 14 edges per row
_FEW_EDGES = 24  # per row: the sparse factor of a graph with more may be a full matrix
_SHIFT = 1e-4  # relative to the largest degree: makes the Laplacian positive definite

Matrix = NDArray[np.float64]


def smallest_eigenvectors(
    graph: sp.csr_matrix, degree: NDArray[np.float64], root: NDArray[np.float64], n_values: int
) -> tuple[NDArray[np.float64], Matrix]:
    """Return the smallest eigenvalues of L = diag(d) - diag(q) S diag(q), and eigenvectors.

    A large graph is solved by a block Krylov method with (L + s I)^-1, whose largest eigenvectors
    are wanted. That takes one Cholesky factor, sparse for a sparse graph, instead of the reduction
    of a full matrix to tridiagonal form. The eigenvector q of the eigenvalue 0 is given. Small
    graphs, and eigenvalues that nearly coincide with the next one, are left to LAPACK.

    Parameters
    ----------
    graph : sparse matrix of shape (n, n), non-negative
        S above the diagonal, a connected graph.
    degree : array of shape (n,)
        Degrees d, such that L q = 0.
    root : array of shape (n,)
        Roots q of the weights of the rows.
    n_values : int
        Number of eigenvalues.

    Returns
    -------
    values : array of shape (n_values,)
        Eigenvalues, ascending from about 0.
    vectors : array of shape (n, n_values)
        Orthonormal eigenvectors.
    """
    if len(degree) > _SMALL and n_values > 1:
        result = _by_inverse(graph, degree, root, n_values)
        if result is not None:
            return result
    return eigh(
        # LAPACK can overwrite the transpose, with its lower triangle filled, without a copy.
        _dense(graph, degree, root).T,
        subset_by_index=(0, n_values - 1),
        overwrite=True,
        check_finite=False,
    )


def _by_inverse(
    graph: sp.csr_matrix, degree: NDArray[np.float64], root: NDArray[np.float64], n_values: int
) -> tuple[NDArray[np.float64], Matrix] | None:
    """Return eigenvalues and eigenvectors, or None if the Krylov method would be slow."""
    n = len(degree)
    solve = _solver(graph, degree + _SHIFT * float(degree.max()), root)
    constant = (root / np.linalg.norm(root))[:, None]

    def multiply(block: Matrix) -> Matrix:
        product = solve(block)
        return np.asarray(product - constant @ (constant.T @ product))

    guess = np.random.default_rng(1).standard_normal((n, n_values - 1))
    guess -= constant @ (constant.T @ guess)
    result = improve_eigenvectors(multiply, guess, n_values - 1)
    if result is None:
        return None
    vectors = np.hstack([constant, result[1]])
    # the inverse is less accurate than L itself
    scaled = root[:, None] * vectors
    image = degree[:, None] * vectors - root[:, None] * (graph @ scaled + graph.T @ scaled)
    small = vectors.T @ image
    values, rotation = eigh((small + small.T) / 2, driver="evd")
    return values, vectors @ rotation


def _solver(
    graph: sp.csr_matrix, diagonal: NDArray[np.float64], root: NDArray[np.float64]
) -> Callable[[Matrix], Matrix]:
    """Return a function that solves (diag(diagonal) - diag(q) S diag(q)) X = B."""
    if graph.nnz <= _FEW_EDGES * len(diagonal):
        scaled = sp.diags(root) @ (graph + graph.T) @ sp.diags(root)
        factor = splu(
            (sp.diags(diagonal) - scaled).tocsc(),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
        return lambda block: np.asarray(factor.solve(block))
    cholesky = scipy.linalg.cho_factor(
        _dense(graph, diagonal, root).T, lower=True, overwrite_a=True, check_finite=False
    )
    return lambda block: np.asarray(scipy.linalg.cho_solve(cholesky, block, check_finite=False))


def _dense(
    graph: sp.csr_matrix, diagonal: NDArray[np.float64], root: NDArray[np.float64]
) -> Matrix:
    """Return diag(diagonal) - diag(q) S diag(q), above the diagonal only."""
    matrix = np.asarray(graph.toarray())
    matrix *= root[:, None]
    matrix *= -root
    np.fill_diagonal(matrix, diagonal)
    return matrix
