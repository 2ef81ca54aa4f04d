"""Symmetric eigenproblems and singular values that do not fail on degenerate spectra.

Every decomposition of the library goes through this module. LAPACK's fastest drivers can stop with
an internal error, or return fewer eigenpairs than requested, where eigenvalues repeat. The next
driver is then tried.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

__all__ = ["eigh", "svd"]

_EIGEN_DRIVERS = ("evr", "evd", "ev")
_SVD_DRIVERS = ("gesdd", "gesvd")


def eigh(
    matrix: NDArray[np.float64],
    *,
    subset_by_index: tuple[int, int] | None = None,
    subset_by_value: tuple[float, float] | None = None,
    driver: str = "evr",
    overwrite: bool = False,
    check_finite: bool = True,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return eigenvalues, ascending, and eigenvectors of a symmetric matrix.

    Parameters
    ----------
    matrix : array of shape (n, n)
    subset_by_index : (first, last), optional
        Indices of the eigenvalues to return, both ends included. All by default.
    subset_by_value : (low, high), optional
        Return eigenvalues in the half-open interval (low, high].
    driver : {"evr", "evd", "ev"}, default="evr"
        LAPACK driver to try first.
    overwrite : bool, default=False
        Whether the memory of `matrix` may be used.
    check_finite : bool, default=True
        Whether to refuse NaN and infinity.
    """
    matrix = np.asarray(matrix)
    diagonal = matrix.diagonal().copy() if overwrite else None
    failure: Exception | None = None
    for name in (driver, *(d for d in _EIGEN_DRIVERS if d != driver)):
        if failure is not None and diagonal is not None:
            # LAPACK has destroyed the diagonal and the lower triangle; the upper one is intact.
            lower = np.tril_indices_from(matrix, -1)
            matrix[lower] = matrix.T[lower]
            matrix[np.diag_indices_from(matrix)] = diagonal
        subsets: dict[str, Any] = {}
        if name == "evr":
            subsets = {"subset_by_index": subset_by_index, "subset_by_value": subset_by_value}
        try:
            values, vectors = scipy.linalg.eigh(
                matrix, driver=name, overwrite_a=overwrite, check_finite=check_finite, **subsets
            )
        except np.linalg.LinAlgError as error:
            failure = error
            continue
        if name != "evr":
            values, vectors = _select(values, vectors, subset_by_index, subset_by_value)
        if subset_by_index is None or len(values) == subset_by_index[1] - subset_by_index[0] + 1:
            return values, vectors
        failure = np.linalg.LinAlgError(f"driver {name!r} returned {len(values)} eigenpairs")
    assert failure is not None
    raise failure


def _select(
    values: NDArray[np.float64],
    vectors: NDArray[np.float64],
    subset_by_index: tuple[int, int] | None,
    subset_by_value: tuple[float, float] | None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if subset_by_index is not None:
        chosen: Any = slice(subset_by_index[0], subset_by_index[1] + 1)
    elif subset_by_value is not None:
        chosen = (values > subset_by_value[0]) & (values <= subset_by_value[1])
    else:
        return values, vectors
    return values[chosen], vectors[:, chosen]


def svd(matrix: NDArray[np.float64], *, compute_uv: bool = True, full_matrices: bool = True) -> Any:
    """Return U, singular values and Vᵀ, or the singular values alone."""
    failure: Exception | None = None
    for driver in _SVD_DRIVERS:
        try:
            return scipy.linalg.svd(
                matrix,
                full_matrices=full_matrices,
                compute_uv=compute_uv,
                lapack_driver=driver,
            )
        except np.linalg.LinAlgError as error:
            failure = error
    assert failure is not None
    raise failure
