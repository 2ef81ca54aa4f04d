"""Compute (M Mᵀ + μ I)^-½ of a matrix over weighted rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita._linalg import eigh

__all__ = ["InverseRoot"]


@dataclass(frozen=True)
class InverseRoot:
    """S^-1 = (M Mᵀ + μ I)^-½ in the coordinates of distinct rows.

    Attributes
    ----------
    rows : array of shape (n, n)
        Factor that multiplies a matrix over rows from the left:
        (S^-1 X)' = (rows - diag(surplus)) X'.
    surplus : array of shape (n,)
        Samples with equal rows have entries of both signs in S^-1: c + B_aa > 0 on the diagonal and
        B_aa <= 0 off it. The diagonal of `rows` collects the former, `surplus` the latter, so that
        max(rows, 0) and max(-rows, 0) + diag(surplus) are the two signed parts of S^-1.
    root_trace, inverse_trace : float
        tr(S) and tr(S^-1) over all samples.
    """

    rows: NDArray[np.float64]
    surplus: NDArray[np.float64]
    root_trace: float
    inverse_trace: float

    @classmethod
    def of(
        cls, matrix: NDArray[np.float64], weights: NDArray[np.float64], mu: float
    ) -> InverseRoot:
        """Compute the inverse root by one eigendecomposition: O(n³), four n x n arrays at the peak.

        With q = sqrt(r) and M' = diag(q) M diag(q), let V and σ be the eigenvectors and eigenvalues
        of M' M'ᵀ; σ are also the non-zero eigenvalues of M Mᵀ over all samples. Outside their span
        S^-1 is c I with c = μ^-½. So S^-1 over all samples is c I plus a block matrix
        B_ab = [V diag((σ + μ)^-½ - c) Vᵀ]_ab / (q_a q_b), which is never positive definite.

        Parameters
        ----------
        matrix : array of shape (n, n)
            M, one entry per pair of distinct rows.
        weights : array of shape (n,)
            Weights r of the rows.
        mu : float
            μ, positive.
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

        minus_rB = np.diag(rows).copy()  # -r_a B_aa
        surplus = np.maximum(weights - 1.0, 0.0) * minus_rB / weights
        rows *= -1.0 / q[:, None]
        rows *= q
        np.fill_diagonal(rows, c - minus_rB + surplus)
        repeats = float(weights.sum()) - len(weights)  # multiplicity of 0 that equal samples add
        return cls(
            rows,
            surplus,
            root_trace=float(root.sum()) + repeats / c,
            inverse_trace=float((1.0 / root).sum()) + repeats * c,
        )
