"""Arrange values of samples and partitions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.ensemble import Ensemble

__all__ = ["by_partition", "soft_membership"]


def soft_membership(
    item_consensus: NDArray[np.float64], labels: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Scale the item consensus of each sample to sum 1.

    A sample that no partition compares with its cluster, such as a cluster of one sample, has the
    co-association with itself there, which is 1. A sample without a label has a row of zeros if no
    partition compares it with any cluster.
    """
    share = np.nan_to_num(item_consensus)
    rows = np.flatnonzero(labels >= 0)
    alone = rows[np.isnan(item_consensus[rows, labels[rows]])]
    share[alone, labels[alone]] = 1.0
    # all co-associations are 0: nothing speaks against the label
    lost = rows[share[rows].sum(axis=1) == 0]
    share[lost, labels[lost]] = 1.0
    total = share.sum(axis=1, keepdims=True)
    return np.divide(share, total, out=np.zeros_like(share), where=total > 0)


def by_partition(ensemble: Ensemble, values: Any) -> NDArray[Any]:
    """Arrange one value per column as one per partition, in the user's order."""
    values = np.asarray(values)
    ordered = np.empty_like(values)
    ordered[ensemble.partition_order] = values
    return ordered
