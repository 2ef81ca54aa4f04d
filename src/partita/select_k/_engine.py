"""The scan itself: curves of the observed and of null ensembles, and the decision."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from partita.ensemble import Ensemble
from partita.select_k._curves import CRITERIA, Clusterer, Curves, Judged
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
    """Curves of the observed ensembles and of null ensembles, and the decision, on request.

    Nothing is computed before it is asked for. The random numbers, and so the results, do not
    depend on what is asked for, nor on the order.

    Parameters
    ----------
    judged : callable
        Returns the observed ensembles for some of the numbers, as in `Curves`.
    null : callable
        Returns null ensembles for all numbers, drawn with a generator of random numbers.
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
    has_valley : callable, optional
        Returns whether the clusters of some labels are separated; if they are not, their number is
        not suggested. By default all are.
    """

    def __init__(
        self,
        judged: Callable[[Sequence[int]], Iterable[Judged]],
        null: Callable[[np.random.Generator], Iterable[Judged]],
        ks: Sequence[int],
        request: Request,
        rng: np.random.Generator,
        pilot: Pilot,
        gaps: NDArray[np.float64] | None = None,
        *,
        gap_is_tested: bool = True,
        has_valley: Callable[[NDArray[np.int64]], bool] | None = None,
    ) -> None:
        self._gaps, self._gap_is_tested, self._has_valley = gaps, gap_is_tested, has_valley
        self._null, self._ks, self._request = null, ks, request
        self._nulls: list[Curves] = []
        self._judged, self._rng = judged, rng
        self._steps = Steps(ks, request, pilot)
        self._cluster = Clusterer(request.method, rng, self._steps.advance)
        self._observed: Curves | None = None
        self._children = rng.spawn(request.n_null)

    def labels(self, k: int) -> NDArray[np.int64]:
        """Return the observed consensus of k clusters."""
        if self._observed is not None:
            return self._observed.labels[k]
        ((ensemble, _, _),) = self._judged([k])
        return self._cluster.labels(ensemble, k)

    def _curves(self, *, in_full: bool) -> Curves:
        """Return the observed curves, all of them or only those that features are judged by."""
        if self._observed is None:
            judged, n_resamples = self._judged(self._ks), self._request.n_resamples
            self._observed = Curves(judged, self._cluster, n_resamples, self._rng, in_full=in_full)
        elif in_full:
            self._observed.complete()
        return self._observed

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
        self._curves(in_full=False)
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
        judged = self._null(child)  # the first random numbers are those of the ensembles
        cluster = Clusterer(request.method, child, self._steps.advance)
        self._nulls.append(Curves(judged, cluster, request.null_resamples, child, is_null=True))

    def _decision(self) -> Decision:
        """Return the decision by the null ensembles so far."""
        observed, nulls = self._curves(in_full=False), self._nulls
        evidence = _evidence(observed, nulls)
        if evidence is None:
            observed.complete()  # halves decide too
        return Decision(
            self._ks,
            observed.values[CRITERION],
            _of_halves(observed, CRITERION) if observed.is_complete else None,
            np.asarray([curves.values[CRITERION] for curves in nulls]),
            self._request.n_null,
            evidence,
            None if evidence is not None else _with_halves(observed, "silhouette"),
            self._gaps,
            self._gap_is_tested,
        )

    @property
    def best_k(self) -> int | None:
        """The suggestion. For features it needs no halves of the observed partitions."""
        self._curves(in_full=False)
        self._add_nulls()
        best_k = self._decision().best_k
        return None if self._is_rejected(best_k) else best_k

    def _is_rejected(self, best_k: int | None) -> bool:
        """Return whether no valley of density separates the clusters of a suggestion."""
        if best_k is None or self._has_valley is None:
            return False
        return not self._has_valley(self.labels(best_k))

    def _add_nulls(self) -> None:
        """Compute null ensembles until they settle the decision."""
        request, nulls = self._request, self._nulls
        while len(nulls) < request.n_null and not (
            request.early_stop and len(nulls) > 1 and self._decision().is_settled
        ):
            self._add_null()

    def decide(self) -> KScan:
        """Compute all curves and those of null ensembles, and decide."""
        observed = self._curves(in_full=True)
        self._add_nulls()
        ks, gaps, nulls, decision = self._ks, self._gaps, self._nulls, self._decision()
        self._steps.finish()
        names = [name for name in (*CRITERIA, *EVIDENCE) if name in nulls[0].values]
        values = {name: np.asarray([c.values[name] for c in nulls]) for name in names}
        best_k = decision.best_k
        is_rejected = self._is_rejected(best_k)
        return KScan(
            k=np.asarray(ks),
            best_k=None if is_rejected else best_k,
            rejected_k=best_k if is_rejected else None,
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


def _of_halves(observed: Curves, name: str) -> NDArray[np.float64]:
    """Return the values of a curve for every half of the partitions, (n_halves, n_k)."""
    return observed.resamples[name].reshape(-1, len(observed.values[name]))


def _with_halves(observed: Curves, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return a curve, and its values for every half of the partitions."""
    return observed.values[name], _of_halves(observed, name)


def _evidence(
    observed: Curves, nulls: Sequence[Curves]
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return the evidence of a scan of features and of its nulls; None for a scan of labels."""
    for name in EVIDENCE:
        if name in observed.values:
            return observed.values[name], np.asarray([curves.values[name] for curves in nulls])
    return None
