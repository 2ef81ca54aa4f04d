"""`repeatability`: how often other partitions would put a sample into its cluster again."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._input.checks import random_generator
from partita._input.label_vector import code_labels
from partita.alignment import align_labels
from partita.config import report_progress
from partita.ensemble import as_ensemble
from partita.registry import prepare

__all__ = ["repeatability"]


def repeatability(
    partitions: Any,
    labels: Any,
    *,
    method: Any = None,
    n_resamples: int = 10,
    random_state: Any = 0,
) -> NDArray[np.float64]:
    """Return how often a consensus of half of the partitions keeps each sample in its cluster.

    The partitions are divided into two random halves again and again. Every half has a consensus,
    whose clusters are matched to those of `labels`. The value of a sample is the share of the
    halves that put it into its own cluster. It estimates the probability that the consensus of
    fresh partitions does so, and it does not depend on how many clusters the partitions have. A
    sample below 0.5 changes its cluster more often than not.

    Parameters
    ----------
    partitions : table of labels, data frame, list of label vectors, Ensemble or LabelStore
        The base partitions, at least four.
    labels : array-like of shape (n_samples,), or a fitted consensus method
        The consensus. -1, None and NaN are samples without a label.
    method : str, class or estimator, optional
        Method that made the consensus; its number of clusters is set to that of `labels`. By
        default the fitted method that was passed as `labels`, or else `CCGP()`.
    n_resamples : int, default=10
        Number of pairs of halves.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the halves and of a method that has none.

    Returns
    -------
    array of shape (n_samples,)
        Between 0 and 1; NaN for a sample without a label. Cost: 2 n_resamples fits.

    Examples
    --------
    >>> from partita.diagnostics import repeatability
    >>> from partita.datasets import make_partitions
    >>> partitions, y = make_partitions(60, 40, 3, noise=0.1)
    >>> float(repeatability(partitions, y).min())
    1.0
    """
    ensemble = as_ensemble(partitions)
    if ensemble.is_compressed:
        raise ValueError("Expected one row per sample, got a compressed ensemble.")
    if ensemble.n_partitions < 4:
        raise ValueError(f"Expected at least 4 partitions, got {ensemble.n_partitions}.")
    if n_resamples < 1:
        raise ValueError(f"n_resamples must be at least 1, got {n_resamples!r}.")
    codes, names = code_labels(labels, ensemble.n_samples, sample_ids=ensemble.sample_ids)
    if method is None:
        method = labels if hasattr(labels, "fit_predict") else "ccgp"
    rng = random_generator(random_state)
    middle = ensemble.n_partitions // 2
    kept, judged = np.zeros(len(codes)), np.zeros(len(codes))
    for done in range(n_resamples):
        report_progress("repeatability", done, n_resamples)
        order = rng.permutation(ensemble.n_partitions)
        for columns in (order[:middle], order[middle:]):
            half = ensemble.subset(partitions=columns)
            fitted = prepare(method, len(names), int(rng.integers(2**31)))
            other = np.asarray(fitted.fit_predict(half))
            both = (codes >= 0) & (other >= 0)
            kept += both & (align_labels(codes, other).labels == codes)
            judged += both
    report_progress("repeatability", n_resamples, n_resamples)
    return np.divide(kept, judged, out=np.full(len(codes), np.nan), where=judged > 0)
