"""`scan_k` and `scan_k_features`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student_t

from partita._input.checks import random_generator
from partita.config import report_progress
from partita.ensemble import Ensemble, as_ensemble
from partita.generators import RandomRows, generate
from partita.registry import prepare
from partita.select_k._curves import CRITERIA, Curves, EnsembleForK, shape_curves
from partita.select_k._null import permuted, uniform_reference
from partita.select_k._result import KScan

__all__ = ["scan_k", "scan_k_features"]

_FALSE_ALARM = 0.01  # share of scans of noise that may suggest a K


def scan_k(
    partitions: Any,
    k_range: Iterable[int] = range(2, 11),
    *,
    method: Any = None,
    n_resamples: int = 10,
    n_null: int = 10,
    random_state: Any = None,
) -> KScan:
    """Scan the number of clusters of base partitions.

    The null ensembles have the same partitions with their labels in random order, each partition
    in its own: cluster sizes stay, the agreement is that of chance.

    Parameters
    ----------
    partitions : table of labels, data frame, list of label vectors, Ensemble or LabelStore
        The base partitions, at least four.
    k_range : iterable of int, default=range(2, 11)
        Numbers of clusters to try, each at least 2 and less than the number of samples.
    method : str, class or estimator, optional
        Consensus method: its key, class or estimator; `n_clusters` is set. `LWGP()` by default.
    n_resamples : int, default=10
        Number of pairs of disjoint halves of the partitions, at least 2.
    n_null : int, default=10
        Number of null ensembles, at least 2.
    random_state : int, Generator, RandomState or None, default=None
        Seed of halves, null ensembles, sampled pairs and of a method that has none.

    Returns
    -------
    KScan
        Cost: (1 + 2 n_resamples + 5 n_null) fits per K.

    Examples
    --------
    >>> from partita import scan_k
    >>> from partita.datasets import make_partitions
    >>> partitions, y = make_partitions(90, 20, 3, noise=0.2)
    >>> scan_k(partitions, range(2, 6), n_resamples=5, n_null=5, random_state=0).best_k
    3
    """
    ensemble = as_ensemble(partitions)
    if ensemble.is_compressed:
        raise ValueError("Expected one row per sample, got a compressed ensemble.")
    rng = random_generator(random_state)

    def null(child: np.random.Generator) -> EnsembleForK:
        null_ensemble = permuted(ensemble, child)
        return lambda k: null_ensemble

    return _scan(lambda k: ensemble, null, k_range, method, n_resamples, n_null, rng)


def scan_k_features(
    X: Any,
    k_range: Iterable[int] = range(2, 11),
    *,
    generator: Any = None,
    method: Any = None,
    n_resamples: int = 10,
    n_null: int = 10,
    random_state: Any = None,
) -> KScan:
    """Scan the number of clusters of features.

    For every K the generator makes partitions into K clusters. k-means cuts data without clusters
    into the same pieces every time, so that partitions of noise agree with each other and shuffled
    labels are too weak a null. Here the null ensembles come from the same generator on reference
    data, uniform in the box of X's principal axes.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Features, all finite.
    k_range : iterable of int, default=range(2, 11)
        Numbers of clusters to try, each at least 2 and less than the number of samples.
    generator : str, class or generator, optional
        What makes the partitions: the key, class or object of a generator with the parameters
        k_min, k_max and random_state. `RandomRows(n_partitions=40, ratio=0.8)` by default: k-means
        on random samples of the rows.
    method : str, class or estimator, optional
        Consensus method: its key, class or estimator; `n_clusters` is set. `LWGP()` by default.
    n_resamples : int, default=10
        Number of pairs of disjoint halves of the partitions, at least 2.
    n_null : int, default=10
        Number of null ensembles, at least 2.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the generator, of halves, reference data and sampled pairs, and of a method that
        has none.

    Returns
    -------
    KScan
        Cost: (1 + 2 n_resamples + 5 n_null) fits per K, and 1 + n_null calls of the generator.

    References
    ----------
    R. Tibshirani, G. Walther, T. Hastie. Estimating the number of clusters in a data set via the
    gap statistic. JRSS B 63(2), 2001. https://doi.org/10.1111/1467-9868.00293
    """
    X = np.asarray(X, np.float64)
    if X.ndim != 2 or not np.all(np.isfinite(X)):
        raise ValueError(f"X must be a finite matrix of features, got shape {X.shape}.")
    rng = random_generator(random_state)
    if generator is None:
        generator = RandomRows(n_partitions=40, ratio=0.8)

    def generated(data: NDArray[np.float64], child: np.random.Generator) -> EnsembleForK:
        seed = int(child.integers(2**31))

        @lru_cache  # curves with and without a null ask for the same ensembles
        def ensemble_for_k(k: int) -> Ensemble:
            return generate(data, generator, k_min=k, k_max=k, random_state=seed)

        return ensemble_for_k

    def null(child: np.random.Generator) -> EnsembleForK:
        return generated(uniform_reference(X, child), child)

    return _scan(generated(X, rng), null, k_range, method, n_resamples, n_null, rng)


def _scan(
    ensemble_for_k: EnsembleForK,
    null: Callable[[np.random.Generator], EnsembleForK],
    k_range: Iterable[int],
    method: Any,
    n_resamples: int,
    n_null: int,
    rng: np.random.Generator,
) -> KScan:
    ks = sorted({int(k) for k in k_range})
    ensemble = ensemble_for_k(max(2, ks[0]) if ks else 2)
    if not ks or ks[0] < 2 or ks[-1] >= ensemble.n_samples:
        raise ValueError(
            f"k_range must hold numbers of clusters from 2 to {ensemble.n_samples - 1} (fewer than "
            f"the samples), got {ks}."
        )
    if n_resamples < 2 or n_null < 2 or ensemble.n_partitions < 4:
        raise ValueError(
            f"Expected at least 2 resamples, 2 null ensembles and 4 partitions, got {n_resamples}, "
            f"{n_null} and {ensemble.n_partitions}."
        )
    method = prepare("lwgp" if method is None else method)
    if "n_clusters" not in method.get_params(deep=False):
        raise ValueError(f"method must have the parameter n_clusters, got {method!r}.")
    n_steps = 1 + n_null
    report_progress("scan", 0, n_steps)
    observed = Curves(ensemble_for_k, ks, method, n_resamples, rng)
    report_progress("scan", 1, n_steps)
    nulls = []
    for j, child in enumerate(rng.spawn(n_null)):
        nulls.append(Curves(null(child), ks, method, 2, child))
        report_progress("scan", 2 + j, n_steps)
    mean = {name: np.mean([c.values[name] for c in nulls], axis=0) for name in CRITERIA}
    std = {name: np.std([c.values[name] for c in nulls], axis=0, ddof=1) for name in CRITERIA}
    gain = observed.values["separation"] - mean["separation"]
    error = np.sqrt(observed.error**2 + std["separation"] ** 2 * (1 + 1 / n_null))
    return KScan(
        k=np.asarray(ks),
        best_k=_suggest(ks, gain, error, std["separation"], n_null),
        curves=observed.values | shape_curves(ensemble_for_k, ks, observed.cdf),
        null_mean=mean,
        null_std=std,
        gain=gain,
        standard_error=error,
        pac_interval=observed.pac_interval,
        cdf=observed.cdf,
        labels=observed.labels,
    )


def _suggest(
    ks: Sequence[int],
    gain: NDArray[np.float64],
    error: NDArray[np.float64],
    null_std: NDArray[np.float64],
    n_null: int,
) -> int | None:
    """Return the smallest K within one standard error of the best gain, or None.

    None means that another null ensemble would exceed the best gain in more than one scan of a
    hundred (Student's t, with Bonferroni's correction for the number of K). The spread of few null
    ensembles at one K is uncertain, so it is not taken to be less than the spread over all K.
    """
    best = int(np.argmax(gain))
    spread = max(float(null_std[best]), float(np.sqrt(np.mean(null_std**2))))
    freedom = (n_null - 1) * len(ks)
    bound = student_t.ppf(1.0 - _FALSE_ALARM / len(ks), freedom) * np.sqrt(1.0 + 1.0 / n_null)
    if gain[best] <= bound * spread:
        return None
    within = np.flatnonzero(gain >= gain[best] - error[best])
    return int(ks[within[0]])
