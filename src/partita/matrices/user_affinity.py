"""Reduction of a user's affinity matrix from samples to the rows of an ensemble."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from partita.ensemble import Ensemble
from partita.exceptions import NotSupportedError

__all__ = ["is_constant_on_rows", "reduce_pairs", "split_rows"]

_EQUAL = 1e-12  # entries that differ by less, relative to the largest, are equal


def reduce_pairs(
    affinity: NDArray[np.float64], core: Ensemble
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the affinity of two different samples for every pair of rows, and the diagonal.

    This is the inverse of `expand_pairs`, for a symmetric matrix that `is_constant_on_rows`.
    """
    labeled, rows = _labeled(core)
    first, last = np.empty(core.n_rows, np.int64), np.empty(core.n_rows, np.int64)
    last[rows] = labeled
    first[rows[::-1]] = labeled[::-1]
    values = affinity[np.ix_(first, last)]  # first and last differ if a row has two samples
    return (values + values.T) / 2, affinity[first, first]


def is_constant_on_rows(affinity: NDArray[np.float64], core: Ensemble) -> bool:
    """Return whether the affinity is the same for all samples with equal labels."""
    labeled, rows = _labeled(core)
    values, own = reduce_pairs(affinity, core)
    tolerance = _EQUAL * max(1.0, float(np.abs(affinity).max()))
    for position, (x, row) in enumerate(zip(labeled, rows, strict=True)):
        expected = values[row, rows]
        expected[position] = own[row]
        if np.abs(affinity[x, labeled] - expected).max() > tolerance:
            return False
    return True


def split_rows(affinity: NDArray[np.float64], ensemble: Ensemble) -> Ensemble:
    """Return the ensemble with a row per labeled sample, if equal labels have unequal affinity.

    Rows with equal labels are sorted by the sums of their affinities, so that their order does not
    depend on the order of the data.
    """
    core = ensemble.compress()
    labeled, rows = _labeled(core)
    if not ensemble.is_compressed:
        weights = ensemble.weights[labeled]
    elif np.array_equal(core.weights, np.bincount(rows)):
        weights = np.ones(len(labeled))
    else:
        raise NotSupportedError(
            "The affinity differs for samples with equal labels, and a compressed ensemble does "
            "not hold the weights of single samples. Pass the ensemble before compression."
        )
    order = np.lexsort(
        (np.square(affinity).sum(axis=1)[labeled], affinity.sum(axis=1)[labeled], rows)
    )
    inverse = np.full(core.n_samples, -1, np.int64)
    inverse[labeled[order]] = np.arange(len(order))
    return replace(core, codes=core.codes[rows[order]], weights=weights[order], inverse=inverse)


def _labeled(core: Ensemble) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the samples that have a label, and their rows."""
    inverse = np.arange(core.n_rows) if core.inverse is None else core.inverse
    labeled = np.flatnonzero(inverse >= 0)
    return labeled, inverse[labeled]
