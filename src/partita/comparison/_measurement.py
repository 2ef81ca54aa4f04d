"""Fit one method and record its time, memory, warnings and failure."""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Real
from time import perf_counter
from typing import Any

import numpy as np
from scipy.sparse.linalg import ArpackError

from partita._memory import PeakMemory
from partita.config import config_context
from partita.consensus import BaseConsensus, Size
from partita.ensemble import Ensemble

__all__ = ["measure_fit", "warm_up"]

# Errors that end one method without ending the comparison: an ensemble or parameters it does not
# accept, too little memory, and numerical breakdown. Any other error is a bug and is raised.
_FAILURES = (ValueError, MemoryError, np.linalg.LinAlgError, ArpackError)


def warm_up(estimator: BaseConsensus, ensemble: Ensemble) -> None:
    """Compile what the fit will use, by a fit to a tiny ensemble.

    Its codes have the type of those in `ensemble`, and labels are missing if they are there.
    """
    rng = np.random.default_rng(0)
    table = np.arange(48)[:, None] // 16 * np.ones(8, np.int64)
    noisy = rng.random(table.shape) < 0.2
    table[noisy] = rng.integers(0, 3, np.count_nonzero(noisy))
    if ensemble.n_missing:
        table[::5, 0] = -1
    tiny = Ensemble.from_partitions(table)
    codes = tiny.codes.astype(ensemble.codes.dtype)
    codes[~tiny.observed] = ensemble.missing_code
    tiny = replace(tiny, codes=codes, layout=replace(tiny.layout, dtype=codes.dtype))
    # parameters that are arrays have the length of the true ensemble
    settings = {
        key: value
        for key, value in estimator.get_params(deep=False).items()
        if isinstance(value, str | Real)
    }
    trial = type(estimator)(**settings)
    if "n_clusters" in settings:
        trial.set_params(n_clusters=3)
    with warnings.catch_warnings(), config_context(progress=None, memory_budget=None):
        warnings.simplefilter("ignore")
        try:
            trial.fit(tiny)
        except _FAILURES:
            return  # the measured fit fails for the same reason and records it


def measure_fit(estimator: BaseConsensus, ensemble: Ensemble) -> dict[str, Any]:
    """Fit the estimator and return its part of a record of `Comparison`."""
    record: dict[str, Any] = dict.fromkeys(
        ("n_clusters", "seconds", "peak_bytes", "bytes_needed", "warnings", "failure")
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            estimator._validate_params()
            size = Size.of(ensemble, estimator.get_params(deep=False).get("n_clusters"))
            record["bytes_needed"] = estimator.bytes_needed(size)
            with PeakMemory() as memory:
                start = perf_counter()
                estimator.fit(ensemble)
                seconds = perf_counter() - start
        except _FAILURES as error:
            record["failure"] = f"{type(error).__name__}: {error}"
        else:
            record["n_clusters"] = estimator.n_clusters_
            record["seconds"], record["peak_bytes"] = seconds, memory.gained
    messages = dict.fromkeys(f"{w.category.__name__}: {w.message}" for w in caught)
    record["warnings"] = "\n".join(messages) or None
    return record
