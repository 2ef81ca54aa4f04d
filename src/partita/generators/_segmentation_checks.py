"""Check the arguments of `segment`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from partita.generators._estimators import check_clusterer

__all__ = ["check_k_range", "check_metric", "check_n_rows"]


def check_n_rows(n_samples: int, ratio: float | None, n_rows: int | None) -> int:
    """Return the number of rows of a partition."""
    if ratio is not None and n_rows is not None:
        raise TypeError("Pass either ratio or n_rows, not both.")
    if n_rows is None:
        ratio = 0.5 if ratio is None else ratio
        if not 0 < ratio <= 1:
            raise ValueError(f"ratio={ratio} must be more than 0 and at most 1.")
        return min(n_samples, max(2, round(ratio * n_samples)))
    if not 1 <= n_rows <= n_samples:
        raise ValueError(f"n_rows={n_rows} must be between 1 and n_samples={n_samples}.")
    return int(n_rows)


def check_k_range(n_clusters: Any, n_rows: int, estimator: Any) -> tuple[int | None, int | None]:
    """Return the smallest and largest K_i, or None if the estimator has its own setting."""
    if estimator is not None:
        check_clusterer(estimator, "estimator")
        if n_clusters is not None and "n_clusters" not in estimator.get_params():
            raise ValueError(
                f"{estimator} has no parameter n_clusters. Do not pass n_clusters={n_clusters!r}."
            )
    if n_clusters is None:
        if estimator is None:
            raise ValueError("Pass n_clusters, or an estimator.")
        return None, None
    low, high = n_clusters if isinstance(n_clusters, Sequence) else (n_clusters, n_clusters)
    if not 1 <= low <= high <= n_rows:
        raise ValueError(
            f"n_clusters={n_clusters!r} must be between 1 and the {n_rows} rows of a partition, "
            "the smallest number first."
        )
    return int(low), int(high)


def check_metric(metric: str) -> None:
    """Raise an error for an unknown metric."""
    if metric not in ("euclidean", "cosine"):
        raise ValueError(f'metric must be "euclidean" or "cosine", got {metric!r}.')
