"""The generalization bound of spectral ensemble clustering, as a function of the sample size."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, pi, sqrt

import numpy as np
from numpy.typing import NDArray

__all__ = ["GeneralizationBound"]


@dataclass(frozen=True)
class GeneralizationBound:
    """The bound of Theorem 4 for n samples of the same distribution.

    With the shares v(x) = w(x)/n, which do not depend on n, the bound is

        complexity / n^(3/2) + largest sqrt(ln(1/delta) / 2n),
        complexity = sqrt(2 pi) r K (sqrt(mean v^-2) + 2 / min v + sqrt(mean v²) / min v²).

    Attributes
    ----------
    n_samples : float
        Number of samples of the fit.
    complexity : float
        The factor above.
    largest : float
        Largest cost of a sample.
    """

    n_samples: float
    complexity: float
    largest: float

    @classmethod
    def of(
        cls,
        row_weights: NDArray[np.float64],
        w: NDArray[np.float64],
        partition_weights: NDArray[np.float64],
        n_clusters: int,
    ) -> GeneralizationBound:
        """Make the bound from w(x) of rows that stand for `row_weights` samples each.

        With partition weights, r is their sum and the largest cost their maximum.
        """
        n = float(row_weights.sum())
        share = w / n
        inverse, square = (float(row_weights @ share**power) / n for power in (-2.0, 2.0))
        smallest = float(share.min())
        spread = sqrt(inverse) + 2.0 / smallest + sqrt(square) / smallest**2
        factor = sqrt(2.0 * pi) * float(partition_weights.sum()) * n_clusters
        return cls(n, factor * spread, float(partition_weights.max()))

    def at(self, n_samples: float, delta: float) -> float:
        """Return the bound, which holds with probability 1 - delta, for n samples."""
        chance = self.largest * sqrt(log(1.0 / delta) / (2.0 * n_samples))
        return self.complexity / n_samples**1.5 + chance

    def sufficient_samples(self, bound: float, delta: float) -> int:
        """Return the smallest n for which the bound is not larger than `bound`."""
        low, high = 0, 1
        while self.at(high, delta) > bound:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.at(middle, delta) > bound else (low, middle)
        return high
