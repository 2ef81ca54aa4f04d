"""The ranges from which parameters of a partition are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral

import numpy as np

__all__ = ["check_range", "choose_k_range", "draw_integer"]


def choose_k_range(
    n_rows: int, k_min: int | None, k_max: int | None, n_clusters: int | None, default_max: int
) -> tuple[int, int]:
    """Return the smallest and largest K_i for partitions of `n_rows` rows.

    `n_clusters`, or 2, is the default of `k_min`; the default of `k_max` is `default_max`, at least
    `k_min`.
    """
    low = k_min or n_clusters or min(2, k_max or 2)
    high = k_max or max(low, default_max)
    if low > high:
        raise ValueError(
            f"k_min={low} must not exceed k_max={high}; k_min is n_clusters by default. "
            "Lower k_min or raise k_max."
        )
    if low > n_rows:
        raise ValueError(
            f"A partition has n_samples={n_rows} rows, fewer than k_min={low} clusters. "
            "Lower k_min (n_clusters) or raise the number of rows."
        )
    return low, high


def check_range(name: str, value: Sequence[float], example: tuple[float, float]) -> None:
    """Raise an error unless a parameter is a pair of positive numbers in ascending order."""
    if len(value) != 2 or not 0 < value[0] <= value[1]:
        raise ValueError(
            f"{name} must be a pair of positive numbers in ascending order, such as {example}, "
            f"got {value!r}."
        )
    if isinstance(example[0], int) and not all(isinstance(v, Integral) for v in value):
        raise ValueError(f"{name} must be a pair of integers, such as {example}, got {value!r}.")


def draw_integer(bounds: Sequence[int], rng: np.random.Generator) -> int:
    """Draw an integer from a range, both ends included."""
    return int(rng.integers(bounds[0], bounds[1] + 1))
