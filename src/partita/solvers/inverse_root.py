"""(M Mᵀ + μ I)^-½ of a matrix over weighted rows, as it acts on matrices of the same kind."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita._linalg import eigh

__all__ = ["InverseRoot", "inverse_root"]


@dataclass(frozen=True)
class InverseRoot:
    """S^-1 = (M Mᵀ + μ I)^-½ in the coordinates of distinct rows.

    Attributes
    ----------
    rows : array of shape (n, n)
        Acts on the left of a matrix over rows: (S^-1 X)' = (rows - diag(surplus)) X'.
    surplus : array of shape (n,)
        Samples with equal rows have entries of both signs in S^-1: c + B_aa > 0 on the diagonal and
        B_aa <= 0 off it. The diagonal of `rows` gathers the former, `surplus` the latter, so that
        max(rows, 0) and max(-rows, 0) + diag(surplus) act as the two signed parts of S^-1.
    root_trace, inverse_trace : float
        tr(S) and tr(S^-1) over all samples.
    """

    rows: NDArray[np.float64]
    surplus: NDArray[np.float64]
    root_trace: float
    inverse_trace: float


def inverse_root(
    matrix: NDArray[np.float64], weights: NDArray[np.float64], mu: float
) -> InverseRoot:
    """Decompose once, in O(n³), with four n x n arrays alive at the peak.

    With q = sqrt(r), M' = diag(q) M diag(q) has the eigenvectors V and eigenvalues σ of the full
    M Mᵀ; outside their span S^-1 is c I with c = μ^-½, so the full S^-1 is c I plus a block matrix
    B_ab = [V diag((σ + μ)^-½ - c) Vᵀ]_ab / (q_a q_b), which is never positive definite.
    """
    q = np.sqrt(weights)
    scaled = matrix * q
    scaled *= q[:, None]
    gram = scaled @ scaled.T
    del scaled
    values, vectors = eigh(gram.T, overwrite=True, check_finite=False, driver="evd")
    root = np.sqrt(np.maximum(values, 0.0) + mu)
    c = 1.0 / np.sqrt(mu)
    vectors *= np.sqrt(np.maximum(c - 1.0 / root, 0.0))
    rows = vectors @ vectors.T
    del vectors, gram

    reach = np.diag(rows).copy()  # -r_a B_aa
    surplus = np.maximum(weights - 1.0, 0.0) * reach / weights
    rows *= -1.0 / q[:, None]
    rows *= q
    np.fill_diagonal(rows, c - reach + surplus)
    repeats = float(weights.sum()) - len(weights)  # the eigenvalue 0 of samples beyond their rows
    return InverseRoot(
        rows,
        surplus,
        root_trace=float(root.sum()) + repeats / c,
        inverse_trace=float((1.0 / root).sum()) + repeats * c,
    )
