"""Check numbers and matrices that users pass."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.exceptions import InvalidEnsembleError

__all__ = [
    "check_affinity",
    "check_connective_matrices",
    "check_n_clusters",
    "check_weights",
    "random_generator",
]


# Sums and products of four such weights and their inverses stay far from the limits of doubles.
_LARGEST_WEIGHT = 1e12


def check_weights(weights: Any, length: int, name: str) -> NDArray[np.float64]:
    """Return a vector of `length` numbers between 1e-12 and 1e12; None gives ones."""
    if weights is None:
        return np.ones(length)
    try:
        array = np.asarray(weights, np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidEnsembleError(f"{name} must be numbers: {error}.") from error
    if array.shape != (length,):
        raise InvalidEnsembleError(f"{name} must have shape ({length},), got {array.shape}.")
    unusable = np.flatnonzero(~(np.isfinite(array) & (array > 0)))
    if len(unusable):
        raise InvalidEnsembleError(
            f"{name} must be positive and finite, got {array[unusable[0]]:g} at index "
            f"{unusable[0]}. To give something no weight, drop it."
        )
    outside = np.flatnonzero((array < 1 / _LARGEST_WEIGHT) | (array > _LARGEST_WEIGHT))
    if len(outside):
        raise InvalidEnsembleError(
            f"{name} must be between {1 / _LARGEST_WEIGHT:g} and {_LARGEST_WEIGHT:g}, got "
            f"{array[outside[0]]:g} at index {outside[0]}. Multiply all of them by one number, or "
            "drop what has a negligible weight."
        )
    return array


def check_n_clusters(n_clusters: Any, n_samples: int) -> int:
    """Return an integer from 1 to the number of samples."""
    if isinstance(n_clusters, bool) or not isinstance(n_clusters, Integral):
        raise ValueError(f"n_clusters must be an integer, got {n_clusters!r}.")
    if not 1 <= int(n_clusters) <= n_samples:
        raise ValueError(
            f"n_clusters={n_clusters} must be between 1 and the number of samples, "
            f"n_samples={n_samples}."
        )
    return int(n_clusters)


def check_affinity(
    affinity: Any, n: int, name: str = "affinity", *, allow_nan: bool = False
) -> NDArray[np.float64]:
    """Return a symmetric n x n matrix of finite numbers, or of NaN if that is allowed."""
    array = np.asarray(affinity, np.float64)
    if array.shape != (n, n):
        raise ValueError(
            f"{name} must have shape ({n}, {n}), one row per sample, got {array.shape}."
        )
    if not allow_nan and not np.all(np.isfinite(array)):
        raise ValueError(f"{name} contains NaN or infinity.")
    largest = float(np.fmax.reduce(np.abs(array), axis=None, initial=1.0))
    if not np.isfinite(largest):
        raise ValueError(f"{name} contains infinity.")
    if not np.allclose(array, array.T, rtol=0, atol=1e-8 * largest, equal_nan=allow_nan):
        raise ValueError(f"{name} must be symmetric. Pass (A + A.T) / 2 to make it symmetric.")
    return array


def check_connective_matrices(matrices: Any, name: str = "matrices") -> list[NDArray[Any]]:
    """Return symmetric matrices of one shape with entries in [0, 1], without copying them.

    NaN is a missing entry.
    """
    stack = [np.asarray(matrix) for matrix in matrices] if np.iterable(matrices) else []
    if not stack or stack[0].ndim != 2 or stack[0].size == 0:
        raise ValueError(
            f"{name} must be a stack of shape (n_matrices, n_samples, n_samples) or a sequence of "
            f"square matrices, got {len(stack)} of shape {stack[0].shape if stack else ()}."
        )
    n = len(stack[0])
    for i, matrix in enumerate(stack):
        if matrix.dtype.kind not in "fiub":
            raise TypeError(f"{name}[{i}] must hold numbers, got {matrix.dtype}.")
        check_affinity(matrix, n, f"{name}[{i}]", allow_nan=True)
        # fmin and fmax ignore NaN; a matrix of NaN alone breaks no bound
        low, high = (float(pick.reduce(matrix, axis=None)) for pick in (np.fmin, np.fmax))
        if low < -1e-8 or high > 1 + 1e-8:
            raise ValueError(
                f"{name}[{i}] must hold probabilities between 0 and 1, got values from {low:g} to "
                f"{high:g}."
            )
    return stack


def random_generator(random_state: Any) -> np.random.Generator:
    """Return a NumPy Generator for None, a seed, a Generator or a RandomState."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31, size=4))
    if random_state is np.random:
        return np.random.default_rng(np.random.randint(0, 2**31, size=4))  # noqa: NPY002
    return np.random.default_rng(random_state)
