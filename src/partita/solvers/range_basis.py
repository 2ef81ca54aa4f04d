"""Orthonormal bases of the range of a similarity matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from partita._linalg import eigh

__all__ = ["SimilarityBasis", "extend_basis", "similarity_basis"]

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


def extend_basis(P: Matrix, parts: Sequence[Matrix]) -> Matrix:
    """Return orthonormal columns, P first, that span P and all parts."""
    n, p = P.shape
    if p == n:
        return P
    columns = np.column_stack(parts)
    length = np.linalg.norm(columns, axis=0)
    columns = columns[:, length > 0] / length[length > 0]
    columns -= P @ (P.T @ columns)
    Q, R, _ = scipy.linalg.qr(columns, mode="economic", pivoting=True, check_finite=False)
    new = Q[:, np.abs(np.diag(R)) > _ROUNDING]
    # short columns keep rounding errors along P, which their new length has magnified
    new -= P @ (P.T @ new)
    return np.column_stack([P, np.linalg.qr(new)[0]])
