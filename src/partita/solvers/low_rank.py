"""Singular values cut down, and the affinity that a low-rank representation stands for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita._linalg import eigh, svd
from partita.solvers.spectral import normalize_rows

__all__ = ["low_rank_affinity", "shrink_columns", "shrink_entries", "shrink_singular_values"]

_RANK_CUT = 1e-4  # singular values below this share of the largest are noise of the representation
_GRAM_LIMIT = 1e-5  # squaring a matrix loses singular values below this share of its norm


def shrink_singular_values(
    matrix: NDArray[np.float64], threshold: float | NDArray[np.float64]
) -> NDArray[np.float64]:
    """The matrix with its singular values lowered by the threshold, negative ones set to 0.

    argmin_J threshold ‖J‖_* + ½ ‖J - X‖²_F. Only the singular vectors above the threshold are
    computed, from the eigenvectors of XᵀX; their number is exact, unlike that of a partial
    decomposition by iteration. A threshold so low that squaring would cost digits takes the full
    decomposition instead.

    Parameters
    ----------
    matrix : array of shape (n, n)
    threshold : float, or array of shape (n,)
        An array holds the threshold of the largest singular value, of the second, and so on.
    """
    if isinstance(threshold, np.ndarray):
        U, sigma, Vt = svd(matrix)
        return np.asarray((U * np.maximum(sigma - threshold, 0.0)) @ Vt)
    size = np.abs(matrix)
    if np.sqrt(size.sum(axis=0).max() * size.sum(axis=1).max()) <= threshold:  # ‖X‖₂ ≤ √(‖X‖₁‖X‖_∞)
        return np.zeros_like(matrix)
    if threshold < _GRAM_LIMIT * np.linalg.norm(matrix):
        return shrink_singular_values(matrix, np.full(len(matrix), threshold))
    squares, V = eigh(matrix.T @ matrix, subset_by_value=(threshold**2, np.inf))
    # U (Σ - τ) Vᵀ = X V (1 - τ/Σ) Vᵀ
    return np.asarray((matrix @ (V * (1.0 - threshold / np.sqrt(squares)))) @ V.T)


def shrink_columns(
    matrix: NDArray[np.float64], threshold: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Every column shortened by its threshold, to nothing where it is no longer than that.

    argmin_E Σ_j threshold_j ‖E_j‖ + ½ ‖E - X‖²_F.
    """
    length = np.linalg.norm(matrix, axis=0)
    kept = length > threshold
    return np.asarray(matrix * np.where(kept, 1.0 - threshold / np.where(kept, length, 1.0), 0.0))


def shrink_entries(
    matrix: NDArray[np.float64], threshold: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Every entry moved towards 0 by its threshold: argmin_E Σ threshold |E| + ½ ‖E - X‖²_F."""
    return np.asarray(matrix - np.clip(matrix, -threshold, threshold))


def low_rank_affinity(
    matrix: NDArray[np.float64], *, symmetric: bool = False
) -> NDArray[np.float64]:
    """The affinity of samples that a low-rank representation Z = U Σ Vᵀ stands for.

    The rows of U Σ^½, without the singular values below 1e-4 of the largest, point in a direction
    per subspace; the affinity is the fourth power of the cosine between two of them. It is the
    usual step between low-rank representation and spectral clustering.

    Parameters
    ----------
    matrix : array of shape (n, n)
        With rows of weight r, diag(√r) Z diag(√r): lengths, and with them weights, drop out.
    symmetric : bool
        Whether the matrix equals its transpose, which saves most of the work.

    Returns
    -------
    array of shape (n, n)
        Positive semidefinite, entries in [0, 1], 1 on the diagonal (of a row of zeros too).
    """
    if symmetric:
        values, U = eigh(matrix, driver="evd")
        sigma = np.abs(values)
    else:
        U, sigma, _ = svd(matrix)
    kept = sigma > _RANK_CUT * sigma.max()
    directions = normalize_rows(U[:, kept] * np.sqrt(sigma[kept]))
    affinity = directions @ directions.T
    affinity *= affinity
    affinity *= affinity
    np.fill_diagonal(affinity, 1.0)
    return np.asarray(affinity)
