"""Agreement of each partition with the others, by normalized mutual information."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from partita.matrices.overlaps import overlaps_of_rows
from partita.scale import Rows

__all__ = [
    "crowd_agreement_of_overlaps",
    "crowd_agreement_of_rows",
    "normalized_information",
    "relative_means",
]


def crowd_agreement_of_rows(rows: Rows) -> NDArray[np.float64]:
    """Return the normalized crowd agreement index of every column of rows.

    The rows need not be in memory; `crowd_agreement` has the definition.

    Parameters
    ----------
    rows : Rows
        Rows of labels, which are visited in one pass.

    Returns
    -------
    array of shape (n_partitions,)
        Cost O(n m²) and 8 L² bytes.
    """
    return crowd_agreement_of_overlaps(overlaps_of_rows(rows), rows.offsets)


def crowd_agreement_of_overlaps(
    overlaps: NDArray[np.float64], offsets: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the normalized crowd agreement index from the overlaps of all base clusters."""
    clusters = [slice(*ends) for ends in pairwise(offsets)]
    agreement = np.zeros((len(clusters), len(clusters)))
    for i, own in enumerate(clusters):
        for j, other in enumerate(clusters[:i]):
            agreement[i, j] = normalized_information(overlaps[own, other])
    return relative_means(agreement)


def relative_means(agreement: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each partition's mean agreement with the others, divided by the largest mean.

    Parameters
    ----------
    agreement : array of shape (n_partitions, n_partitions)
        Agreement of two partitions, below the diagonal; 0 elsewhere.

    Returns
    -------
    array of shape (n_partitions,)
        1 for all partitions if no two agree.
    """
    m = len(agreement)
    mean = (agreement + agreement.T).sum(axis=1) / max(m - 1, 1)
    largest = mean.max()
    return mean / largest if largest > 0 else np.ones(m)


def normalized_information(table: NDArray[np.float64]) -> float:
    """Return the mutual information divided by the larger entropy; 0 if that is 0."""
    total = table.sum()
    if total == 0:
        return 0.0
    row, column = _entropy(table.sum(axis=1) / total), _entropy(table.sum(axis=0) / total)
    largest = max(row, column)
    information = max(row + column - _entropy(table / total), 0.0)
    return information / largest if largest > 0 else 0.0


def _entropy(share: NDArray[np.float64]) -> float:
    positive = share[share > 0]
    return float(-(positive * np.log(positive)).sum())
