"""The scan itself: curves of the observed and of null ensembles, and the decision."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from partita.ensemble import Ensemble
from partita.select_k._curves import CRITERIA, Curves, Judged
from partita.select_k._decision import FIRST_LOOK, Decision
from partita.select_k._request import Request
from partita.select_k._result import CRITERION, EVIDENCE, KScan
from partita.select_k._spectral_gap import is_gap, is_nearly_gap
from partita.select_k._steps import Pilot, Steps

__all__ = ["Scan", "check_n_partitions"]


def check_n_partitions(ensemble: Ensemble) -> None:
    """Raise an error for fewer partitions than a scan needs."""
    if ensemble.n_partitions < 4:
        raise ValueError(
            "Expected at least 4 partitions to choose the number of clusters, got "
            f"{ensemble.n_partitions}. Pass the number of clusters instead."
        )


class Scan:
    """Curves of the observed ensembles, and on request those of null ensembles and the decision.

    Parameters
    ----------
    judged : iterable of (Ensemble, sequence of int, Evidence or None)
        Observed ensembles, as in `Curves`.
    null : callable
        Returns the same for a null, drawn with a generator of random numbers.
    ks : sequence of int
        Numbers of clusters, ascending.
    request : Request
        Method, numbers of resamples and of null ensembles.
    rng : Generator
        Source of random numbers.
    pilot : Pilot
        Predicts the time of the scan.
    gaps : array of shape (n_k,), optional
        Gaps in the spectrum of the graph of neighbors, for features that are cut as a graph.
    gap_is_tested : bool, default=True
        Whether a number needs a gap.
    """

    def __init__(
        self,
        judged: Iterable[Judged],
        null: Callable[[np.random.Generator], Iterable[Judged]],
        ks: Sequence[int],
        request: Request,
        rng: np.random.Generator,
        pilot: Pilot,
        gaps: NDArray[np.float64] | None = None,
        *,
        gap_is_tested: bool = True,
    ) -> None:
        self._gaps, self._gap_is_tested = gaps, gap_is_tested
        self._null, self._ks, self._request = null, ks, request
        self._nulls: list[Curves] = []
        self._steps = Steps(ks, request, pilot)
        self._observed = Curves(
            judged, request.method, request.n_resamples, rng, self._steps.advance
        )
        self._children = rng.spawn(request.n_null)

    @property
    def labels(self) -> dict[int, NDArray[np.int64]]:
        """The observed consensus for every number of clusters."""
        return self._observed.labels

    @property
    def possible(self) -> list[int]:
        """The numbers of clusters that the scan may suggest: those with a gap in the spectrum."""
        return self._with_gaps(is_gap)

    @property
    def nearly_possible(self) -> list[int]:
        """The numbers of clusters with a gap, or nearly one, in the spectrum."""
        return self._with_gaps(is_nearly_gap)

    def _with_gaps(self, test: Callable[[NDArray[np.float64]], NDArray[np.bool_]]) -> list[int]:
        """Return the numbers whose gap passes a test; all of them if there is no spectrum."""
        passes = np.ones(len(self._ks), bool) if self._gaps is None else test(self._gaps)
        return [k for k, is_passed in zip(self._ks, passes, strict=True) if is_passed]

    def stop(self) -> None:
        """End the scan without a decision."""
        self._steps.finish()

    def rules_out(self, numbers: Sequence[int]) -> bool:
        """Return whether the first null ensembles leave no hope that one of the numbers is better.

        The rest of the null ensembles is left to `decide`.
        """
        if not self._request.early_stop:
            return False
        while len(self._nulls) < min(FIRST_LOOK, self._request.n_null):
            self._add_null()
        is_hopeless = dict(zip(self._ks, self._decision().is_hopeless, strict=True))
        return all(is_hopeless[k] for k in numbers)

    def _add_null(self) -> None:
        """Compute the curves of another null ensemble."""
        request, j = self._request, len(self._nulls)
        child = self._children[j]
        self._steps.message = f"null ensemble {j + 1} of {request.n_null}" + (
            " at most" if request.early_stop else ""
        )
        halves, advance = request.null_resamples, self._steps.advance
        self._nulls.append(
            Curves(self._null(child), request.method, halves, child, advance, is_null=True)
        )

    def _decision(self) -> Decision:
        """Return the decision by the null ensembles so far."""
        observed, nulls = self._observed, self._nulls
        evidence = _evidence(observed, nulls)
        return Decision(
            self._ks,
            *_halves_of(observed, CRITERION),
            np.asarray([curves.values[CRITERION] for curves in nulls]),
            self._request.n_null,
            evidence,
            None if evidence is not None else _halves_of(observed, "silhouette"),
            self._gaps,
            self._gap_is_tested,
        )

    def decide(self) -> KScan:
        """Compute the curves of null ensembles, and decide."""
        ks, request, observed, steps = self._ks, self._request, self._observed, self._steps
        gaps, nulls = self._gaps, self._nulls
        while len(nulls) < request.n_null and not (
            request.early_stop and len(nulls) > 1 and self._decision().is_settled
        ):
            self._add_null()
        decision = self._decision()
        steps.finish()
        names = [name for name in (*CRITERIA, *EVIDENCE) if name in nulls[0].values]
        values = {name: np.asarray([c.values[name] for c in nulls]) for name in names}
        return KScan(
            k=np.asarray(ks),
            best_k=decision.best_k,
            curves=observed.values | ({} if gaps is None else {"spectral_gap": gaps}),
            null_mean={name: v.mean(axis=0) for name, v in values.items()},
            null_std={name: v.std(axis=0, ddof=1) for name, v in values.items()},
            gain=decision.gain,
            standard_error=decision.error,
            difference_error=decision.difference_error,
            pac_interval=observed.pac_interval,
            cdf=observed.cdf,
            labels=observed.labels,
            resamples=observed.resamples,
            nulls=values,
        )


def _halves_of(observed: Curves, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return a curve, and its values for every half of the partitions."""
    return observed.values[name], observed.resamples[name].reshape(-1, len(observed.values[name]))


def _evidence(
    observed: Curves, nulls: Sequence[Curves]
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return the evidence of a scan of features and of its nulls; None for a scan of labels."""
    for name in EVIDENCE:
        if name in observed.values:
            return observed.values[name], np.asarray([curves.values[name] for curves in nulls])
    return None
