"""Gaussian kernels with a bandwidth from the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import euclidean_distances

__all__ = ["gaussian_kernel"]

_EQUAL = 1e-14  # squared distances below this share of the largest are rounding errors


def gaussian_kernel(X: Any) -> tuple[NDArray[np.float64], float]:
    """Return exp(-‖x - y‖² / (2 σ²)) for all pairs of rows, and σ.

    σ is the median of all n² distances, those of rows to themselves too. If more than half of the
    distances are 0, it is the mean of the others.
    """
    squares = euclidean_distances(X, squared=True)
    squares[squares <= _EQUAL * squares.max()] = 0.0
    distances = np.sqrt(squares)
    sigma = float(np.median(distances))
    if sigma == 0:
        n_positive = np.count_nonzero(distances)
        sigma = float(distances.sum()) / n_positive if n_positive else 1.0
    squares /= -2.0 * sigma**2
    return np.exp(squares, out=squares), sigma
