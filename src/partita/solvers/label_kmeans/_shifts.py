"""How far bounds on costs must shift when the tables change, as in Hamerly's k-means.

The cost of a row with a labels changes by at most the sum over its labels of the largest change in
their partitions. The sum of the a largest of these changes bounds it for any row with a labels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.solvers.label_kmeans._tables import TableExtremes, Tables

__all__ = ["Shifts", "fall_of_others", "power_of_two", "shifts_of"]

_ROUNDING = 2.0**-40  # relative to the largest entry: above all rounding errors of a cost


class Shifts(NamedTuple):
    """Changes of costs, rounding included.

    The first index is a row's number of labels (0 where no label is missing). The last axis holds
    the part of the look-ups, and the part to multiply by the row's scale.
    """

    rises: NDArray[np.float64]  # largest rise of the cost in each group
    falls: NDArray[np.float64]  # largest fall (negative)


def power_of_two(tables: Tables) -> float:
    """Return a factor that scales look-ups to at most 1.

    It is a power of two: scaling is exact, and no cost underflows in single precision.
    """
    largest = float(np.abs(tables.lookup).max())
    return float(2.0 ** -np.ceil(np.log2(largest))) if largest > 0 else 1.0


def shifts_of(
    tables: Tables, previous: Tables, extremes: TableExtremes, complete: bool, unit: float
) -> Shifts:
    """Return the shifts from the previous tables, in units of `unit`."""
    change = tables.slope - previous.slope
    rises = _largest_sums(unit * extremes.largest_change, unit * change, complete)
    falls = -_largest_sums(-unit * extremes.smallest_change, -unit * change, complete)
    largest = max(extremes.highest.max(), -extremes.lowest.min()), np.abs(tables.slope).max()
    n_labels = [len(change)] if complete else np.arange(len(rises))
    rounding = np.reshape(n_labels, (-1, 1, 1)) * (unit * _ROUNDING * np.asarray(largest))
    return Shifts(rises + rounding, falls - rounding)


def fall_of_others(falls: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for every group the largest fall of any other, same shape (., K, .)."""
    deepest = np.sort(falls, axis=1)[:, :2]
    return np.where(falls == deepest[:, :1], deepest[:, -1:], deepest[:, :1])


def _largest_sums(
    lookups: NDArray[np.float64], slopes: NDArray[np.float64], complete: bool
) -> NDArray[np.float64]:
    """Return the sums of the a largest values over the partitions (first axis), for a = 0..m.

    Where no label is missing, only the sum of all values is needed.
    """
    m, n_groups = lookups.shape
    sums = np.zeros((1 if complete else m + 1, n_groups, 2))
    for part, values in enumerate((lookups, slopes)):
        if complete:
            values.sum(axis=0, out=sums[0, :, part])
        else:
            np.cumsum(np.sort(values, axis=0)[::-1], axis=0, out=sums[1:, :, part])
    return sums
