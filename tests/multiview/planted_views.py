"""Views with four planted clusters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def two_blind_views(
    n_per_cluster: int = 20, noise: float = 0.15, seed: int = 0
) -> tuple[list[NDArray[np.float64]], NDArray[np.int64]]:
    """Return two non-negative views and the classes.

    The first view tells classes {0, 1} from {2, 3} only, the second {0, 2} from {1, 3}.
    """
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(4), n_per_cluster))
    views = []
    for side, half in ((y // 2, 5), (y % 2, 7)):
        means = np.where(np.arange(2 * half) < half, side[:, None], 1 - side[:, None])
        views.append(means * rng.uniform(0.8, 1.2, means.shape) + noise * rng.random(means.shape))
    return views, y


def clear_views(
    n_per_cluster: int = 20, noise: float = 0.3, seed: int = 0
) -> tuple[list[NDArray[np.float64]], NDArray[np.int64]]:
    """Return two non-negative views that both tell all four classes apart, and the classes."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(4), n_per_cluster))
    views = []
    for width in (3, 5):
        means = np.repeat(np.eye(4), width, axis=1)[y]
        views.append(means * rng.uniform(0.8, 1.2, means.shape) + noise * rng.random(means.shape))
    return views, y


def with_missing_rows(
    views: list[NDArray[np.float64]], ratio: float, seed: int = 0
) -> list[NDArray[np.float64]]:
    """Return the views with NaN rows; no sample is missing in all of them."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(views[0]))
    n_missing = int(ratio * len(order))
    partial = []
    for v, X in enumerate(views):
        X = X.copy()
        X[order[v * n_missing : (v + 1) * n_missing]] = np.nan
        partial.append(X)
    return partial
