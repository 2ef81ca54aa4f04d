"""Tests of paired differences, and Holm's correction for several of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["holm", "t_test", "wilcoxon_test"]


def t_test(differences: NDArray[np.float64]) -> float | None:
    """Return the two-sided p-value of Student's paired test; None for fewer than two pairs.

    t = mean / (standard deviation / sqrt(n)) has n - 1 degrees of freedom if the differences are
    normal with mean 0.
    """
    from scipy.stats import t as student_t  # takes long, so only when needed

    n = len(differences)
    if n < 2:
        return None
    mean, error = float(differences.mean()), float(differences.std(ddof=1)) / n**0.5
    if error == 0:
        return 1.0 if mean == 0 else 0.0
    return float(2 * student_t.sf(abs(mean / error), n - 1))


def wilcoxon_test(differences: NDArray[np.float64]) -> float | None:
    """Return the two-sided p-value of Wilcoxon's signed-rank test; None without a pair.

    Differences of 0 are left out. The value is exact for few differences, by SciPy's rule.
    """
    from scipy.stats import wilcoxon

    if len(differences) == 0:
        return None
    unequal = differences[differences != 0]
    return float(wilcoxon(unequal).pvalue) if len(unequal) else 1.0


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return Holm's adjusted p-values; a None stays None and does not count.

    The i-th smallest of c values is multiplied by c + 1 - i; an adjusted value is at least the
    one before it and at most 1.
    """
    places = [i for i, p in enumerate(p_values) if p is not None]
    values = np.asarray([p_values[i] for i in places], np.float64)
    order = np.argsort(values, kind="stable")
    factors = np.arange(len(values), 0, -1)
    adjusted: list[float | None] = [None] * len(p_values)
    steps = np.minimum(np.maximum.accumulate(values[order] * factors), 1.0)
    for rank, value in zip(order, steps.tolist(), strict=True):
        adjusted[places[rank]] = value
    return adjusted
