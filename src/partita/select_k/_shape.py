"""Delta area, eigengap, lifetime, and the tightness of clusters of features."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from partita.consensus import EAC
from partita.ensemble import Ensemble
from partita.matrices import cluster_certainty
from partita.matrices.label_graph import LabelGraph
from partita.solvers.transfer_cuts import transfer_cut_embedding

__all__ = ["delta_area", "eigengaps", "lifetimes", "tightness"]

_LEAST_SHARE = 1e-6  # of the variance; less counts as this
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


def tightness(X: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """Return minus the logarithm of the share of the variance that is left within clusters."""
    labeled = labels >= 0
    points = X[labeled] - X[labeled].mean(axis=0)
    counts = np.bincount(labels[labeled])
    sums = np.zeros((len(counts), X.shape[1]))
    np.add.at(sums, labels[labeled], points)
    total = float(np.sum(points**2))
    between = float(np.sum(sums**2 / np.maximum(counts, 1)[:, None]))
    if total == 0.0:
        return 0.0
    return -float(np.log(max(1.0 - between / total, _LEAST_SHARE)))
