"""Solve for a low-rank self-representation coupled with spectral clustering."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita._linalg import eigh_above
from partita._warn import warn_not_converged
from partita.config import report_progress
from partita.solvers.eigenvector_series import EigenvectorSeries
from partita.solvers.kmeans import weighted_kmeans
from partita.solvers.low_rank import (
    RANK_CUT,
    affinity_of_directions,
    leading_directions,
    shrink_singular_values,
)
from partita.solvers.range_basis import SimilarityBasis, outside_basis
from partita.solvers.representation_errors import Errors, all_below, largest_entry
from partita.solvers.spectral import (
    embed_normalized,
    normalize_affinity,
    normalize_rows,
    spectral_embedding,
)

__all__ = ["Course", "Representation", "fit_representation", "representation_labels"]

_FIRST_PENALTY = 1.5  # initial mu, as a multiple of 1/‖S‖₂
_LARGEST_PENALTY = 1e10
_REDUCED = 0.7  # share of n up to which a problem is reduced to a basis of its range

Matrix = NDArray[np.float64]


class Course(NamedTuple):
    """How an iteration went.

    Attributes
    ----------
    residuals : list of float
        ‖S - S Z - E‖_F / ‖S‖_F after every iteration.
    converged : bool
        Whether the tolerance was reached.
    """

    residuals: list[float]
    converged: bool


@dataclass(frozen=True)
class Representation:
    """The state in which the iteration stopped.

    Entry (a, b) of the matrices is multiplied by the root of the weights of both rows, so that
    norms and singular values are those of the matrices over all samples.

    Attributes
    ----------
    basis, coefficients : arrays of shape (n, p) and (p, n)
        Factors of Z, the representation. The columns of `basis` are orthonormal.
    singular_values : array
        Singular values of J above 0, in descending order. J equals Z at convergence.
    errors : Errors
        E = S - S Z.
    embedding : array of shape (n, n_clusters)
        H, eigenvectors of the normalized affinity or D^-½ times these, over distinct rows.
    degree : array of shape (n,)
        D, degrees of that affinity, not scaled.
    eigenvalues : array of shape (n_clusters,)
        Eigenvalues of the normalized affinity.
    course : Course
        How the iteration went.
    """

    basis: Matrix
    coefficients: Matrix
    singular_values: NDArray[np.float64]
    errors: Errors
    embedding: Matrix
    degree: NDArray[np.float64]
    eigenvalues: NDArray[np.float64]
    course: Course

    @property
    def spectral_cost(self) -> float:
        """tr(Hᵀ L H): n_clusters minus the sum of the eigenvalues."""
        return float(len(self.eigenvalues) - self.eigenvalues.sum())

    def matrix(self) -> Matrix:
        """Return Z over distinct rows, not scaled."""
        Z = self.basis @ self.coefficients
        Z /= self.errors.root[:, None]
        Z /= self.errors.root
        return np.asarray(Z)


def fit_representation(
    similarity: SimilarityBasis,
    n_clusters: int,
    rank_weight: float | NDArray[np.float64],
    errors: Errors,
    *,
    growth: float,
    first_penalty: float | None = None,
    scale_embedding: bool = True,
    max_iter: int,
    tol: float,
    task: str,
    start: Representation | None = None,
) -> Representation:
    """Solve min tr(Hᵀ L_Z H) + f(J) + g(E), S = S Z + E, Z = J, by augmented Lagrangian.

    L_Z is the normalized Laplacian of the affinity of (Z + Zᵀ)/2 + H Hᵀ (`low_rank_affinity`).
    Every iteration updates J, Z, E, H and the multipliers Y1 and Y2 in turn, then raises the
    penalty mu.

    All computations use X̃ = diag(√r) X diag(√r). Its products, singular values and Frobenius
    norms are those of the matrices over all samples. The identity in (SᵀS + I)⁻¹ needs no special
    treatment: it only multiplies matrices that are constant on blocks of equal rows.

    With S = P diag(v) Pᵀ every product with S or (SᵀS + I)⁻¹ is a scaling of the rows of PᵀX. Let N
    be the projector on the complement of P. The update of Z implies N Y2 = N B Bᵀ after it, where
    B = D^-½ H, so that

        N Z = N J + N (B Bᵀ - B₋ B₋ᵀ) / mu,    B₋ the B of the previous iteration,

    has low rank. Z is stored as its coefficients in the columns of P and a basis of this part.

    Parameters
    ----------
    similarity : SimilarityBasis
        S.
    n_clusters : int
        Number of columns of H.
    rank_weight : float, or array of shape (n,)
        Weights of the singular values in f, in descending order of these.
    errors : Errors
        E, Y1 and the penalty g.
    growth : float
        Factor of mu from one iteration to the next.
    first_penalty : float, optional
        Initial mu; by default 1.5/‖S‖₂.
    scale_embedding : bool, default=True
        Whether H is D^-½ times the eigenvectors instead of the eigenvectors.
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
        O(n p² + n² q) an iteration for S of rank p and an affinity of rank q.
    """
    P, values, root = similarity
    n, p = P.shape
    weights = root**2
    mu = _FIRST_PENALTY / np.abs(values).max() if first_penalty is None else first_penalty
    S_norm = float(np.linalg.norm(values))

    basis, Z = P, np.zeros((p, n))
    H, degree = np.zeros((n, n_clusters)), np.ones(n)
    if start is not None:
        basis, Z, H, degree = start.basis, start.coefficients, start.embedding, start.degree
        errors.error = start.errors.error
    X, Y2 = Z, np.zeros((p, n))  # coefficients of Z + Y2/mu; PᵀY2
    B = np.zeros_like(H)
    series = EigenvectorSeries()
    residuals: list[float] = []
    converged = False
    while not converged and len(residuals) < max_iter:
        threshold = rank_weight[: len(X)] if isinstance(rank_weight, np.ndarray) else rank_weight
        J = shrink_singular_values(X, threshold / mu)
        loadings = (J.V * J.sigma).T
        last_B, B = B, H * (root / np.sqrt(degree))[:, None]
        old = basis[:, p:]
        new = outside_basis(P, old, J.U[p:], np.column_stack([B, last_B]))
        basis, outside = np.column_stack([P, new]), new.T

        Z, gap = (np.empty((basis.shape[1], n)) for _ in range(2))  # gap = Z - J
        J_inside = J.U[:p] @ loadings
        Z[:p] = _represent(similarity, J_inside, B, Y2, errors, mu)
        np.subtract(Z[:p], J_inside, out=gap[:p])
        N_BB = (outside @ B) @ B.T
        gap[p:] = (N_BB - (outside @ last_B) @ last_B.T) / mu
        Z[p:] = ((outside @ old) @ J.U[p:]) @ loadings + gap[p:]

        misfit = P.T - Z[:p]
        misfit *= values[:, None]
        residuals.append(errors.update(misfit, mu) / S_norm)

        affinity = None  # free memory for the decomposition
        affinity = affinity_of_directions(_directions(basis, Z, H * root[:, None]))
        degree = normalize_affinity(affinity, weights)
        eigenvalues, vectors = embed_normalized(
            affinity, degree, weights, n_clusters, solve=series.solve
        )
        H = vectors / np.sqrt(degree)[:, None] if scale_embedding else vectors

        Y2 += mu * gap[:p]
        mu = min(growth * mu, _LARGEST_PENALTY)
        X = np.empty_like(Z)
        np.divide(Y2, mu, out=X[:p])
        np.divide(N_BB, mu, out=X[p:])
        X += Z
        converged = errors.residual_below(tol) and all_below(basis, gap, root, tol)
        report_progress(task, len(residuals), max_iter)
    # signs and rotations of equal eigenvalues must not depend on the previous iterations
    eigenvalues, vectors = embed_normalized(affinity, degree, weights, n_clusters)
    H = vectors / np.sqrt(degree)[:, None] if scale_embedding else vectors
    if not converged:
        warn_not_converged(
            task,
            max_iter,
            f"with entries of S - SZ - E up to {errors.largest_residual():.1e} and of Z - J up to "
            f"{largest_entry(basis, gap, root):.1e}, above tol={tol:g}. Raise max_iter, or tol if "
            "that is close enough.",
        )
    sigma = np.sort(J.sigma)[::-1]  # `shrink_singular_values` returns them in either order
    return Representation(
        basis, Z, sigma, errors, H, degree, eigenvalues, Course(residuals, converged)
    )


def _represent(
    similarity: SimilarityBasis, J: Matrix, B: Matrix, Y2: Matrix, errors: Errors, mu: float
) -> Matrix:
    """Return PᵀZ, Z = (S² + I)⁻¹ (S² + J + (B Bᵀ - Y2)/mu + S (Y1/mu - E)), from PᵀJ and PᵀY2."""
    P, values, _ = similarity
    Z = errors.multiplier / mu
    Z -= errors.error
    Z += values[:, None] * P.T
    Z *= values[:, None]
    Z += J
    pull = (P.T @ B) @ B.T
    pull -= Y2
    pull /= mu
    Z += pull
    Z /= (values**2 + 1.0)[:, None]
    return np.asarray(Z)


def _directions(basis: Matrix, coefficients: Matrix, partition: Matrix) -> Matrix:
    """Return the directions of (Z + Zᵀ)/2 + H Hᵀ, Z the product of basis and coefficients.

    The range of this matrix is spanned by the columns of the basis, of Zᵀ and of H. If these are
    few, the problem is solved in that range.
    """
    n, p = basis.shape
    if 2 * p + partition.shape[1] > _REDUCED * n:
        Z = basis @ coefficients
        Z /= 2.0
        symmetric = partition @ partition.T
        symmetric += Z
        symmetric += Z.T
        del Z
        return leading_directions(*eigh_above(symmetric.T, share=RANK_CUT))
    others = np.column_stack([coefficients.T, partition])
    inside = basis.T @ others
    others -= basis @ inside
    # twice: rounding leaves parts along the basis in columns that are nearly in its span
    correction = basis.T @ others
    others -= basis @ correction
    inside += correction
    Q, R = np.linalg.qr(others)
    wide = np.concatenate([inside, R])  # `others` in terms of the basis and Q
    core = wide[:, p:] @ wide[:, p:].T
    core[:, :p] += wide[:, :p] / 2
    core[:p] += wide[:, :p].T / 2
    return leading_directions(*eigh_above(core.T, share=RANK_CUT), basis, Q)


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
    n, n_clusters = representation.embedding.shape
    embedding = representation.embedding
    if assign_labels == "representation":
        Z, basis = representation.coefficients, representation.basis
        directions = _directions(basis, Z, np.empty((n, 0)))
        _, embedding = spectral_embedding(affinity_of_directions(directions), weights, n_clusters)
    labels, _ = weighted_kmeans(normalize_rows(embedding), weights, n_clusters, rng, n_init=n_init)
    return labels
