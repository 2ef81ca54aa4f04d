"""Solve for a low-rank self-representation coupled with spectral clustering."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita._linalg import eigh
from partita._warn import warn_not_converged
from partita.config import report_progress
from partita.solvers.kmeans import weighted_kmeans
from partita.solvers.low_rank import low_rank_affinity
from partita.solvers.spectral import normalize_rows, spectral_embedding

__all__ = ["Representation", "fit_representation", "representation_labels"]

_FIRST_PENALTY = 1.5  # initial mu, as a multiple of 1/‖S‖₂
_LARGEST_PENALTY = 1e10

Shrink = Callable[[NDArray[np.float64], float], NDArray[np.float64]]


@dataclass(frozen=True)
class Representation:
    """The state in which the iteration stopped.

    Entry (a, b) of the matrices is multiplied by `scale`, the root of the weights of both rows, so
    that norms and singular values are those of the matrices over all samples.

    Attributes
    ----------
    matrix : array of shape (n, n)
        Z, the representation.
    low_rank : array of shape (n, n)
        J, equal to Z at convergence, with some singular values exactly 0.
    error : array of shape (n, n)
        E = S - S Z.
    embedding : array of shape (n, n_clusters)
        H, eigenvectors of the normalized affinity, not scaled.
    degree : array of shape (n,)
        D, degrees of that affinity, not scaled.
    eigenvalues : array of shape (n_clusters,)
        Eigenvalues of the normalized affinity.
    scale : array of shape (n, n)
        Factor of every entry of `matrix`, `low_rank` and `error`.
    residuals : list of float
        ‖S - S Z - E‖_F / ‖S‖_F after every iteration.
    converged : bool
        Whether the tolerance was reached.
    """

    matrix: NDArray[np.float64]
    low_rank: NDArray[np.float64]
    error: NDArray[np.float64]
    embedding: NDArray[np.float64]
    degree: NDArray[np.float64]
    eigenvalues: NDArray[np.float64]
    scale: NDArray[np.float64]
    residuals: list[float]
    converged: bool

    @property
    def spectral_cost(self) -> float:
        """tr(Hᵀ L H): n_clusters minus the sum of the eigenvalues."""
        return float(len(self.eigenvalues) - self.eigenvalues.sum())


def fit_representation(
    similarity: NDArray[np.float64],
    weights: NDArray[np.float64],
    n_clusters: int,
    shrink_rank: Shrink,
    shrink_error: Shrink,
    *,
    growth: float,
    max_iter: int,
    tol: float,
    task: str,
    start: Representation | None = None,
) -> Representation:
    """Solve min tr(Hᵀ L_Z H) + f(J) + g(E), S = S Z + E, Z = J, by augmented Lagrangian.

    L_Z is the normalized Laplacian of the affinity of (Z + Zᵀ)/2 + H Hᵀ (`low_rank_affinity`).
    Every iteration updates J, Z, E, H and the multipliers in turn, then raises the penalty mu.

    All computations use X̃ = diag(√r) X diag(√r). Its products, singular values and Frobenius
    norms are those of the matrices over all samples. The identity in (SᵀS + I)⁻¹ needs no special
    treatment: it only multiplies matrices that are constant on blocks of equal rows.

    Parameters
    ----------
    similarity : array of shape (n, n), symmetric
        S.
    weights : array of shape (n,)
        Weights r of the rows.
    n_clusters : int
        Number of columns of H.
    shrink_rank, shrink_error : callable (matrix, mu) -> matrix
        argmin_X f(X)/mu + ½ ‖X - matrix‖², and the same with g, for scaled matrices.
    growth : float
        Factor of mu from one iteration to the next.
    max_iter : int
        Largest number of iterations.
    tol : float
        Stop when no entry of S - S Z - E and Z - J is larger.
    task : str
        Name for progress and warnings.
    start : Representation, optional
        Initial Z, E and H; the multipliers are 0. By default all start at 0.

    Returns
    -------
    Representation
        O(n³) an iteration: three products and three partial or full eigendecompositions.
    """
    root = np.sqrt(weights)
    scale = np.outer(root, root)
    S = similarity * scale
    values, P = eigh(S, driver="evd")
    ridge = (P / (values**2 + 1.0)) @ P.T  # (SᵀS + I)⁻¹
    ridge_S = (P * (values / (values**2 + 1.0))) @ P.T
    ridge_SS = (P * (values**2 / (values**2 + 1.0))) @ P.T
    del P
    mu = _FIRST_PENALTY / np.abs(values).max()
    S_norm = np.linalg.norm(S)

    if start is None:
        Z, E = np.zeros_like(S), np.zeros_like(S)
        H, degree = np.zeros((len(S), n_clusters)), np.ones(len(S))
    else:
        Z, E, H, degree = start.matrix, start.error, start.embedding, start.degree
    Y1, Y2 = np.zeros_like(S), np.zeros_like(S)
    residuals: list[float] = []
    converged = False
    while not converged and len(residuals) < max_iter:
        J = shrink_rank(Z + Y2 / mu, mu)
        pull = H * (root / np.sqrt(degree))[:, None]
        Z = ridge_SS + ridge @ (J + (pull @ pull.T - Y2) / mu) + ridge_S @ (Y1 / mu - E)
        misfit = S - S @ Z
        E = shrink_error(misfit + Y1 / mu, mu)

        partition = H * root[:, None]
        affinity = low_rank_affinity((Z + Z.T) / 2 + partition @ partition.T, symmetric=True)
        degree = affinity @ weights
        eigenvalues, vectors = spectral_embedding(affinity, weights, n_clusters)
        H = vectors / np.sqrt(degree)[:, None]

        misfit -= E
        gap = Z - J
        Y1 += mu * misfit
        Y2 += mu * gap
        mu = min(growth * mu, _LARGEST_PENALTY)

        residuals.append(float(np.linalg.norm(misfit) / S_norm))
        converged = _largest(misfit, scale) < tol and _largest(gap, scale) < tol
        report_progress(task, len(residuals), max_iter)
    if not converged:
        warn_not_converged(
            task,
            max_iter,
            f"with entries of S - SZ - E up to {_largest(misfit, scale):.1e} and of Z - J up to "
            f"{_largest(gap, scale):.1e}, above tol={tol:g}. Raise max_iter, or tol if that is "
            "close enough.",
        )
    return Representation(Z, J, E, H, degree, eigenvalues, scale, residuals, converged)


def _largest(matrix: NDArray[np.float64], scale: NDArray[np.float64]) -> float:
    """Return the largest absolute entry of the matrix without its scale."""
    return float(np.max(np.abs(matrix) / scale))


def representation_labels(
    representation: Representation,
    weights: NDArray[np.float64],
    assign_labels: str,
    rng: np.random.Generator,
    n_init: int,
) -> NDArray[np.int64]:
    """Return labels by k-means on an embedding with rows of unit length.

    Parameters
    ----------
    representation : Representation
        What to read the labels from.
    weights : array of shape (n,)
        Weights of the rows.
    assign_labels : {"embedding", "representation"}
        Embedding to use: H, or a spectral embedding of Z.
    rng : Generator
        Source of random numbers.
    n_init : int
        Restarts of k-means.
    """
    n_clusters = representation.embedding.shape[1]
    embedding = representation.embedding
    if assign_labels == "representation":
        Z = representation.matrix
        affinity = low_rank_affinity((Z + Z.T) / 2, symmetric=True)
        _, embedding = spectral_embedding(affinity, weights, n_clusters)
    labels, _ = weighted_kmeans(normalize_rows(embedding), weights, n_clusters, rng, n_init=n_init)
    return labels
