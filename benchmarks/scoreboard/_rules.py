"""Rules that choose the number of clusters, to compare `scan_k` and `scan_k_features` with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score

from partita import KScan

__all__ = ["RULES", "gap_statistic", "of_curves", "silhouette"]

RULES = ("scan", "eigengap", "silhouette", "gap statistic", "PAC", "delta area", "lifetime")
_FLAT = 0.1  # relative growth of the area that still counts
_N_REFERENCES, _N_INIT = 10, 2

Points = NDArray[np.float64]


def of_curves(scan: KScan) -> dict[str, int]:
    """Return the largest eigengap and lifetime, the smallest PAC, the last K with growing area."""
    curves, ks = scan.curves, scan.k.tolist()
    grows = np.flatnonzero(curves["delta_area"][1:] > _FLAT)
    return {
        "eigengap": ks[int(np.argmax(curves["eigengap"]))],
        "lifetime": ks[int(np.argmax(curves["lifetime"]))],
        "PAC": ks[int(np.argmin(curves["pac"]))],
        "delta area": ks[int(grows[-1]) + 1] if len(grows) else ks[0],
    }


def silhouette(points: Points, labels: dict[int, NDArray[Any]], metric: str) -> int:
    """Return the K whose labels have the largest mean silhouette."""
    widths = {
        k: silhouette_score(points, each, metric=metric) if len(np.unique(each)) > 1 else -1.0
        for k, each in labels.items()
    }
    return max(widths, key=lambda k: widths[k])


def gap_statistic(
    points: Points, reference: Callable[[np.random.Generator], Points], ks: Sequence[int], seed: int
) -> int | None:
    """Return the rule of Tibshirani et al. with k-means; None if it is one cluster.

    The smallest K, from 1 on, whose gap is at least the next gap minus its standard error.
    """
    ks = [1, *ks, ks[-1] + 1]
    rng = np.random.default_rng(seed)
    own = _log_dispersions(points, ks, seed)
    references = [_log_dispersions(reference(rng), ks, seed) for _ in range(_N_REFERENCES)]
    gap = np.mean(references, axis=0) - own
    error = np.std(references, axis=0) * np.sqrt(1 + 1 / _N_REFERENCES)
    enough = np.flatnonzero(gap[:-1] >= gap[1:] - error[1:])
    best = ks[int(enough[0])] if len(enough) else ks[-2]
    return None if best == 1 else best


def _log_dispersions(points: Points, ks: Sequence[int], seed: int) -> NDArray[np.float64]:
    fits = [KMeans(k, n_init=_N_INIT, random_state=seed).fit(points) for k in ks]
    return np.log([max(float(fit.inertia_), 1e-12) for fit in fits])
