"""Weights of the partitions: passed by the user, or learned from their agreement."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._input.checks import check_weights
from partita.matrices.partition_agreement import crowd_agreement_of_rows
from partita.scale import Rows

__all__ = ["column_weights", "weights_of_partitions"]

_SMALLEST = 1e-3  # weight of a partition that agrees with no other, so that its labels count


def column_weights(
    partition_weights: Any, rows: Rows, partition_order: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the weights of the columns of rows.

    Parameters
    ----------
    partition_weights : "agreement", array of shape (n_partitions,) or None
        The parameter of a method. "agreement" is the normalized crowd agreement index
        (`partita.matrices.crowd_agreement`), at least 0.001. None: all weights are 1.
    rows : Rows
        The partitions.
    partition_order : array of shape (n_partitions,)
        Number of the partition in each column.
    """
    if isinstance(partition_weights, str):
        return np.maximum(crowd_agreement_of_rows(rows), _SMALLEST)
    return check_weights(partition_weights, rows.n_partitions, "partition_weights")[partition_order]


def weights_of_partitions(
    weights: NDArray[np.float64], partition_order: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the weights of columns in the order of the partitions."""
    ordered = np.empty(len(weights))
    ordered[partition_order] = weights
    return ordered
