"""Shrinkage of singular values, and the affinity of a low-rank representation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita._linalg import eigh, eigh_above, svd
from partita._threads import run_blocks
from partita.solvers.spectral import normalize_rows

__all__ = [
    "RANK_CUT",
    "Triplets",
    "affinity_of_directions",
    "leading_directions",
    "low_rank_affinity",
    "shrink_eigenvalues",
    "shrink_singular_values",
]

RANK_CUT = 1e-4  # singular values below this share of the largest count as noise
_GRAM_LIMIT = 1e-5  # squaring a matrix loses singular values below this share of its norm
_LEAST_THRESHOLD = 3e-7  # share of the norm: the square of a threshold above is no rounding error
_MARGIN = 0.98  # of the square of a threshold: covers the rounding errors of the squares beside it
_TILE = 512  # rows and columns of the affinity per block, which stay in the cache


class Triplets(NamedTuple):
    """The matrix U diag(sigma) Vᵀ, with singular vectors in the columns of U and V."""

    U: NDArray[np.float64]
    sigma: NDArray[np.float64]
    V: NDArray[np.float64]


def shrink_singular_values(
    matrix: NDArray[np.float64], threshold: float | NDArray[np.float64]
) -> Triplets:
    """Lower all singular values by the threshold, to at least 0.

    Returns argmin_J threshold ‖J‖_* + ½ ‖J - X‖²_F by its singular triplets above 0. Only the
    singular vectors above the threshold are computed, from the eigenvectors of XXᵀ. Their number is
    exact, unlike that of an iterative partial decomposition. If a singular value near the threshold
    or above is so small that XXᵀ loses its digits, the full decomposition of X is used.

    Parameters
    ----------
    matrix : array of shape (p, n), p <= n
        X.
    threshold : float, or array of shape (p,)
        An array has one threshold per singular value, in descending order of these.
    """
    if isinstance(threshold, np.ndarray):
        U, sigma, Vt = svd(matrix, full_matrices=False)
        is_kept = sigma > threshold
        return Triplets(U[:, is_kept], (sigma - threshold)[is_kept], Vt[is_kept].T)
    size = np.abs(matrix)
    bound = np.sqrt(size.sum(axis=0).max() * size.sum(axis=1).max())  # ‖X‖₂ ≤ √(‖X‖₁‖X‖_∞)
    del size
    if bound <= threshold:
        p, n = matrix.shape
        return Triplets(np.empty((p, 0)), np.empty(0), np.empty((n, 0)))
    norm = np.linalg.norm(matrix)
    if threshold >= _LEAST_THRESHOLD * norm:
        gram = matrix @ matrix.T
        squares, U = eigh_above(gram.T, least=_MARGIN * threshold**2)
        sigma = np.sqrt(squares)
        if threshold >= _GRAM_LIMIT * norm or np.all(sigma >= _GRAM_LIMIT * norm):
            is_kept = sigma > threshold
            U, sigma = U[:, is_kept], sigma[is_kept]
            return Triplets(U, sigma - threshold, matrix.T @ (U / sigma))
    return shrink_singular_values(matrix, np.full(len(matrix), threshold))


def shrink_eigenvalues(
    matrix: NDArray[np.float64], threshold: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bring all eigenvalues of a symmetric matrix nearer to 0 by the threshold, to at most 0.

    Returns argmin_J threshold ‖J‖_* + ½ ‖J - X‖²_F by its eigenvalues other than 0 and their
    eigenvectors. Only these are computed, with all digits for any threshold.

    Parameters
    ----------
    matrix : array of shape (n, n), symmetric
        X.
    threshold : float
        Positive threshold.

    Returns
    -------
    values : array of shape (p,)
        Eigenvalues of J.
    vectors : array of shape (n, p)
        Their eigenvectors.
    """
    high, upper = eigh(matrix, subset_by_value=(threshold, np.inf))
    low, lower = eigh(matrix, subset_by_value=(-np.inf, -threshold))
    return np.append(low + threshold, high - threshold), np.hstack([lower, upper])


def leading_directions(
    values: NDArray[np.float64],
    vectors: NDArray[np.float64],
    *bases: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the rows of U |Σ|^½ with unit length, without values below 1e-4 of the largest.

    U is `vectors`, or the columns of all `bases`, in a row, times `vectors`.
    """
    sigma = np.abs(values)
    is_kept = sigma > RANK_CUT * sigma.max(initial=0.0)
    rows = vectors[:, is_kept] * np.sqrt(sigma[is_kept])
    if bases:
        first, total = 0, np.zeros((len(bases[0]), rows.shape[1]))
        for basis in bases:
            total += basis @ rows[first : first + basis.shape[1]]
            first += basis.shape[1]
        rows = total
    return normalize_rows(rows)


def affinity_of_directions(directions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the fourth power of the cosine between any two directions, 1 on the diagonal."""
    n = len(directions)
    affinity = np.empty((n, n))

    def fill(start: int, stop: int) -> None:
        for first in range(start, n, _TILE):
            columns = slice(first, first + _TILE)
            tile = directions[start:stop] @ directions[columns].T
            tile *= tile
            np.multiply(tile, tile, out=affinity[start:stop, columns])
            if first > start:
                affinity[columns, start:stop] = affinity[start:stop, columns].T

    run_blocks(fill, n, _TILE)
    np.fill_diagonal(affinity, 1.0)
    return affinity


def low_rank_affinity(
    matrix: NDArray[np.float64],
    *,
    symmetric: bool = False,
    basis: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return the affinity of samples in a low-rank representation Z = U Σ Vᵀ.

    The rows of U Σ^½, without the singular values below 1e-4 of the largest, have one direction
    per subspace. The affinity of two samples is the fourth power of the cosine between their rows.
    This is the usual step between low-rank representation and spectral clustering.

    Parameters
    ----------
    matrix : array of shape (n, n)
        Z; for rows of weight r, diag(√r) Z diag(√r): the cosine does not depend on lengths, so it
        does not depend on the weights.
    symmetric : bool, default=False
        Whether the matrix equals its transpose, which saves most of the work.
    basis : array of shape (n, r) with orthonormal columns, optional
        If passed, the representation is the product of `basis` and `matrix`, of shape (r, n), and
        only an r x r matrix is decomposed. By default `matrix` is the representation.

    Returns
    -------
    array of shape (n, n)
        Positive semidefinite, entries in [0, 1], 1 on the diagonal (also of a row of zeros).
    """
    if symmetric:
        values, U = eigh(matrix, driver="evd")
    else:
        # A = Rᵀ Pᵀ with orthonormal P: the small matrix Rᵀ has the same U and Σ as A.
        wide = matrix.shape[0] < matrix.shape[1]
        U, values, _ = svd(np.asarray(np.linalg.qr(matrix.T, mode="r")).T if wide else matrix)
    bases = () if basis is None else (basis,)
    return affinity_of_directions(leading_directions(values, U, *bases))
