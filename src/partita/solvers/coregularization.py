"""Spectral embeddings of several views that are drawn towards each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from partita._linalg import eigh
from partita.solvers.krylov import improve_eigenvectors
from partita.solvers.spectral import top_eigenvectors

__all__ = ["Coregularization", "coregularize_centroid", "coregularize_pairs", "pulled_eigenvectors"]

_DENSE = 1500  # up to this order the sum is formed at once
_LAPACK = 5000  # up to this order LAPACK is used: Lanczos may take longer if eigenvalues are near 1


class Coregularization(NamedTuple):
    """Embeddings of several views, and how they came about.

    Attributes
    ----------
    embeddings : list of arrays of shape (n, K)
        Embeddings with orthonormal columns: all U_v, or U* alone if there is one.
    history : list of float
        The objective after every iteration; it does not decrease.
    converged : bool
        Whether the last iteration raised the objective by at most the tolerance.
    """

    embeddings: list[NDArray[np.float64]]
    history: list[float]
    converged: bool


def coregularize_pairs(
    affinities: Sequence[NDArray[np.float64]],
    n_components: int,
    lam: float,
    *,
    max_iter: int,
    tol: float,
) -> Coregularization:
    """Maximize Σ_v tr(U_vᵀ L_v U_v) + λ Σ_{v<w} ‖U_vᵀ U_w‖² over orthonormal U_v.

    One iteration replaces U_2, ..., U_V and then U_1 by the K leading eigenvectors of
    L_v + λ Σ_{w != v} U_w U_wᵀ.

    Parameters
    ----------
    affinities : sequence of arrays of shape (n, n)
        L_v, symmetric.
    n_components : int
        K.
    lam : float
        λ.
    max_iter : int
        Largest number of iterations.
    tol : float
        The iteration stops when the objective increases by at most this share of it.
    """
    embeddings = [_leading(L, n_components) for L in affinities]
    n_views = len(affinities)
    history: list[float] = []
    converged = False
    while not converged and len(history) < max_iter:
        for v in [*range(1, n_views), 0]:
            others = [embeddings[w] for w in range(n_views) if w != v]
            embeddings[v] = pulled_eigenvectors(
                affinities[v], others, [lam] * len(others), embeddings[v]
            )
        objective = _own_terms(affinities, embeddings) + lam * sum(
            _agreement(embeddings[v], embeddings[w]) for w in range(n_views) for v in range(w)
        )
        converged = bool(history) and objective - history[-1] <= tol * abs(history[-1])
        history.append(objective)
    return Coregularization(embeddings, history, converged)


def coregularize_centroid(
    affinities: Sequence[NDArray[np.float64]],
    n_components: int,
    view_weights: NDArray[np.float64],
    *,
    max_iter: int,
    tol: float,
) -> Coregularization:
    """Maximize Σ_v tr(U_vᵀ L_v U_v) + Σ_v λ_v ‖U_vᵀ U*‖² over orthonormal U_v and U*.

    One iteration replaces U* by the K leading eigenvectors of Σ_v λ_v U_v U_vᵀ and every U_v by
    those of L_v + λ_v U* U*ᵀ. The returned U* is that of the last iteration, from the U_v before
    it.

    Parameters
    ----------
    affinities : sequence of arrays of shape (n, n)
        L_v, symmetric.
    n_components : int
        K.
    view_weights : array of shape (n_views,)
        λ_v.
    max_iter : int
        Largest number of iterations.
    tol : float
        The iteration stops when the objective increases by at most this share of it.
    """
    embeddings = [_leading(L, n_components) for L in affinities]
    history: list[float] = []
    centroid = embeddings[0]
    converged = False
    while not converged and len(history) < max_iter:
        centroid = _common_directions(embeddings, view_weights, n_components)
        for v, (L, weight) in enumerate(zip(affinities, view_weights, strict=True)):
            embeddings[v] = pulled_eigenvectors(L, [centroid], [weight], embeddings[v])
        objective = _own_terms(affinities, embeddings) + sum(
            float(w) * _agreement(U, centroid)
            for w, U in zip(view_weights, embeddings, strict=True)
        )
        converged = bool(history) and objective - history[-1] <= tol * abs(history[-1])
        history.append(objective)
    return Coregularization([centroid], history, converged)


def pulled_eigenvectors(
    affinity: NDArray[np.float64],
    targets: Sequence[NDArray[np.float64]],
    strengths: Sequence[float],
    guess: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the K leading eigenvectors of L + Σ_i λ_i T_i T_iᵀ for targets T_i with K columns.

    Parameters
    ----------
    affinity : array of shape (n, n)
        L, symmetric.
    targets : sequence of arrays of shape (n, K)
        T_i.
    strengths : sequence of float
        λ_i.
    guess : array of shape (n, K)
        Vectors near the result. They save time if the sum is not formed. Without targets, they are
        the leading eigenvectors of L.
    """
    n, n_components = guess.shape
    if not targets:  # there is only one view
        return guess
    T = np.hstack([np.sqrt(s) * U for s, U in zip(strengths, targets, strict=True)])
    if n <= _DENSE:
        return _leading(affinity + T @ T.T, n_components)

    def multiply(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(affinity @ vectors + T @ (T.T @ vectors))

    # a block of vectors takes one pass over L, a Lanczos step one pass for a single vector
    result = improve_eigenvectors(multiply, np.hstack([guess, *targets]), n_components)
    if result is not None:
        return result[1]
    if n <= _LAPACK:
        return _leading(affinity + T @ T.T, n_components)
    operator = LinearOperator((n, n), matvec=multiply, dtype=np.float64)
    return top_eigenvectors(operator, n_components)[1]


def _leading(matrix: NDArray[np.float64], n_components: int) -> NDArray[np.float64]:
    """Return the leading eigenvectors of a symmetric matrix."""
    n = len(matrix)
    if n > _LAPACK:
        return top_eigenvectors(matrix, n_components)[1]
    return eigh(matrix, subset_by_index=(n - n_components, n - 1))[1][:, ::-1]


def _common_directions(
    embeddings: Sequence[NDArray[np.float64]],
    view_weights: NDArray[np.float64],
    n_components: int,
) -> NDArray[np.float64]:
    """Return the K leading eigenvectors of Σ_v λ_v U_v U_vᵀ from the small Gram matrix."""
    T = np.hstack([np.sqrt(w) * U for w, U in zip(view_weights, embeddings, strict=True)])
    values, right = top_eigenvectors(T.T @ T, n_components)
    return np.asarray(T @ right / np.sqrt(values))


def _own_terms(
    affinities: Sequence[NDArray[np.float64]], embeddings: Sequence[NDArray[np.float64]]
) -> float:
    return float(sum(np.sum(U * (L @ U)) for L, U in zip(affinities, embeddings, strict=True)))


def _agreement(U: NDArray[np.float64], W: NDArray[np.float64]) -> float:
    return float(np.sum((U.T @ W) ** 2))
