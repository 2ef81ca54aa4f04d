"""Progress of a scan: its steps, and the time it takes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.config import config_context, get_config, report_progress
from partita.consensus import BaseConsensus
from partita.exceptions import PartitaWarning
from partita.registry import growth_exponent
from partita.select_k._curves import Clusterer, Curves, Judged
from partita.select_k._request import Request

__all__ = ["Pilot", "Steps"]

_MOST_SAMPLES = 800  # of the larger one of two pilots
_LEAST_RATIO = (
    4  # of the samples of a scan to those of the larger pilot, and of that to the smaller
)
_SAMPLES_PER_CLUSTER = 4
_LEAST_GROWTH = 0.2  # share of the time of the larger pilot that grows, in spite of a noisy clock


@dataclass(frozen=True)
class Pilot:
    """A scan of few samples, by which the time of the whole scan is predicted.

    Attributes
    ----------
    n_samples : int
        Number of samples of the whole scan.
    ensembles : callable
        Returns the observed and a null ensemble of some samples.
    n_repetitions : float
        How often the whole scan does the work of these ensembles for other numbers of clusters.
    """

    n_samples: int
    ensembles: Callable[
        [NDArray[np.int64], np.random.Generator], tuple[Iterable[Judged], Iterable[Judged]]
    ]
    n_repetitions: float = 1


class Steps:
    """Reports progress; a clustering into K clusters counts K steps, as its cost grows with K.

    Parameters
    ----------
    ks : sequence of int
        Numbers of clusters.
    request : Request
        Method, numbers of resamples and of null ensembles.
    pilot : Pilot
        Timed if there is a progress callback and the scan is not small.
    """

    def __init__(self, ks: Sequence[int], request: Request, pilot: Pilot) -> None:
        n_clusterings = 1 + 2 * request.n_resamples
        n_clusterings += request.n_null * (1 + 2 * request.null_resamples)
        self._done, self._total = 0, n_clusterings * sum(ks)
        self.message = "ensemble and halves of its partitions"
        self._seconds: float | None = None
        self._report()
        size = min(_MOST_SAMPLES, pilot.n_samples // _LEAST_RATIO)
        if get_config().progress is not None and size >= _LEAST_RATIO * _SAMPLES_PER_CLUSTER * max(
            ks
        ):
            self._seconds = _predict(pilot, size, request)
            self._report()

    def advance(self, n_clusters: int) -> None:
        """Count a clustering that is done."""
        self._done += n_clusters
        if self._done < self._total:  # the last step is that of `finish`
            self._report()

    def finish(self) -> None:
        """Report the end, also of a scan that stopped early."""
        self._done = self._total
        self._report()

    def _report(self) -> None:
        report_progress("scan", self._done, self._total, self.message, self._seconds)


def _predict(pilot: Pilot, size: int, request: Request) -> float | None:
    """Return the seconds that a scan takes at most; None if few samples cannot be scanned.

    The second of two pilots has four times as many samples. Their times determine a constant part
    and one that grows with a power of the number of samples.
    """
    method = request.method
    exponent = growth_exponent(method.info.time) if isinstance(method, BaseConsensus) else 1
    rng = np.random.default_rng(0)
    times = []
    with config_context(progress=None), warnings.catch_warnings():
        warnings.simplefilter("ignore", PartitaWarning)  # of few samples, not of the scan
        for n_rows in (size // _LEAST_RATIO, size):
            rows = np.sort(rng.choice(pilot.n_samples, n_rows, replace=False))
            try:
                observed, null = _time(pilot.ensembles(rows, rng), method, rng)
            except ValueError:  # a partition may label none of them; the scan has all
                return None
            # Two halves cost about as much as the whole: each time is that of two ensembles.
            times.append(
                (1 + request.n_resamples) / 2 * observed
                + request.n_null * (1 + request.null_resamples) / 2 * null
            )
    small, large = times
    growing = (large - small) / (1.0 - _LEAST_RATIO**-exponent)
    growing = min(max(growing, _LEAST_GROWTH * large), large)
    growth = (pilot.n_samples / size) ** exponent
    return pilot.n_repetitions * (large - growing + growing * growth)


def _time(
    ensembles: tuple[Iterable[Judged], Iterable[Judged]], method: Any, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the seconds of the curves of an observed and of a null ensemble, with two halves."""
    observed, null = ensembles
    start = perf_counter()
    Curves(observed, Clusterer(method, rng, _ignore), 1, rng)
    middle = perf_counter()
    Curves(null, Clusterer(method, rng, _ignore), 1, rng, is_null=True)
    return middle - start, perf_counter() - middle


def _ignore(_: int) -> None:
    """Take the place of a report of progress."""
