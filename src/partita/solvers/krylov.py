"""Compute the largest eigenvectors of a matrix near a good guess, by a block Krylov method."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from partita._linalg import eigh

__all__ = ["improve_eigenvectors"]

_CYCLES = 5  # then a direct method is faster
_DEPTH = 6  # products per cycle, after which the basis is reduced to its best vectors
_SPACE = 0.5  # largest size of a basis, as a share of n
_ANGLE = 1e-10  # largest angle between the result and the exact eigenspace
_EXTRA = 6  # columns beside the requested ones, at random directions at first

Matrix = NDArray[np.float64]


def improve_eigenvectors(
    multiply: Callable[[Matrix], Matrix], guess: Matrix, n_components: int
) -> tuple[NDArray[np.float64], Matrix] | None:
    """Return the largest eigenvalues, descending, and their eigenvectors, or None.

    The angle between the computed and the exact eigenspace is at most the residual divided by the
    gap to the next eigenvalue; the iteration stops when that is below 1e-10. Random vectors beside
    the guess find eigenvectors that the guess lacks.

    Parameters
    ----------
    multiply : callable (array of shape (n, p)) -> array of shape (n, p)
        Product with the symmetric matrix.
    guess : array of shape (n, p), p >= n_components
        Vectors near the eigenvectors.
    n_components : int
        Number of eigenvalues.

    Returns
    -------
    values, vectors : arrays, or None
        None if a few products do not suffice, because the gap is small or the guess is poor.
    """
    n = len(guess)
    noise = np.random.default_rng(0).standard_normal((n, _EXTRA))
    block = np.linalg.qr(np.column_stack([guess, noise]))[0]
    width = block.shape[1]
    if width * _DEPTH > _SPACE * n:
        return None
    basis, image = np.empty((n, width * _DEPTH)), np.empty((n, width * _DEPTH))
    last = np.inf
    for cycle in range(_CYCLES):
        for depth in range(_DEPTH):
            first = depth * width
            basis[:, first : first + width] = block
            image[:, first : first + width] = multiply(block)
            space, its_image = basis[:, : first + width], image[:, : first + width]
            small = space.T @ its_image
            values, rotation = eigh((small + small.T) / 2, driver="evd")
            values, rotation = values[::-1], rotation[:, ::-1]
            leading = rotation[:, :n_components]
            vectors = space @ leading
            residual = float(np.linalg.norm(its_image @ leading - vectors * values[:n_components]))
            goal = _ANGLE * float(values[n_components - 1] - values[n_components])
            is_last = depth == _DEPTH - 1
            # the first cycle is completed: a guess may be exact but of the wrong eigenvalues
            if residual < goal and (cycle > 0 or is_last):
                return values[:n_components], vectors
            if not is_last:
                block = _complement(space, its_image[:, first:])
        if residual * (residual / last) ** (_CYCLES - 1 - cycle) > goal:
            return None  # at this rate the remaining cycles will not do
        last = residual
        block = basis @ rotation[:, :width]
    return None


def _complement(basis: Matrix, image: Matrix) -> Matrix:
    """Return orthonormal columns that extend the basis by the span of `image`."""
    block = image
    for _ in range(2):  # the second time removes what rounding left of the basis
        block = block - basis @ (basis.T @ block)
        block = np.linalg.qr(block)[0]
    return block
