"""The decision against the null, and when the null ensembles settle it.

The nulls are looked at after 4, 6, 8, ... of them and at the end. Structure may be declared at
any look, and the chance that noise passes one of them stays below `FALSE_ALARM`: each look before
the last one has a small share of it, the last look has the rest. A look before the last one tests
every K by itself with Student's t of n - 1 degrees of freedom, which is exact for normally
distributed values however few the nulls are. Stopping because the gain is far too small only makes
"no structure" more likely.

Every K is tested twice, by its separation s and by -log(1 - s). A separation cannot exceed 1: null
ensembles near 0.8 spread widely below it, and 1.0, which they hardly ever reach, is few of their
standard deviations away. The logarithm removes the bound. It also enlarges the spread of a null
near 1, so that it does not replace the first test.

A scan of features has other tests. k-means cuts data without clusters into the same pieces again
and again, so that a high separation is weak evidence: the partitions of a long box agree as well as
those of two clusters. Each K is tested by other evidence, which distinguishes the two: its
tightness, minus the logarithm of the share of the variance that is left within clusters, or for
generators that cut a graph its isolation, minus the logarithm of the share of neighbors in another
cluster. Thin shapes such as rings are tight and easy to cut as well. So the separation must also be
above the null, at the same level, or nearly perfect. For graphs there is a better test of this: the
gap in the spectrum of the graph must be larger than that of shapes without clusters
(`_spectral_gap`), whatever the separation. It needs no null. The gap of sparse features is not
tested; the separation is, unless the evidence is twice as far from the null as it must be.

The suggestion is the K with the largest gain of those that beat the null. For features the gain is
multiplied by that of the evidence, and by the gap if there is one: partitions agree perfectly at a
K that always joins the same clusters, and thin clusters are cut easily into more. For labels there
is one exception. Partitions with fewer clusters than there are join some of them, which costs the
gain of the right K more than that of K - 1. The silhouette is not misled by them, but where
partitions are cut ever finer it has no peak and takes too many clusters (docs/choosing-k.md). So
the K with the largest silhouette is suggested if it is a peak, clearly above every larger K, and if
its gain is tied with the largest one. Two values are tied if their difference is within its
standard error, over the same halves and null ensembles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student_t

from partita.select_k._excess import excess_ratios, larger_excess_ratios
from partita.select_k._spectral_gap import is_gap

__all__ = ["FIRST_LOOK", "Decision"]

_FALSE_ALARM = 0.02  # share of scans of noise that may suggest a K, 0.01 for each of two tests
FIRST_LOOK, _LOOK_EVERY = 4, 2  # null ensembles
_EARLY_ALARM = 0.001  # part of the false alarms that each look before the last one may cause
_HOPELESS = 0.5  # part of the final bound below which more null ensembles are not computed
_LEAST_ROOM = 0.02  # of 1 - mean separation of the null, by which a gain is divided
_PERFECT = 0.95  # separation that no null can exceed clearly
_ALONE = 2.0  # times the bound: evidence of sparse features that needs no separation
_LEAST_GAIN = 0.1  # by which evidence is multiplied where the separation is not tested
_DOUBT = 0.01  # chance that a settled comparison of two K would change with more null ensembles


@dataclass(frozen=True, eq=False)
class Decision:
    """The gains of a scan and the number of clusters they suggest.

    Attributes
    ----------
    ks : sequence of int
        Numbers of clusters.
    observed : array of shape (n_k,)
        Separation of the ensemble.
    halves : array of shape (n_halves, n_k) or None
        Separation of halves of its partitions. The standard errors need them; with evidence, the
        suggestion does not.
    nulls : array of shape (n_null, n_k)
        Separations of the null ensembles so far.
    n_planned : int
        Number of null ensembles if the scan does not stop early.
    evidence : (array of shape (n_k,), array of shape (n_null, n_k)), optional
        For a scan of features, the tightness or isolation of the ensemble and of the null
        ensembles. By default the scan is one of labels.
    silhouette : (array of shape (n_k,), array of shape (n_halves, n_k)), optional
        The silhouette of the ensemble and of halves of its partitions. By default the gain decides
        alone.
    gaps : array of shape (n_k,), optional
        Gaps in the spectrum of the graph of neighbors (`spectral_gaps`), for a scan of features by
        a generator that cuts a graph.
    gap_is_tested : bool, default=True
        Whether a K needs a gap, instead of a separation above the null.
    """

    ks: Sequence[int]
    observed: NDArray[np.float64]
    halves: NDArray[np.float64] | None
    nulls: NDArray[np.float64]
    n_planned: int
    evidence: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
    silhouette: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
    gaps: NDArray[np.float64] | None = None
    gap_is_tested: bool = True

    @property
    def gain(self) -> NDArray[np.float64]:
        """Separation minus its mean over the null ensembles, as a share of the largest possible."""
        return self._scale * (self.observed - self.nulls.mean(axis=0))

    @property
    def _scale(self) -> NDArray[np.float64]:
        return 1.0 / np.maximum(1.0 - self.nulls.mean(axis=0), _LEAST_ROOM)

    @property
    def _weight(self) -> NDArray[np.float64]:
        """What the gain of each K is multiplied by for the suggestion."""
        if self.evidence is None:
            return np.ones(len(self.observed))
        evidence, of_nulls = self.evidence
        weight = np.maximum(evidence - of_nulls.mean(axis=0), 0.0)
        return weight if self.gaps is None else weight * np.maximum(self.gaps, 0.0)

    @property
    def _score(self) -> NDArray[np.float64]:
        """What decides between the K that beat the null.

        A gap in a spectrum is structure whatever the separation is. A negative gain would turn the
        order of the evidence round.
        """
        gain = self.gain if self.gaps is None else np.maximum(self.gain, _LEAST_GAIN)
        return self._weight * gain

    @property
    def _tests_gaps(self) -> bool:
        return self.gaps is not None and self.gap_is_tested

    @property
    def error(self) -> NDArray[np.float64]:
        """Standard error of the gain, that of another null ensemble included."""
        spread = np.var(self.nulls, axis=0, ddof=1)
        variance = _variance_of_all(self._halves) + spread * (1 + 1 / len(self.nulls))
        return self._scale * np.sqrt(variance)

    @property
    def _halves(self) -> NDArray[np.float64]:
        if self.halves is None:
            raise ValueError("A standard error needs the separation of halves.")
        return self.halves

    @property
    def difference_error(self) -> NDArray[np.float64]:
        """Standard error of the difference between each gain and that of the suggestion."""
        return self._difference_error(self.best)

    def _difference_error(self, other: int) -> NDArray[np.float64]:
        scale = self._scale
        halves, nulls = scale * self._halves, scale * self.nulls
        return np.sqrt(
            _variance_of_all(halves - halves[:, [other]])
            + np.var(nulls - nulls[:, [other]], axis=0, ddof=1) / len(nulls)
        )

    @property
    def _ratios(self) -> NDArray[np.float64]:
        """The excess over the null in units of the spread of another null ensemble, for every K.

        The larger one of both tests; for features, that of the evidence, if the gap or, without
        one, the separation is large enough.
        """
        agreement = larger_excess_ratios(self.observed, self.nulls)
        if self.evidence is None:
            return agreement
        if self.gaps is not None and self.gap_is_tested:
            return np.where(is_gap(self.gaps), excess_ratios(*self.evidence), -np.inf)
        evidence = excess_ratios(*self.evidence)
        is_enough = (self.observed >= _PERFECT) & (agreement > 0.0)
        is_enough |= agreement > self._final_bound
        if not self.gap_is_tested:
            is_enough |= evidence > _ALONE * self._final_bound
        return np.minimum(evidence, np.where(is_enough, np.inf, agreement))

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
    def best(self) -> int:
        """Position of the suggestion, of those that are better than the null, or of all."""
        is_better = self._is_better
        candidates = is_better | ~is_better.any()
        leader = int(np.argmax(np.where(candidates, self._score, -np.inf)))
        if self.silhouette is None:
            return leader
        peak = _clear_peak(*self.silhouette, candidates)
        is_tied = self.gain >= self.gain[leader] - self._difference_error(leader)
        return peak if peak is not None and is_tied[peak] else leader

    def _bound(self, alarm: float, freedom: int) -> float:
        """Return Student's t, with Bonferroni's correction for two tests of every K."""
        return float(student_t.ppf(1.0 - alarm / (2 * len(self.ks)), freedom))

    @property
    def _final_bound(self) -> float:
        n_looks = len(range(FIRST_LOOK, self.n_planned, _LOOK_EVERY))
        alarm = _FALSE_ALARM - n_looks * _EARLY_ALARM
        return self._bound(alarm, self._freedom)

    @property
    def _freedom(self) -> int:
        """Degrees of freedom of the last look, whose spread is at least that over all K."""
        return (self.n_planned - 1) * len(self.ks)

    @property
    def _early_bound(self) -> float:
        return self._bound(_EARLY_ALARM, len(self.nulls) - 1)

    @property
    def is_settled(self) -> bool:
        """Whether the scan may stop: now is a look, and more null ensembles change nothing."""
        n = len(self.nulls)
        if n >= self.n_planned:
            return True
        if n < FIRST_LOOK or (n - FIRST_LOOK) % _LOOK_EVERY:
            return False
        if self.is_hopeless.all():
            return True
        return bool(self._is_better.any()) and self._choice_is_settled

    @property
    def is_hopeless(self) -> NDArray[np.bool_]:
        """Whether each K is so far from the bound that more null ensembles hardly help.

        The separation of a few null ensembles of features is too uncertain to say so.
        """
        if self.evidence is None or self._tests_gaps:
            ratios = self._ratios
        else:
            ratios = excess_ratios(*self.evidence)
        return ratios <= _HOPELESS * self._final_bound

    @property
    def best_k(self) -> int | None:
        """The suggestion; None if no K beats the null."""
        return int(self.ks[self.best]) if self._is_better.any() else None

    @property
    def _choice_is_settled(self) -> bool:
        """Whether more null ensembles hardly make another K the best one.

        Differences of gains vary with the null ensembles; a K far below the null has no part.
        """
        n, best = len(self.nulls), self.best
        score = self._score
        difference = score - score[best]
        nulls = self._weight * self._scale * self.nulls
        paired = nulls - nulls[:, [best]]
        doubt = np.std(paired, axis=0, ddof=1) / np.sqrt(n) * student_t.ppf(1 - _DOUBT, n - 1)
        is_out = (difference + doubt < 0) | self.is_hopeless
        is_out[best] = True
        return bool(is_out.all())


def _clear_peak(
    observed: NDArray[np.float64], halves: NDArray[np.float64], candidates: NDArray[np.bool_]
) -> int | None:
    """Return the position of the largest silhouette.

    None if a larger K is tied with it, or if it is the largest K, beyond which nothing is seen.
    """
    peak = int(np.argmax(np.where(candidates, observed, -np.inf)))
    error = np.sqrt(_variance_of_all(halves - halves[:, [peak]]))
    is_lower = observed[peak] - observed > error
    return peak if len(observed) > peak + 1 and is_lower[peak + 1 :].all() else None


def _variance_of_all(halves: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the variance of the value of all partitions, half of that of their halves."""
    return np.asarray(np.var(halves, axis=0, ddof=1) / 2.0)
