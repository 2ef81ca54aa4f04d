"""The parameters that both scans share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Any

from partita.registry import prepare

__all__ = ["Request", "checked_range"]


@dataclass(frozen=True)
class Request:
    """The parameters that both scans share."""

    method: Any
    n_resamples: int
    n_null: int
    early_stop: bool
    null_resamples: int = 2  # pairs of halves of a null ensemble

    @classmethod
    def checked(
        cls, method: Any, n_resamples: int, n_null: int, early_stop: bool, null_resamples: int = 2
    ) -> Request:
        if n_resamples < 2 or n_null < 2:
            raise ValueError(
                f"Expected at least 2 resamples and 2 null ensembles, got {n_resamples} and "
                f"{n_null}."
            )
        method = prepare("ccgp" if method is None else method)
        if "n_clusters" not in method.get_params(deep=False):
            raise ValueError(f"method must have the parameter n_clusters, got {method!r}.")
        return cls(method, n_resamples, n_null, early_stop, null_resamples)


def _described(ks: list[int]) -> str:
    """Return numbers of clusters as text, many of them by the first and the last."""
    return str(ks) if len(ks) < 5 else f"{len(ks)} numbers from {ks[0]} to {ks[-1]}"


def checked_range(k_range: Iterable[int], n_samples: int) -> list[int]:
    several = isinstance(k_range, Iterable) and not isinstance(k_range, str)
    numbers: list[Any] = [*k_range] if several else []
    if not several or not all(isinstance(k, Real) and k == round(k) for k in numbers):
        raise TypeError(
            "k_range must be several whole numbers, such as range(2, 11), got "
            f"{numbers if several else k_range!r}."
        )
    ks = sorted({int(k) for k in numbers})
    if not ks or ks[0] < 2 or ks[-1] >= n_samples:
        raise ValueError(
            f"k_range must hold numbers of clusters from 2 to {n_samples - 1} (fewer than the "
            f"samples), got {_described(ks)}."
        )
    return ks
