"""Delta area, eigengap and lifetime."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from partita.consensus import EAC
from partita.ensemble import Ensemble
from partita.matrices import cluster_certainty
from partita.matrices.label_graph import LabelGraph
from partita.solvers.transfer_cuts import transfer_cut_embedding

__all__ = ["delta_area", "eigengaps", "lifetimes"]

_MAX_TREE_ROWS = 5_000  # the tree needs a matrix of distinct rows by distinct rows


def delta_area(cdf: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the relative change of the area under each distribution of consensus values."""
    area = cdf[:, 1:].mean(axis=1)
    return np.concatenate([[area[0]], np.diff(area) / np.maximum(area[:-1], 1e-12)])


def eigengaps(ensemble: Ensemble, ks: Sequence[int]) -> NDArray[np.float64]:
    """Return the K-th minus the next eigenvalue of the graph of rows and base clusters."""
    rows = ensemble.compress()
    graph = LabelGraph(rows, cluster_certainty(rows))
    values = np.zeros(max(ks) + 1)
    n_values = min(len(values), rows.n_rows, rows.n_base_clusters)
    values[:n_values] = transfer_cut_embedding(graph, rows.weights, n_values)[0]
    return np.asarray([values[k - 1] - values[k] for k in ks])


def lifetimes(ensemble: Ensemble, ks: Sequence[int]) -> NDArray[np.float64]:
    """Return the range of heights at which the average linkage tree has K clusters."""
    rows = ensemble.compress()
    if rows.n_rows > _MAX_TREE_ROWS:
        return np.full(len(ks), np.nan)
    heights = EAC(1).fit(rows).tree_.height if rows.n_rows > 1 else np.empty(0)
    heights = np.concatenate([np.zeros(max(0, max(ks) - len(heights))), heights])
    return np.asarray([heights[-k + 1] - heights[-k] for k in ks])
