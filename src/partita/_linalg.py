"""Decompose matrices without failures on degenerate spectra.

Every dense eigen- or singular value decomposition of the library goes through this module. If
eigenvalues repeat, the fastest LAPACK drivers can stop with an internal error or return fewer
eigenpairs than requested. Then the next driver is used.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.linalg import blas, lapack
from scipy.sparse.linalg import LinearOperator

__all__ = ["eigh", "eigh_above", "svd", "symmetric_operator"]

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
        Symmetric matrix.
    subset_by_index : (first, last), optional
        Indices of the eigenvalues to return, both ends included. All by default.
    subset_by_value : (low, high), optional
        Interval low < value <= high of the eigenvalues to return. All by default.
    driver : {"evr", "evd", "ev"}, default="evr"
        LAPACK driver to try first.
    overwrite : bool, default=False
        Whether the memory of `matrix` may be used.
    check_finite : bool, default=True
        Whether to raise an error for NaN and infinity.

    Returns
    -------
    values : array of shape (n_values,)
        Eigenvalues, ascending.
    vectors : array of shape (n, n_values)
        Eigenvectors, one per column.
    """
    matrix = np.asarray(matrix)
    diagonal = matrix.diagonal().copy() if overwrite else None
    failure: Exception | None = None
    for name in (driver, *(d for d in _EIGEN_DRIVERS if d != driver)):
        if failure is not None and diagonal is not None:
            # LAPACK has overwritten the diagonal and the lower triangle, not the upper one.
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


def eigh_above(
    matrix: NDArray[np.float64], *, share: float = 0.0, least: float = 0.0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the eigenvalues, of both signs, that are large, and their eigenvectors.

    These are the digits of the driver "evd", which first computes the eigenvectors of a tridiagonal
    matrix. Only those that are returned are transformed back: few of 1000 take 0.65 times as long.

    Parameters
    ----------
    matrix : array of shape (n, n), symmetric
        Its memory is used if it is in Fortran order.
    share : float, default=0.0
        Values of at most `share` times the largest absolute value are left out.
    least : float, default=0.0
        Values of at most this size are left out.

    Returns
    -------
    values : array of shape (n_values,)
        Eigenvalues, ascending.
    vectors : array of shape (n, n_values)
        Eigenvectors, one per column.
    """
    n = len(matrix)
    if n < 3:
        values, vectors = eigh(matrix)
        is_kept = np.abs(values) > max(share * np.abs(values).max(initial=0.0), least)
        return values[is_kept], vectors[:, is_kept]
    size = int(lapack.dsytrd_lwork(n, lower=1)[0])
    # matrix = Q T Qᵀ with tridiagonal T; the reflections of Q leave the first entry as it is
    reflections, d, e, tau, _ = lapack.dsytrd(matrix, lower=1, lwork=size, overwrite_a=1)
    values, vectors, failure = lapack.dstevd(d, e)
    if failure:
        values, vectors = eigh(np.diag(d) + np.diag(e, 1) + np.diag(e, -1), driver="ev")
    is_kept = np.abs(values) > max(share * np.abs(values).max(), least)
    values, vectors = values[is_kept], vectors[:, is_kept]
    reflections = np.asfortranarray(reflections[1:, :-1])
    lower = np.asfortranarray(vectors[1:])
    size = int(lapack.dormqr("L", "N", reflections, tau, lower, -1)[1][0])
    vectors[1:] = lapack.dormqr("L", "N", reflections, tau, lower, size, overwrite_c=1)[0]
    return values, vectors


def _select(
    values: NDArray[np.float64],
    vectors: NDArray[np.float64],
    subset_by_index: tuple[int, int] | None,
    subset_by_value: tuple[float, float] | None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the requested eigenpairs: only the driver "evr" computes subsets itself."""
    if subset_by_index is not None:
        chosen: Any = slice(subset_by_index[0], subset_by_index[1] + 1)
    elif subset_by_value is not None:
        chosen = (values > subset_by_value[0]) & (values <= subset_by_value[1])
    else:
        return values, vectors
    return values[chosen], vectors[:, chosen]


def svd(matrix: NDArray[np.float64], *, compute_uv: bool = True, full_matrices: bool = True) -> Any:
    """Return the singular value decomposition U diag(sigma) Vᵀ of a matrix.

    Parameters
    ----------
    matrix : array of shape (m, n)
        Matrix to decompose.
    compute_uv : bool, default=True
        Whether to compute U and Vᵀ.
    full_matrices : bool, default=True
        Whether U and Vᵀ are square. Otherwise they have min(m, n) columns and rows.

    Returns
    -------
    U, sigma, Vt : arrays
        Singular values descending. Only `sigma` without `compute_uv`.
    """
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


def symmetric_operator(matrix: NDArray[np.float64]) -> LinearOperator:
    """Return the products of a symmetric matrix with vectors, which read half of its entries.

    Reading the matrix takes the time: half of it is read 1.8 (n = 5000) to 3 times (n = 1500) as
    fast as all of it.

    Parameters
    ----------
    matrix : array of shape (n, n)
        Exactly symmetric matrix.
    """
    # its transpose, equal to it, has the order of BLAS if the matrix does not have it
    columns = np.asfortranarray(matrix if matrix.flags.f_contiguous else matrix.T, np.float64)
    return LinearOperator(
        columns.shape,
        matvec=lambda v: blas.dsymv(1.0, columns, v.ravel(), lower=1),
        dtype=np.float64,
    )
