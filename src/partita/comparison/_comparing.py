"""`compare`."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from partita._input.checks import check_n_clusters
from partita._input.containers import check_order
from partita.comparison._measurement import measure_fit, warm_up
from partita.comparison._partition_rows import partition_records
from partita.comparison._result import MEASURES, Comparison
from partita.config import report_progress
from partita.consensus import BaseConsensus
from partita.ensemble import Ensemble, as_ensemble
from partita.metrics import adjusted_rand, anmi, evaluate
from partita.registry import all_methods, prepare
from partita.select_k import needs_number, scan_k, suggested_number

__all__ = ["compare"]


def compare(
    partitions: Any,
    methods: Any = "all",
    n_clusters: int | None = None,
    *,
    y: Any = None,
    include_partitions: bool = False,
    noise: str = "missing",
    random_state: int | None = 0,
) -> Comparison:
    """Run consensus methods on one ensemble and put their results side by side.

    The ensemble is read and reduced to distinct rows once. A method that exceeds the memory budget,
    is not defined for missing labels or breaks down numerically does not stop the others: its
    record holds the reason.

    Parameters
    ----------
    partitions : table of labels, data frame, list of label vectors, Ensemble or LabelStore
        The base partitions.
    methods : str, class, estimator or list of these, default="all"
        Keys, classes or estimators of consensus methods. An estimator is cloned and keeps its
        parameters. "all" runs every method of the library.
    n_clusters : int, optional
        Number of clusters for every method, except for an estimator whose `n_clusters` is not that
        parameter's default. By default the suggestion of `partita.scan_k` from 2 to 10,
        or from 2 to 30 if that is 10.
    y : array-like of shape (n_samples,), optional
        True classes. By default the results get no scores.
    include_partitions : bool, default=False
        Whether to add two records about the base partitions after those of the methods:
        "partitions (mean)" and "partitions (best)", the mean and the largest value of every
        measure. The best partition is chosen for each measure on its own, and with `y` by looking
        at the true classes: no method can choose it that way. Cost O(n m²) for m partitions.
    noise : {"missing", "cluster", "singletons"}, default="missing"
        What a label of -1 means, as in `fit`.
    random_state : int or None, default=0
        Seed of every method that uses random numbers and has no seed of its own.

    Returns
    -------
    Comparison

    Raises
    ------
    NoStructureError
        If `n_clusters` is None and no number of clusters does better than the null.

    Notes
    -----
    Methods run one after another and each may use all threads. Each is first fitted to a tiny
    ensemble, so that its time does not include compilation.

    Examples
    --------
    >>> import partita
    >>> partitions = [[0, 0, 1, 1], [5, 5, 7, 7], ["a", "b", "b", "b"]]
    >>> comparison = partita.compare(partitions, ["eac", partita.LWGP], n_clusters=2)
    >>> comparison.labels["eac"]
    array([0, 0, 1, 1])
    >>> [record["agreement"] for record in comparison]
    [1.0, 1.0]
    """
    ensemble = as_ensemble(partitions, noise)
    if n_clusters is not None:
        check_n_clusters(n_clusters, ensemble.n_samples)
    rows = ensemble.compress()
    is_labeled = rows.expand(np.ones(rows.n_rows, bool), False)  # samples with any label
    if y is not None:
        check_order(y, ensemble.sample_ids, "y")
        y = np.asarray(y)
        evaluate(y, np.zeros(ensemble.n_samples))  # raises for a wrong y before the work
    estimators = _named_estimators(methods, n_clusters, random_state)
    if n_clusters is None and any(map(needs_number, estimators.values())):
        samples = _row_per_sample(ensemble)
        scan = scan_k(samples, random_state=random_state)
        n_clusters = suggested_number(scan, "labels in random order")
        estimators = _named_estimators(methods, n_clusters, random_state)

    records: list[dict[str, Any]] = []
    results: dict[str, NDArray[np.int64]] = {}
    for n_done, (name, estimator) in enumerate(estimators.items()):
        report_progress("compare", n_done, len(estimators), name)
        warm_up(estimator, rows)
        records.append(
            {"method": name, "name": estimator.info.name, **measure_fit(estimator, rows)}
        )
        if records[-1]["failure"] is None:
            results[name] = estimator.labels_
    report_progress("compare", len(estimators), len(estimators))

    agreement = _agreement([labels[is_labeled] for labels in results.values()])
    means = dict(zip(results, _mean_agreement_with_others(agreement), strict=True))
    samples = _row_per_sample(ensemble)
    for record in records:
        labels = results.get(record["method"])
        record["anmi"] = None if labels is None else anmi(samples, labels)
        record["agreement"] = means.get(record["method"])
        if y is not None:
            scores = {} if labels is None else evaluate(y[is_labeled], labels[is_labeled])
            record |= {measure: scores.get(measure) for measure in MEASURES}
        record |= {text: record.pop(text) for text in ("warnings", "failure")}  # to the end
    if include_partitions:
        records += partition_records(samples, results.values(), y)
    return Comparison(records, results, agreement, _frame_library(partitions))


def _named_estimators(
    methods: Any, n_clusters: int | None, random_state: int | None
) -> dict[str, BaseConsensus]:
    """Return estimators ready to fit, each by a name that no other has."""
    if isinstance(methods, str) and methods == "all":
        methods = all_methods()
    is_single = isinstance(methods, str | type | BaseConsensus)
    chosen = [methods] if is_single or not isinstance(methods, Iterable) else list(methods)
    if not chosen:
        raise ValueError('methods is empty; pass "all", or keys, classes or estimators.')
    named: dict[str, BaseConsensus] = {}
    for method in chosen:
        estimator = prepare(method)
        if not isinstance(estimator, BaseConsensus):
            raise TypeError(f"methods must hold consensus methods of partita, got {method!r}.")
        name = _name(estimator)
        if name in named:
            raise ValueError(f"methods has {name} twice; the results would be the same.")
        named[name] = prepare(estimator, n_clusters, random_state, keep_n_clusters=True)
    return named


def _name(estimator: BaseConsensus) -> str:
    """Return the key and the parameters that differ from the defaults: `eac(linkage='single')`."""
    defaults = type(estimator)().get_params(deep=False)
    settings = ", ".join(
        f"{key}={reprlib.repr(value)}"
        for key, value in estimator.get_params(deep=False).items()
        if repr(value) != repr(defaults[key])
    )
    return f"{estimator.info.key}({settings})" if settings else estimator.info.key


def _agreement(results: list[NDArray[np.int64]]) -> NDArray[np.float64]:
    """Return the ARI between all pairs of results."""
    agreement = np.eye(len(results))
    for i, first in enumerate(results):
        for j in range(i):
            agreement[i, j] = agreement[j, i] = adjusted_rand(first, results[j])
    return agreement


def _mean_agreement_with_others(agreement: NDArray[np.float64]) -> list[float | None]:
    n_others = len(agreement) - 1
    if n_others < 1:
        return [None] * len(agreement)
    return [float((row.sum() - 1) / n_others) for row in agreement]


def _row_per_sample(ensemble: Ensemble) -> Ensemble:
    """Undo the compression of an ensemble; equal samples share their row's weight equally."""
    if ensemble.inverse is None:
        return ensemble
    labeled = ensemble.inverse[ensemble.inverse >= 0]
    shares = ensemble.weights / np.bincount(labeled, minlength=ensemble.n_rows)
    return replace(
        ensemble,
        codes=ensemble.expand(ensemble.codes, ensemble.missing_code),
        weights=ensemble.expand(shares, 1.0),
        inverse=None,
    )


def _frame_library(partitions: Any) -> str | None:
    """Return the library of the data frame that the partitions came in, None if in none."""
    frame = nw.from_native(partitions, pass_through=True, eager_only=True)
    return frame.implementation.value if isinstance(frame, nw.DataFrame) else None
