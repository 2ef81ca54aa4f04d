"""Compute the largest eigenvectors of a series of symmetric matrices, each near the one before."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita._linalg import eigh
from partita.solvers.krylov import improve_eigenvectors
from partita.solvers.range_basis import complement
from partita.solvers.spectral import top_eigenvectors

__all__ = [
    "SMALL_ORDER",
    "Decomposition",
    "EigenvectorSeries",
    "correct_eigenvectors",
    "decompose",
]

SMALL_ORDER = 1500  # up to this order matrices are decomposed in full, which needs memory
_SHARE = 0.1  # of the order: only so many eigenvectors are corrected by a decomposition
_BLOCK = 3  # its eigenvectors to begin with, as a multiple of those requested
_NEAR = 0.1  # distance to the last matrix up to which a decomposition pays
_STEPS = 8  # then a direct method is faster
_FEW = 3  # steps after a new decomposition ...
_MOST_EXTRA = 30  # ... and the sum of those beyond these that takes as long as a new one
_RATE = 0.3  # largest share of the residual that a step may leave
_ANGLE = 1e-11  # largest angle between the result and the exact eigenspace ...
_ROUNDING = 3e-15  # ... unless the residual per eigenvector has this size, from rounding alone
_PROBES = 6  # random vectors that measure the distance of two matrices
_LONGEST_PAUSE = 8  # matrices for which nothing is tried

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]


class Decomposition(NamedTuple):
    """A = V diag(d) Vᵀ, in the parts that correct eigenvectors of a matrix near A.

    Attributes
    ----------
    inner : array of shape (n, b)
        Columns of V with the largest values.
    outer : array of shape (n, n - b)
        The other columns. Single precision suffices for a correction.
    outer_values : array of shape (n - b, 1)
        Their values, ascending.
    images : array of shape (n, 6)
        A times random vectors.
    """

    inner: Matrix
    outer: NDArray[np.float32]
    outer_values: Vector
    images: Matrix


class Correction(NamedTuple):
    """Eigenvalues, descending, their eigenvectors, and the number of steps to these."""

    values: Vector
    vectors: Matrix
    n_steps: int


class EigenvectorSeries:
    """Compute the largest eigenvectors of one matrix after the other.

    A small matrix that is near the last one is decomposed in full. This decomposition corrects the
    eigenvectors of the next matrices, until one is too far from it (`correct_eigenvectors`). For a
    large matrix, the last eigenvectors are improved by products with it (`improve_eigenvectors`).
    Where this fails, a direct method is used. After 1, 2, 3 ... failures in a row, nothing is tried
    for the next 0, 1, 2, 4, 8, 8 ... matrices: these change too much, or have no gap.
    """

    def __init__(self) -> None:
        self._vectors: Matrix | None = None  # of the last matrix
        self._images: Matrix | None = None  # products of the last matrix with random vectors
        self._decomposition: Decomposition | None = None
        self._n_extra = 0  # steps beyond few since the decomposition
        self._pause = self._n_left = 0  # length of the next pause, and what is left of this one

    def solve(
        self,
        matrix: Matrix,
        n_components: int,
        *,
        first: Callable[[int], Matrix] | None = None,
    ) -> tuple[Vector, Matrix]:
        """Return the largest eigenvalues, descending, and their eigenvectors.

        Parameters
        ----------
        matrix : array of shape (n, n), symmetric
            A.
        n_components : int
            Number of eigenvectors, the same for all matrices.
        first : callable, optional
            Eigenvectors of the eigenvalue 1, as in `top_eigenvectors`.
        """
        if len(matrix) <= SMALL_ORDER and n_components <= _SHARE * len(matrix):
            result = self._solve_small(matrix, n_components)
        else:
            result = self._solve_large(matrix, n_components)
        if result is None:
            result = top_eigenvectors(matrix, n_components, first=first)
        self._vectors = result[1]
        return result

    def _solve_large(self, matrix: Matrix, n_components: int) -> tuple[Vector, Matrix] | None:
        if self._vectors is None or self._pauses():
            return None
        result = improve_eigenvectors(lambda V: matrix @ V, self._vectors, n_components)
        self._record(result is not None)
        return result

    def _solve_small(self, matrix: Matrix, n_components: int) -> tuple[Vector, Matrix] | None:
        images = _images(matrix)
        change = np.inf if self._images is None else _distance(images, self._images)
        self._images = images
        if self._pauses():
            return None
        if self._decomposition is not None and self._n_extra <= _MOST_EXTRA:
            assert self._vectors is not None
            result = correct_eigenvectors(matrix, self._decomposition, self._vectors, images=images)
            self._record(result is not None)
            if result is not None:
                self._n_extra += max(0, result.n_steps - _FEW)
                return result.values, result.vectors
        self._decomposition = None
        if self._n_left or change > _NEAR:
            return None
        values, vectors, self._decomposition = decompose(matrix, n_components)
        self._n_extra = 0
        return values, vectors

    def _pauses(self) -> bool:
        self._n_left -= 1
        if self._n_left >= 0:
            return True
        self._n_left = 0
        return False

    def _record(self, success: bool) -> None:
        if success:
            self._pause = 0
        else:
            self._n_left = self._pause
            self._pause = min(max(1, 2 * self._pause), _LONGEST_PAUSE)


def decompose(matrix: Matrix, n_components: int) -> tuple[Vector, Matrix, Decomposition]:
    """Return the largest eigenvalues, descending, their eigenvectors, and the decomposition."""
    values, vectors = eigh(matrix, driver="evd", check_finite=False)
    outer, inner = np.hsplit(vectors, [len(matrix) - _BLOCK * n_components])
    outer_values = values[: outer.shape[1], None]
    decomposition = Decomposition(
        inner.copy(), outer.astype(np.float32), outer_values, _images(matrix)
    )
    leading = slice(-1, -n_components - 1, -1)
    return values[leading], vectors[:, leading].copy(), decomposition


def correct_eigenvectors(
    matrix: Matrix,
    decomposition: Decomposition,
    guess: Matrix,
    *,
    images: Matrix | None = None,
) -> Correction | None:
    """Return the largest eigenvalues of A, near A₀, and their eigenvectors, or None.

    Davidson's method. With A₀ = V diag(d) Vᵀ, the pair (θ, u) with residual r = A u - θ u lacks
    about V (θ - diag(d))⁻¹ Vᵀ r. A step with that reduces the error to about ‖A - A₀‖ / (θ - d_b)
    of it; the first b columns of V are in the basis from the beginning. No eigenvalue beside these
    exceeds d_b + ‖A - A₀‖. That must be below θ, so that no eigenvector is missed. The norm is
    measured by products with random vectors.

    Parameters
    ----------
    matrix : array of shape (n, n), symmetric
        A.
    decomposition : Decomposition
        That of A₀.
    guess : array of shape (n, K)
        Vectors near the eigenvectors.
    images : array of shape (n, 6), optional
        A times the random vectors.

    Returns
    -------
    Correction or None
        None if A is too far from A₀.
    """
    inner, outer, outer_values, first_images = decomposition
    distance = _distance(_images(matrix) if images is None else images, first_images)
    n_components = guess.shape[1]
    basis = np.hstack([inner, complement(guess, inner)])
    image, last = matrix @ basis, np.inf
    for n_steps in range(_STEPS):
        small = basis.T @ image
        values, rotation = eigh((small + small.T) / 2, driver="evd")
        values, rotation = values[::-1], rotation[:, ::-1]
        theta, leading = values[:n_components], rotation[:, :n_components]
        if theta[-1] <= outer_values[-1, 0] + distance:
            return None
        vectors = basis @ leading
        rest = image @ leading - vectors * theta
        residual = float(np.linalg.norm(rest))
        gap = theta[-1] - values[n_components]
        if residual < max(_ANGLE * gap, _ROUNDING * np.sqrt(n_components) * theta[0]):
            return Correction(theta, vectors, n_steps)
        if residual > _RATE * last:
            return None
        last = residual
        inside = (outer.T @ rest.astype(np.float32)) / (theta - outer_values)
        step = complement((outer @ inside.astype(np.float32)).astype(np.float64), basis)
        basis, image = np.hstack([basis, step]), np.hstack([image, matrix @ step])
    return None


def _images(matrix: Matrix) -> Matrix:
    """Return the products with random vectors, always the same."""
    probes = np.random.default_rng(0).standard_normal((len(matrix), _PROBES))
    return np.asarray(matrix @ probes)


def _distance(images: Matrix, others: Matrix) -> float:
    """Return about ‖A - B‖_F, from the products of A and B with random vectors."""
    return float(np.linalg.norm(images - others)) / np.sqrt(_PROBES)
