"""Predict the time of a large fit from small fits."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.config import Progress, config_context
from partita.consensus import BaseConsensus
from partita.ensemble import Ensemble
from partita.exceptions import PartitaWarning
from partita.io.store import LabelStore
from partita.planning._workload import Workload
from partita.registry import growth_exponent, prepare

__all__ = ["Timing", "time_from_store", "time_in_memory"]

_STORE_ROWS = 1 << 17  # rows of the small store: more than the sample for the initialization
_STORE_ITERATIONS = 8
_WARM_UP_ROWS = 2_000
_FIRST_ROWS = 256  # rows of the first small fit in memory, doubled until a fit is long enough
_LONG_ENOUGH = 0.5  # seconds


@dataclass(frozen=True)
class Timing:
    """Predicted time of a fit.

    Attributes
    ----------
    seconds : float
        Time of the whole fit.
    seconds_per_iteration : float or None
        Time of one pass over the rows, if the method iterates over a store.
    measured : dict
        The small fit on which the prediction is based.
    """

    seconds: float
    seconds_per_iteration: float | None
    measured: dict[str, float]


def time_from_store(method: type[BaseConsensus], workload: Workload, max_iter: int) -> Timing:
    """Fit a small store; the time of a pass grows with the number of rows."""
    n = min(workload.n_samples, _STORE_ROWS)
    with tempfile.TemporaryDirectory(prefix="partita-") as folder:
        _fit(method, workload, _store(workload, _WARM_UP_ROWS, Path(folder, "warm-up")))
        store = _store(workload, n, Path(folder, "small"))
        start = perf_counter()
        with _measure_passes() as passes:
            model = _fit(method, workload, store)
        total = perf_counter() - start
    fixed = max(0.0, total - sum(passes))  # initialization, eigenvectors: independent of the rows
    # The passes of the iterations come last, except for the one that returns the labels.
    iterates = hasattr(model, "max_iter")
    n_iterations = min(len(passes) - 1, model.n_iter_ + model.converged_) if iterates else 0
    iterations = passes[-n_iterations - 1 : -1]
    other_per_row = (sum(passes) - sum(iterations)) / n
    per_row = float(np.mean(iterations if iterates else passes)) / n
    per_sample = other_per_row + (max_iter * per_row if iterates else 0.0)
    return Timing(
        fixed + workload.n_samples * per_sample,
        workload.n_samples * per_row if iterates else None,
        {"n_samples": n, "seconds": total, "seconds_per_row": per_row},
    )


def time_in_memory(method: type[BaseConsensus], workload: Workload) -> Timing:
    """Fit larger and larger ensembles until a fit is long enough, then extrapolate."""
    n_samples = min(workload.n_distinct, max(_FIRST_ROWS, 2 * workload.n_clusters))
    _fit(method, workload, workload.synthetic_partitions(n_samples))  # compiles the kernels
    n_rows, seconds, smaller = 0, 0.0, (0, 0.0)
    while True:
        partitions = workload.synthetic_partitions(n_samples)
        n_distinct = Ensemble.from_partitions(partitions).compress().n_rows
        if n_distinct < 1.2 * n_rows:  # more samples do not give more distinct rows
            break
        smaller = n_rows, seconds
        n_rows = n_distinct
        seconds = min(_seconds_of_fit(method, workload, partitions) for _ in range(2))
        if seconds >= _LONG_ENOUGH or n_samples == workload.n_distinct:
            break
        n_samples = min(workload.n_distinct, 2 * n_samples)
    exponent = growth_exponent(method.info.time)
    predicted = _extrapolate(*smaller, n_rows, seconds, workload.n_distinct, exponent)
    return Timing(predicted, None, {"n_rows": n_rows, "seconds": seconds, "exponent": exponent})


def _extrapolate(
    small_rows: int,
    small_seconds: float,
    large_rows: int,
    large_seconds: float,
    n_rows: int,
    exponent: int,
) -> float:
    """Return the seconds for `n_rows` rows: a constant part and one that grows as a power.

    Two fits determine both parts. At least half of the larger fit counts as growing, because
    measured times are noisy.
    """
    growing = (large_seconds - small_seconds) / (1.0 - (small_rows / large_rows) ** exponent)
    growing = min(max(growing, large_seconds / 2), large_seconds)
    return large_seconds - growing + growing * (n_rows / large_rows) ** exponent


@contextmanager
def _measure_passes() -> Iterator[list[float]]:
    """Record the seconds of each pass over the rows of a store."""
    start, seconds = [0.0], []

    def record(step: Progress) -> None:
        if step.task == "rows" and step.done == 0:
            start[0] = perf_counter()
        elif step.task == "rows" and step.done == step.total:
            seconds.append(perf_counter() - start[0])

    with config_context(progress=record):
        yield seconds


def _store(workload: Workload, n_samples: int, folder: Path) -> LabelStore:
    return LabelStore.from_partitions(workload.synthetic_partitions(n_samples), folder)


def _seconds_of_fit(
    method: type[BaseConsensus], workload: Workload, partitions: NDArray[np.int64]
) -> float:
    start = perf_counter()
    _fit(method, workload, partitions)
    return perf_counter() - start


def _fit(method: type[BaseConsensus], workload: Workload, partitions: Any) -> BaseConsensus:
    model = prepare(method, workload.n_clusters, workload.random_state)
    if isinstance(partitions, LabelStore):
        settings = {"n_init": 1, "max_iter": _STORE_ITERATIONS}
        model.set_params(**{k: v for k, v in settings.items() if hasattr(model, k)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PartitaWarning)
        fitted: BaseConsensus = model.fit(partitions)
    return fitted
