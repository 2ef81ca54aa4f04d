"""Matrices of soft partitions, from the table of memberships in place of the 0/1 incidence."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._memory import require_memory
from partita.ensemble import SoftEnsemble
from partita.matrices.overlaps import entropy_by_overlaps

__all__ = [
    "SoftConnections",
    "certainty_overlaps",
    "soft_coassociation",
    "soft_locally_weighted_coassociation",
    "soft_overlaps",
]


def soft_overlaps(soft: SoftEnsemble) -> NDArray[np.float64]:
    """Return N = Pᵀ diag(r) P: Σ_x r(x) p_c(x) p_d(x) for all pairs of base clusters."""
    scaled = np.sqrt(soft.weights)[:, None] * soft.memberships
    return np.asarray(scaled.T @ scaled)


def certainty_overlaps(soft: SoftEnsemble) -> NDArray[np.float64]:
    """Return the overlaps from which methods compute the certainty of clusters.

    Clusters of one partition do not overlap, as with labels, and the diagonal has their sizes.
    Weights are in units of one sample, or of the smallest weight if that is less.
    """
    overlaps = soft_overlaps(soft)
    sizes = soft.weights @ soft.memberships
    for start, stop in pairwise(soft.offsets):
        overlaps[start:stop, start:stop] = np.diag(sizes[start:stop])
    return np.asarray(overlaps / min(1.0, float(soft.weights.min())))


def soft_coassociation(
    soft: SoftEnsemble, values: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return the expected co-association of two rows, P diag(values) Pᵀ over partitions with both.

    Labels are drawn independently by the memberships. The result is exactly symmetric.
    """
    n = soft.n_rows
    require_memory(8 * n * n, f"The {n} x {n} co-association matrix")
    table = soft.memberships if values is None else soft.memberships * np.sqrt(values)
    matrix = table @ table.T
    if not soft.n_missing:
        matrix /= soft.n_partitions
        return np.asarray(matrix)
    observed = soft.observed.astype(np.float64)
    both = observed @ observed.T
    return np.asarray(np.divide(matrix, both, out=matrix, where=both > 0))


def soft_locally_weighted_coassociation(
    soft: SoftEnsemble, theta: float = 0.4
) -> NDArray[np.float64]:
    """Return the expected co-association with clusters weighted by their certainty."""
    entropy = entropy_by_overlaps(certainty_overlaps(soft), soft.offsets)
    return soft_coassociation(soft, np.exp(-entropy / (theta * soft.n_partitions)))


class SoftConnections:
    """The probabilities P Pᵀ that one soft partition joins two rows, computed when they are read.

    Pairs without memberships are NaN.
    """

    def __init__(self, soft: SoftEnsemble, partition: int) -> None:
        start, stop = soft.offsets[partition : partition + 2]
        self._memberships = soft.memberships[:, start:stop].copy()
        self._memberships[~soft.observed[:, partition]] = np.nan

    def __len__(self) -> int:
        return len(self._memberships)

    def __getitem__(self, rows: slice) -> NDArray[np.float64]:
        # a sum of products may exceed 1 by rounding
        return np.minimum(self._memberships[rows] @ self._memberships.T, 1.0)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[:], dtype)
