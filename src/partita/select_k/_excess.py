"""How far the values of a scan are above those of its null ensembles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["excess_ratios", "larger_excess_ratios"]

_RESOLUTION = 0.002  # of 1 - separation; smaller values count as this


def larger_excess_ratios(
    observed: NDArray[np.float64], nulls: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the larger one of the ratios with and without the logarithm."""
    return np.maximum(
        excess_ratios(observed, nulls), excess_ratios(_unbounded(observed), _unbounded(nulls))
    )


def excess_ratios(observed: NDArray[np.float64], nulls: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the excess over the null in units of its spread.

    The spread of few null ensembles at one K is uncertain, so it is not taken to be less than the
    spread over all K.
    """
    spread = np.std(nulls, axis=0, ddof=1)
    spread = np.maximum(spread, np.sqrt(np.mean(spread**2)))
    excess = observed - nulls.mean(axis=0)
    return excess / np.maximum(spread * np.sqrt(1 + 1 / len(nulls)), 1e-300)


def _unbounded(separation: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return separations on a scale without an upper bound."""
    return -np.log(np.maximum(1.0 - separation, 0.0) + _RESOLUTION)
