"""Orthonormal bases of the range of a similarity matrix."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from partita._linalg import eigh

__all__ = ["SimilarityBasis", "complement", "outside_basis", "similarity_basis"]

_COMPLETE = 0.75  # share of n from which on a basis of all n vectors is used
_ROUNDING = 1e-13  # relative size of values and vectors that rounding alone explains

Matrix = NDArray[np.float64]


class SimilarityBasis(NamedTuple):
    """S = P diag(values) Pᵀ over rows of weight r, entry (a, b) multiplied by root_a root_b.

    The columns of P are orthonormal. Their number is the rank of S, or n if the rank is near n.
    """

    vectors: Matrix
    values: NDArray[np.float64]
    root: NDArray[np.float64]


def similarity_basis(
    factor: Any, signs: NDArray[np.float64], weights: NDArray[np.float64]
) -> SimilarityBasis:
    """Return the basis of S = F diag(signs) Fᵀ.

    Parameters
    ----------
    factor : sparse matrix of shape (n, q)
        F.
    signs : array of shape (q,)
        1 or -1.
    weights : array of shape (n,)
        Weights r of the rows.

    Returns
    -------
    SimilarityBasis
        O(n q²) for q < n, otherwise O(n³).
    """
    root = np.sqrt(weights)
    n, q = factor.shape
    if q > _COMPLETE * n:
        S = np.asarray((factor @ (factor.multiply(signs)).T).todense())
        S *= root[:, None]
        S *= root
        values, vectors = eigh(S, driver="evd", overwrite=True)
        is_kept = _is_kept(values)
        if np.count_nonzero(is_kept) > _COMPLETE * n:
            return SimilarityBasis(vectors, values, root)
        return SimilarityBasis(vectors[:, is_kept], values[is_kept], root)
    Q, R = np.linalg.qr(factor.toarray() * root[:, None])
    values, vectors = eigh((R * signs) @ R.T, driver="evd")
    is_kept = _is_kept(values)
    return SimilarityBasis(Q @ vectors[:, is_kept], values[is_kept], root)


def _is_kept(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    size = np.abs(values)
    return np.asarray(size > _ROUNDING * size.max())


def outside_basis(P: Matrix, old: Matrix, inner: Matrix, columns: Matrix) -> Matrix:
    """Return orthonormal columns that span, together with P, `old @ inner` and `columns`.

    O(n p c + n q²) for P of p, `columns` of c and `old` of q columns: what lies in the span of
    `old` is rotated by its coefficients.

    Parameters
    ----------
    P : array of shape (n, p)
        Orthonormal columns.
    old : array of shape (n, q)
        Orthonormal columns, orthogonal to P.
    inner : array of shape (q, r)
        Coefficients of columns in the span of `old`.
    columns : array of shape (n, c)
        Other columns.

    Returns
    -------
    array of shape (n, s), s <= r + c
        Orthogonal to P.
    """
    n, p = P.shape
    if p == n:
        return np.empty((n, 0))
    columns = _unit_columns(columns)
    frame = np.column_stack([old, complement(columns, P, old)])
    inner = np.pad(inner, ((0, frame.shape[1] - old.shape[1]), (0, 0)))
    return np.asarray(frame @ _leading_columns(np.column_stack([inner, frame.T @ columns])))


def _unit_columns(matrix: Matrix) -> Matrix:
    """Return the columns with unit length, without those of zeros."""
    length = np.linalg.norm(matrix, axis=0)
    return np.asarray(matrix[:, length > 0] / length[length > 0])


def complement(columns: Matrix, *bases: Matrix) -> Matrix:
    """Return orthonormal columns that span, together with the bases, those of a matrix.

    The bases have orthonormal columns. The length of a column of the matrix does not matter.

    What is left of a column that nearly lies in the span of the bases is orthogonal to them only
    to few of its digits. So it is made orthogonal again after it got unit length. A column of which
    that leaves less than half was rounding.
    """
    rest, least = _unit_columns(columns), _ROUNDING
    for _ in range(3):
        for basis in bases:
            rest = rest - basis @ (basis.T @ rest)
        rest, least = _leading_columns(rest, least), 0.5
    return rest


def _leading_columns(matrix: Matrix, least: float = _ROUNDING) -> Matrix:
    """Return orthonormal columns that span those of a matrix, without remainders up to `least`."""
    Q, R, _ = scipy.linalg.qr(matrix, mode="economic", pivoting=True, check_finite=False)
    return np.asarray(Q[:, np.abs(np.diag(R)) > least])
