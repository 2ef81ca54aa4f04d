"""A matrix that is given with a row per sample, on the rows of an ensemble."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from partita.ensemble import Ensemble
from partita.exceptions import NotSupportedError

__all__ = ["follows_rows", "reduce_pairs", "row_per_sample"]

_SAME = 1e-12  # entries closer than this, relative to the largest, are equal


def reduce_pairs(
    given: NDArray[np.float64], core: Ensemble
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The entry of two different samples for every pair of rows, and of a sample with itself.

    The inverse of expanding, exact for a symmetric matrix that `follows_rows`.
    """
    labeled, rows = _labeled(core)
    first, last = np.empty(core.n_rows, np.int64), np.empty(core.n_rows, np.int64)
    last[rows] = labeled
    first[rows[::-1]] = labeled[::-1]
    values = given[np.ix_(first, last)]  # the two ends differ wherever a row has two samples
    return (values + values.T) / 2, given[first, first]


def follows_rows(given: NDArray[np.float64], core: Ensemble) -> bool:
    """Whether the matrix is the same for all samples with equal labels."""
    labeled, rows = _labeled(core)
    values, own = reduce_pairs(given, core)
    tolerance = _SAME * max(1.0, float(np.abs(given).max()))
    for position, (x, row) in enumerate(zip(labeled, rows, strict=True)):
        expected = values[row, rows]
        expected[position] = own[row]
        if np.abs(given[x, labeled] - expected).max() > tolerance:
            return False
    return True


def row_per_sample(given: NDArray[np.float64], ensemble: Ensemble) -> Ensemble:
    """The ensemble with a row for every labeled sample, for a matrix that tells them apart.

    Rows with equal labels are put in an order that does not depend on that of the data: by the
    sums of their entries.
    """
    core = ensemble.compress()
    labeled, rows = _labeled(core)
    if not ensemble.is_compressed:
        weights = ensemble.weights[labeled]
    elif np.array_equal(core.weights, np.bincount(rows)):
        weights = np.ones(len(labeled))
    else:
        raise NotSupportedError(
            "The matrix tells samples with equal labels apart, and the compressed ensemble no "
            "longer knows their weights. Pass the ensemble as it was before compressing it."
        )
    order = np.lexsort((np.square(given).sum(axis=1)[labeled], given.sum(axis=1)[labeled], rows))
    inverse = np.full(core.n_samples, -1, np.int64)
    inverse[labeled[order]] = np.arange(len(order))
    return replace(core, codes=core.codes[rows[order]], weights=weights[order], inverse=inverse)


def _labeled(core: Ensemble) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Samples that have a label, and their rows."""
    inverse = np.arange(core.n_rows) if core.inverse is None else core.inverse
    labeled = np.flatnonzero(inverse >= 0)
    return labeled, inverse[labeled]
