"""`scan_k` and `scan_k_features`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._input.checks import random_generator
from partita.ensemble import Ensemble, as_ensemble
from partita.generators import (
    LandmarkSpectral,
    RandomMetrics,
    RandomRows,
    generate,
    make_generator,
)
from partita.generators.generation import warn_if_generated
from partita.select_k._curves import CRITERIA, Curves, Judged
from partita.select_k._decision import Decision
from partita.select_k._evidence import Evidence
from partita.select_k._null import copies, permuted, uniform_reference
from partita.select_k._request import Request, checked_range
from partita.select_k._result import CRITERION, KScan
from partita.select_k._steps import NULL_RESAMPLES, Pilot, Steps
from partita.structure import hidden_groups

__all__ = ["scan_k", "scan_k_features"]

_EVIDENCE = ("tightness", "isolation")  # curves of features that have a null
_GRAPH_CUTS = (LandmarkSpectral, RandomMetrics)  # generators whose clusters have any shape


def scan_k(
    partitions: Any,
    k_range: Iterable[int] = range(2, 11),
    *,
    method: Any = None,
    n_resamples: int = 10,
    n_null: int = 10,
    early_stop: bool = True,
    random_state: Any = None,
) -> KScan:
    """Scan the number of clusters of base partitions.

    The null ensembles have the same partitions with their labels in random order, each partition
    in its own: cluster sizes stay, the agreement is that of chance. Up to a quarter of the
    partitions that are nearly copies of each other are shuffled alike, because copies of noise are
    no structure; if more of them agree, this is common structure. This null is too weak for
    partitions that one algorithm made from features: it cuts data without clusters into similar
    pieces every time. Use `scan_k_features` for these. A warning says so if the names of the
    partitions show that `partita.generate` made them.

    Parameters
    ----------
    partitions : table of labels, data frame, list of label vectors, Ensemble or LabelStore
        The base partitions, at least four.
    k_range : iterable of int, default=range(2, 11)
        Numbers of clusters to try, each at least 2 and less than the number of samples.
    method : str, class or estimator, optional
        Consensus method: its key, class or estimator; `n_clusters` is set. `CCGP()` by default.
    n_resamples : int, default=10
        Number of pairs of disjoint halves of the partitions, at least 2.
    n_null : int, default=10
        Number of null ensembles, at least 2.
    early_stop : bool, default=True
        Whether to compute fewer null ensembles (`KScan.n_null`, at least 4) if more would not
        change the answer. Noise is not taken for structure more often than without. False computes
        all, for smoother curves of the null.
    random_state : int, Generator, RandomState or None, default=None
        Seed of halves, null ensembles, sampled pairs and of a method that has none.

    Returns
    -------
    KScan
        Cost: 1 + 2 n_resamples + 5 n_null reductions, and as many trees or embeddings for all K
        together; methods without these have as many fits per K.

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
    ks = checked_range(k_range, ensemble.n_samples)
    request = Request.checked(method, n_resamples, n_null, early_stop)
    _check_n_partitions(ensemble)
    warn_if_generated(ensemble, "this scan may find clusters where there are none")
    rng = random_generator(random_state)
    groups = copies(ensemble, rng)
    scan = _scan(
        [(ensemble, ks, None)],
        lambda child: [(permuted(ensemble, child, groups), ks, None)],
        ks,
        request,
        rng,
        Pilot(
            ensemble.n_samples,
            lambda rows, child: (
                [(part := ensemble.subset(samples=rows), ks, None)],
                [(permuted(part, child), ks, None)],
            ),
        ),
    )
    if scan.best_k is None:
        return scan
    return replace(scan, hidden_groups=hidden_groups(ensemble, scan.labels[scan.best_k]))


def scan_k_features(
    X: Any,
    k_range: Iterable[int] = range(2, 11),
    *,
    generator: Any = None,
    method: Any = None,
    n_resamples: int = 10,
    n_null: int = 10,
    early_stop: bool = True,
    random_state: Any = None,
) -> KScan:
    """Scan the number of clusters of features.

    For every K the generator makes partitions into K clusters. k-means cuts data without clusters
    into the same pieces every time, so that partitions of noise agree with each other and shuffled
    labels are too weak a null. Here the null ensembles come from the same generator on reference
    data, uniform in the box of X's principal axes. A K beats the null if its clusters are tighter
    (less variance within clusters) and the partitions agree better with them. If the generator cuts
    a graph (`LandmarkSpectral`, `RandomMetrics`), clusters of any shape count: fewer of the nearest
    neighbors must be in another cluster, whatever the variance.

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
        Consensus method: its key, class or estimator; `n_clusters` is set. `CCGP()` by default.
    n_resamples : int, default=10
        Number of pairs of disjoint halves of the partitions, at least 2.
    n_null : int, default=10
        Number of null ensembles, at least 2.
    early_stop : bool, default=True
        Whether to compute fewer null ensembles (`KScan.n_null`, at least 4) if more would not
        change the answer. Noise is not taken for structure more often than without. False computes
        all, for smoother curves of the null.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the generator, of halves, reference data and sampled pairs, and of a method that
        has none.

    Returns
    -------
    KScan
        Cost: (1 + 2 n_resamples + 5 n_null) fits and 1 + n_null calls of the generator per K.

    References
    ----------
    R. Tibshirani, G. Walther, T. Hastie. Estimating the number of clusters in a data set via the
    gap statistic. JRSS B 63(2), 2001. https://doi.org/10.1111/1467-9868.00293
    """
    X = np.asarray(X, np.float64)
    if X.ndim != 2 or not np.all(np.isfinite(X)):
        raise ValueError(f"X must be a finite matrix of features, got shape {X.shape}.")
    ks = checked_range(k_range, len(X))
    request = Request.checked(method, n_resamples, n_null, early_stop)
    if generator is None:
        generator = RandomRows(n_partitions=40, ratio=0.8)

    is_cut = isinstance(make_generator(generator), _GRAPH_CUTS)
    evidence_of = Evidence.isolation if is_cut else Evidence.tightness

    def ensembles(
        data: NDArray[np.float64], seed: int, numbers: Sequence[int] = ks
    ) -> Iterator[Judged]:
        evidence = evidence_of(data)
        for k in numbers:
            ensemble = generate(data, generator, k_min=k, k_max=k, random_state=seed)
            _check_n_partitions(ensemble)
            yield ensemble, [k], evidence

    def null(child: np.random.Generator) -> Iterator[Judged]:
        return ensembles(uniform_reference(X, child), int(child.integers(2**31)))

    def pilot(
        rows: NDArray[np.int64], child: np.random.Generator
    ) -> tuple[Iterator[Judged], Iterator[Judged]]:
        middle, reference = [ks[len(ks) // 2]], uniform_reference(X[rows], child)
        return ensembles(X[rows], 0, middle), ensembles(reference, 0, middle)

    rng = random_generator(random_state)
    observed = ensembles(X, int(rng.integers(2**31)))
    return _scan(observed, null, ks, request, rng, Pilot(len(X), pilot, len(ks)))


def _check_n_partitions(ensemble: Ensemble) -> None:
    if ensemble.n_partitions < 4:
        raise ValueError(f"Expected at least 4 partitions, got {ensemble.n_partitions}.")


def _scan(
    judged: Iterable[Judged],
    null: Callable[[np.random.Generator], Iterable[Judged]],
    ks: Sequence[int],
    request: Request,
    rng: np.random.Generator,
    pilot: Pilot,
) -> KScan:
    steps = Steps(ks, request.n_resamples, request.n_null, request.method, pilot)
    observed = Curves(judged, request.method, request.n_resamples, rng, steps.advance)
    nulls: list[Curves] = []
    for j, child in enumerate(rng.spawn(request.n_null)):
        steps.message = f"null ensemble {j + 1} of {request.n_null}" + (
            " at most" if request.early_stop else ""
        )
        nulls.append(
            Curves(null(child), request.method, NULL_RESAMPLES, child, steps.advance, is_null=True)
        )
        evidence = _evidence(observed, nulls)
        decision = Decision(
            ks,
            *_halves_of(observed, CRITERION),
            np.asarray([curves.values[CRITERION] for curves in nulls]),
            request.n_null,
            evidence,
            None if evidence is not None else _halves_of(observed, "silhouette"),
        )
        if request.early_stop and decision.is_settled:
            break
    steps.finish()
    names = [name for name in (*CRITERIA, *_EVIDENCE) if name in observed.values]
    values = {name: np.asarray([c.values[name] for c in nulls]) for name in names}
    return KScan(
        k=np.asarray(ks),
        best_k=decision.best_k,
        curves=observed.values,
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
    for name in _EVIDENCE:
        if name in observed.values:
            return observed.values[name], np.asarray([curves.values[name] for curves in nulls])
    return None
