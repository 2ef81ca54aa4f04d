"""Shrinkage operators, and the affinity of a low-rank representation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita._linalg import eigh, svd
from partita.solvers.spectral import normalize_rows

__all__ = ["low_rank_affinity", "shrink_columns", "shrink_entries", "shrink_singular_values"]

_RANK_CUT = 1e-4  # singular values below this share of the largest count as noise
_GRAM_LIMIT = 1e-5  # squaring a matrix loses singular values below this share of its norm


def shrink_singular_values(
    matrix: NDArray[np.float64], threshold: float | NDArray[np.float64]
) -> NDArray[np.float64]:
    """Lower all singular values by the threshold, to at least 0.

    Returns argmin_J threshold ‖J‖_* + ½ ‖J - X‖²_F. Only the singular vectors above the threshold
    are computed, from the eigenvectors of XᵀX. Their number is exact, unlike that of an iterative
    partial decomposition. If the threshold is so low that XᵀX would lose digits, the full
    decomposition of X is used.

    Parameters
    ----------
    matrix : array of shape (n, n)
        X.
    threshold : float, or array of shape (n,)
        An array has one threshold per singular value, in descending order of these.
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
    """Shorten every column by its threshold, to at least 0.

    Returns argmin_E Σ_j threshold_j ‖E_j‖ + ½ ‖E - X‖²_F.
    """
    length = np.linalg.norm(matrix, axis=0)
    is_kept = length > threshold
    factor = np.where(is_kept, 1.0 - threshold / np.where(is_kept, length, 1.0), 0.0)
    return np.asarray(matrix * factor)


def shrink_entries(
    matrix: NDArray[np.float64], threshold: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Move every entry towards 0 by its threshold: argmin_E Σ threshold |E| + ½ ‖E - X‖²_F."""
    return np.asarray(matrix - np.clip(matrix, -threshold, threshold))


def low_rank_affinity(
    matrix: NDArray[np.float64], *, symmetric: bool = False
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

    Returns
    -------
    array of shape (n, n)
        Positive semidefinite, entries in [0, 1], 1 on the diagonal (also of a row of zeros).
    """
    if symmetric:
        values, U = eigh(matrix, driver="evd")
        sigma = np.abs(values)
    else:
        U, sigma, _ = svd(matrix)
    is_kept = sigma > _RANK_CUT * sigma.max()
    directions = normalize_rows(U[:, is_kept] * np.sqrt(sigma[is_kept]))
    affinity = directions @ directions.T
    affinity *= affinity
    affinity *= affinity
    np.fill_diagonal(affinity, 1.0)
    return np.asarray(affinity)
