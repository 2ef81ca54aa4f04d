"""Base class of KCC and CCC: label k-means whose cost belongs to a utility function."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.consensus._label_kmeans import LabelKMeansConsensus
from partita.consensus.base import Size
from partita.solvers.label_kmeans import Tables, UtilityGeometry, max_initial_groups

__all__ = ["UtilityKMeansConsensus", "utility_bytes"]


def utility_bytes(size: Size) -> int:
    """Return the bytes of a fit."""
    tables = size.n_base_clusters * max_initial_groups(size.n_clusters)
    return size.n_rows * (size.n_partitions + 160) + 64 * tables


class UtilityKMeansConsensus(LabelKMeansConsensus):
    """Label k-means that maximizes a utility. A method defines `_geometry`."""

    def _learned(
        self,
        geometry: UtilityGeometry,
        counts: NDArray[np.float64],
        masses: NDArray[np.float64],
        tables: Tables,
    ) -> dict[str, Any]:
        return {"utility_": geometry.utility(counts, masses)}
