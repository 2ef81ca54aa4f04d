"""The decision against the null, and when the null ensembles settle it.

The nulls are looked at after 4, 6, 8, ... of them and at the end. Structure may be declared at
any look, and the chance that noise passes one of them stays below `FALSE_ALARM`: each look before
the last one has a small share of it, the last look has the rest. A look before the last one tests
every K by itself with Student's t of n - 1 degrees of freedom, which is exact for normally
distributed values however few the nulls are. Stopping because the gain is far too small only makes
"no structure" more likely.

Every K is tested twice, by its separation and by -log(1 - separation). A separation cannot exceed
1: null ensembles near 0.8 spread widely below it, and 1.0, which they hardly ever reach, is few of
their standard deviations away. The logarithm removes the bound. It also enlarges the spread of a
null near 1, so that it does not replace the first test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student_t

__all__ = ["Decision"]

_FALSE_ALARM = 0.02  # share of scans of noise that may suggest a K, 0.01 for each of two tests
_FIRST_LOOK, _LOOK_EVERY = 4, 2  # null ensembles
_EARLY_ALARM = 0.001  # part of the false alarms that each look before the last one may cause
_HOPELESS = 0.5  # part of the final bound below which more null ensembles are not computed
_RESOLUTION = 0.002  # of 1 - separation; smaller values count as this
_DOUBT = 0.01  # chance that a settled comparison of two K would change with more null ensembles


@dataclass(frozen=True, eq=False)
class Decision:
    """The gains of a scan and the number of clusters they suggest.

    Attributes
    ----------
    ks : sequence of int
        Numbers of clusters.
    observed, observed_error : arrays of shape (n_k,)
        Separation of the ensemble, and its standard error over halves.
    nulls : array of shape (n_null, n_k)
        Separations of the null ensembles so far.
    n_planned : int
        Number of null ensembles if the scan does not stop early.
    """

    ks: Sequence[int]
    observed: NDArray[np.float64]
    observed_error: NDArray[np.float64]
    nulls: NDArray[np.float64]
    n_planned: int

    @property
    def gain(self) -> NDArray[np.float64]:
        """Separation minus its mean over the null ensembles."""
        return self.observed - self.nulls.mean(axis=0)

    @property
    def error(self) -> NDArray[np.float64]:
        """Standard error of the gain."""
        return self._error(1.0)

    def _error(self, factor: float) -> NDArray[np.float64]:
        """Return the error if the spread of the null were `factor` times what it seems."""
        spread = factor * self._spread
        return np.sqrt(self.observed_error**2 + spread**2 * (1 + 1 / len(self.nulls)))

    @property
    def _spread(self) -> NDArray[np.float64]:
        return np.std(self.nulls, axis=0, ddof=1)

    @property
    def _ratios(self) -> NDArray[np.float64]:
        """The excess over the null in units of the spread of another null ensemble, for every K.

        The larger one of both tests.
        """
        return np.maximum(
            _ratios(self.observed, self.nulls),
            _ratios(_unbounded(self.observed), _unbounded(self.nulls)),
        )

    @property
    def _is_better(self) -> NDArray[np.bool_]:
        """Whether each K does better than the null; no K if the test of this look finds none.

        If it finds one, there is structure, and the bound of the last look applies to the others.
        """
        ratios = self._ratios
        is_last = len(self.nulls) >= self.n_planned
        if not is_last and ratios.max() <= self._early_bound:
            return np.zeros(len(ratios), bool)
        return ratios > self._final_bound

    @property
    def _best(self) -> int:
        """The largest gain of those that are better than the null."""
        return int(np.argmax(np.where(self._is_better, self.gain, -np.inf)))

    def _bound(self, alarm: float, freedom: int) -> float:
        """Return Student's t, with Bonferroni's correction for two tests of every K."""
        return float(student_t.ppf(1.0 - alarm / (2 * len(self.ks)), freedom))

    @property
    def _final_bound(self) -> float:
        n_looks = len(range(_FIRST_LOOK, self.n_planned, _LOOK_EVERY))
        alarm = _FALSE_ALARM - n_looks * _EARLY_ALARM
        return self._bound(alarm, (self.n_planned - 1) * len(self.ks))

    @property
    def _early_bound(self) -> float:
        return self._bound(_EARLY_ALARM, len(self.nulls) - 1)

    @property
    def is_settled(self) -> bool:
        """Whether the scan may stop: now is a look, and more null ensembles change nothing."""
        n = len(self.nulls)
        if n >= self.n_planned:
            return True
        if n < _FIRST_LOOK or (n - _FIRST_LOOK) % _LOOK_EVERY:
            return False
        if self._ratios.max() <= _HOPELESS * self._final_bound:
            return True
        return bool(self._is_better.any()) and self._choice_is_settled

    @property
    def best_k(self) -> int | None:
        """The smallest K that beats the null, within one standard error of the best gain; or None.

        The best gain is that of the K that beat the null.
        """
        return int(self.ks[self._smallest_within()]) if self._is_better.any() else None

    def _smallest_within(self) -> int:
        is_within = self.gain >= self.gain[self._best] - self.error[self._best]
        return int(np.flatnonzero(is_within & self._is_better)[0])

    @property
    def _choice_is_settled(self) -> bool:
        """Whether each smaller K is clearly out of the standard error, and the choice clearly in.

        Differences of gains vary with the null ensembles, and their spread may be half or twice
        what it seems.
        """
        n, best, choice = len(self.nulls), self._best, self._smallest_within()
        difference = self.gain - self.gain[best]
        paired = self.nulls - self.nulls[:, best : best + 1]
        doubt = np.std(paired, axis=0, ddof=1) / np.sqrt(n) * student_t.ppf(1 - _DOUBT, n - 1)
        smallest, largest = self._error(0.5)[best], self._error(2.0)[best]
        is_hopeless = self._ratios <= _HOPELESS * self._final_bound
        is_out = (difference + doubt < -largest) | is_hopeless
        is_in = difference - doubt >= -smallest
        return bool(is_out[:choice].all() and is_in[choice])


def _ratios(observed: NDArray[np.float64], nulls: NDArray[np.float64]) -> NDArray[np.float64]:
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
