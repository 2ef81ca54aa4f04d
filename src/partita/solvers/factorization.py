"""Factorize non-negative matrices over the same samples by multiplicative updates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = [
    "Factorization",
    "factorize_jointly",
    "random_factors",
    "ratio",
    "squared_error",
    "squared_norm",
    "unit_column_sums",
]

_TINY = np.finfo(np.float64).tiny


class Factorization(NamedTuple):
    """The matrices V U_vᵀ, one per view, with common coefficients V.

    Attributes
    ----------
    coefficients : array of shape (n, K)
        V, one row per sample.
    bases : list of arrays of shape (d_v, K)
        U_v.
    history : list of float
        The objective after every iteration.
    converged : bool
        Whether the last iteration lowered the objective by at most the tolerance.
    """

    coefficients: NDArray[np.float64]
    bases: list[NDArray[np.float64]]
    history: list[float]
    converged: bool


def factorize_jointly(
    views: Sequence[Any],
    view_weights: NDArray[np.float64],
    coefficients: NDArray[np.float64],
    bases: Sequence[NDArray[np.float64]],
    *,
    max_iter: int,
    tol: float,
) -> Factorization:
    """Minimize Σ_v λ_v ‖X_v - V U_vᵀ‖² over V, U_v >= 0.

    One iteration is

        V ← V ∘ Σ_v λ_v X_v U_v / (V Σ_v λ_v U_vᵀ U_v),  U_v ← U_v ∘ X_vᵀ V / (U_v Vᵀ V).

    Neither increases the objective.

    Parameters
    ----------
    views : sequence of arrays or CSR matrices of shape (n, d_v)
        X_v, non-negative. A sparse matrix is used as it is.
    view_weights : array of shape (n_views,)
        λ_v.
    coefficients : array of shape (n, K)
        Initial V.
    bases : sequence of arrays of shape (d_v, K)
        Initial U_v.
    max_iter : int
        Largest number of iterations.
    tol : float
        The iteration stops when the objective decreases by at most this share of it.
    """
    V, bases = coefficients, list(bases)
    constant = sum(w * squared_norm(X) for w, X in zip(view_weights, views, strict=True))
    history: list[float] = []
    converged = False
    while not converged and len(history) < max_iter:
        above = sum(w * (X @ U) for w, X, U in zip(view_weights, views, bases, strict=True))
        below = sum(w * (U.T @ U) for w, U in zip(view_weights, bases, strict=True))
        V = V * ratio(above, V @ below)
        gram = V.T @ V
        objective = constant
        for v, X in enumerate(views):
            products = np.asarray(X.T @ V)
            bases[v] = bases[v] * ratio(products, bases[v] @ gram)
            objective += view_weights[v] * _fit_terms(bases[v], products, gram)
        converged = bool(history) and history[-1] - objective <= tol * history[-1]
        history.append(objective)
    return Factorization(V, bases, history, converged)


def random_factors(
    n: int, widths: Sequence[int], n_components: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], list[NDArray[np.float64]]]:
    """Return a V of ones, and U_v with random entries, uniform in (0, 1].

    The first update of V makes it a function of the features of each sample. Equal samples then
    have equal coefficients, and the order of the samples does not matter.

    Parameters
    ----------
    n : int
        Number of samples.
    widths : sequence of int
        d_v.
    n_components : int
        K.
    rng : Generator
        Source of the numbers.
    """
    bases = [1.0 - rng.random((width, n_components)) for width in widths]
    return np.ones((n, n_components)), bases


def unit_column_sums(
    coefficients: NDArray[np.float64], bases: Sequence[NDArray[np.float64]]
) -> tuple[NDArray[np.float64], list[NDArray[np.float64]]]:
    """Scale the columns of all U_v together to sum 1, and V so that V U_vᵀ stays the same.

    The factors are unique only up to such scales, and distances between the rows of V depend on
    them. A column of zeros stays zero.
    """
    sums = np.sum([U.sum(axis=0) for U in bases], axis=0)
    divisor = np.where(sums > 0, sums, 1.0)
    return coefficients * divisor, [U / divisor for U in bases]


def ratio(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the factors of a multiplicative update; 0 where both terms are 0.

    The smallest positive number as a guard keeps an update independent of the unit of the data. An
    absolute guard such as 1e-10 is larger than the entries of a matrix whose sum is 1.
    """
    return np.asarray(above) / np.maximum(below, _TINY)


def squared_norm(X: Any) -> float:
    """Return ‖X‖² of an array or a sparse matrix."""
    entries = (X.data if sp.issparse(X) else X).ravel()
    return float(entries @ entries)


def squared_error(
    norm: float,
    coefficients: NDArray[np.float64],
    basis: NDArray[np.float64],
    products: NDArray[np.float64],
) -> float:
    """Return ‖X - V Uᵀ‖² from ‖X‖² and Xᵀ V, without the n x d residual.

    Parameters
    ----------
    norm : float
        ‖X‖².
    coefficients : array of shape (n, K)
        V.
    basis : array of shape (d, K)
        U.
    products : array of shape (d, K)
        Xᵀ V.
    """
    return norm + _fit_terms(basis, products, coefficients.T @ coefficients)


def _fit_terms(
    basis: NDArray[np.float64], products: NDArray[np.float64], gram: NDArray[np.float64]
) -> float:
    """Return ‖V Uᵀ‖² - 2 <X, V Uᵀ>."""
    return float(np.sum((basis.T @ basis) * gram) - 2.0 * np.sum(basis * products))
