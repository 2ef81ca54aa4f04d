"""Many methods on one ensemble, side by side: how they agree, what they cost, and what failed."""

from __future__ import annotations

import reprlib
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from numbers import Real
from time import perf_counter
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackError

from partita._input.checks import check_n_clusters
from partita._memory import PeakMemory
from partita.config import config_context, report_progress
from partita.consensus import BaseConsensus, Size
from partita.ensemble import Ensemble, as_ensemble
from partita.metrics import adjusted_rand, anmi, evaluate
from partita.registry import all_methods, prepare

__all__ = ["Comparison", "compare"]

_FRAMES = ("pandas", "polars", "pyarrow")  # asked for in this order where none was handed in
_MEASURES = ("ACC", "NMI", "ARI")
# What may end one method without ending the comparison: an ensemble or parameters it does not
# take, memory, and numerics that break down. Anything else is a fault and is raised.
_REASONS = (ValueError, MemoryError, np.linalg.LinAlgError, ArpackError)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """What `compare` found. Iterating gives the records; `to_frame` makes a table of them.

    Attributes
    ----------
    records : list of dict
        One per method, in the order asked for, all with the same keys:

        - ``method``: its key, with the parameters that are not the default, ``name``: in full;
        - ``n_clusters``: clusters found;
        - ``seconds``: of the fit on distinct rows, compilation not counted;
        - ``peak_bytes``: resident memory gained during the fit, measured, to a few megabytes;
        - ``bytes_needed``: dense arrays by the method's own formula, before it starts;
        - ``anmi``: mean NMI with the partitions of the ensemble;
        - ``agreement``: mean ARI with the results of the other methods;
        - ``ACC``, ``NMI``, ``ARI``: against `y`, if that was given;
        - ``warnings``, ``failure``: in words.

        What a failed method or a single one cannot have is None.
    labels : dict of str to array of shape (n_samples,)
        The result of every method that finished.
    agreement : array of shape (n_finished, n_finished)
        ARI between the results, in the order of `labels`.
    """

    records: list[dict[str, Any]]
    labels: dict[str, NDArray[np.int64]]
    agreement: NDArray[np.float64]
    frame_library: str | None = None

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.records)

    def to_frame(self) -> Any:
        """The records as a data frame of the library the labels came in.

        For labels that came in no data frame it is pandas, polars or pyarrow, the first that is
        installed; the list of records where none is.
        """
        installed = (library for library in _FRAMES if find_spec(library) is not None)
        library: Any = self.frame_library or next(installed, None)
        if library is None:
            return self.records
        columns = {key: [record[key] for record in self.records] for key in self.records[0]}
        return nw.from_dict(columns, backend=library).to_native()

    def __repr__(self) -> str:
        measured = [m for m in ("anmi", "agreement", *_MEASURES) if m in self.records[0]]
        table = [["method", "clusters", "seconds", "peak MB", *measured]]
        for record in self.records:
            if record["failure"] is not None:
                table.append([record["method"], f"failed, {record['failure'].split('. ')[0]}"])
                continue
            cells = [f"{record['n_clusters']}", f"{record['seconds']:.3g}"]
            cells.append(f"{record['peak_bytes'] / 2**20:.0f}")
            scores = ("" if record[m] is None else f"{record[m]:.3f}" for m in measured)
            table.append([record["method"], *cells, *scores])
        whole = [row for row in table if len(row) == len(table[0])]
        widths = [max(len(row[0]) for row in table)]
        widths += [max(map(len, column)) for column in list(zip(*whole, strict=True))[1:]]
        return "\n".join(_line(row, widths) for row in table)


def compare(
    labels: Any,
    methods: Any = "all",
    n_clusters: int = 8,
    *,
    y: Any = None,
    noise: str = "missing",
    random_state: int | None = 0,
) -> Comparison:
    """Run consensus methods on one ensemble and put their results side by side.

    The ensemble is read and reduced to distinct rows once. A method that does not fit the memory
    budget, is not defined for missing labels or breaks down does not stop the others: its record
    says why.

    Parameters
    ----------
    labels : array-like of shape (n_samples, n_partitions), data frame, list of vectors, or Ensemble
    methods : "all", or key, class or estimator, or several of them
        An estimator is cloned and keeps its parameters.
    n_clusters : int
        Clusters wanted of every method, except of an estimator whose `n_clusters` is not that
        parameter's default.
    y : array-like of shape (n_samples,), optional
        True classes, to score the results by.
    noise : {"missing", "cluster", "singletons"}
        What -1 means, as in `fit`.
    random_state : int or None
        Seed of every method that draws and has no seed of its own.

    Returns
    -------
    Comparison

    Notes
    -----
    Methods run one after another and each may use all threads. Each is first fitted to a tiny
    ensemble, so that compiling does not count as its time.

    Examples
    --------
    >>> import partita
    >>> labels = [[0, 0, 1, 1], [5, 5, 7, 7], ["a", "b", "b", "b"]]
    >>> comparison = partita.compare(labels, ["eac", partita.LWGP], n_clusters=2)
    >>> comparison.labels["eac"]
    array([0, 0, 1, 1])
    >>> [record["agreement"] for record in comparison]
    [1.0, 1.0]
    """
    ensemble = as_ensemble(labels, noise)
    check_n_clusters(n_clusters, ensemble.n_samples)
    core = ensemble.compress()
    known = core.expand(np.ones(core.n_rows, bool), False)  # samples with any label
    if y is not None:
        y = np.asarray(y)
        evaluate(y, np.zeros(ensemble.n_samples))  # a wrong y is found before the work, not after
    estimators = _named(methods, n_clusters, random_state)

    records: list[dict[str, Any]] = []
    results: dict[str, NDArray[np.int64]] = {}
    for done, (name, estimator) in enumerate(estimators.items()):
        report_progress("compare", done, len(estimators), name)
        _warm_up(estimator, core)
        records.append({"method": name, "name": estimator.info.name, **_attempt(estimator, core)})
        if records[-1]["failure"] is None:
            results[name] = estimator.labels_
    report_progress("compare", len(estimators), len(estimators))

    agreement = _agreement([found[known] for found in results.values()])
    means = dict(zip(results, _means_of_others(agreement), strict=True))
    samples = _row_per_sample(ensemble)
    for record in records:
        found = results.get(record["method"])
        record["anmi"] = None if found is None else anmi(found, samples)
        record["agreement"] = means.get(record["method"])
        if y is not None:
            scores = {} if found is None else evaluate(y[known], found[known])
            record |= {measure: scores.get(measure) for measure in _MEASURES}
        record |= {text: record.pop(text) for text in ("warnings", "failure")}  # to the end
    return Comparison(records, results, agreement, _frame_library(labels))


# -- methods ---------------------------------------------------------------------------------


def _named(methods: Any, n_clusters: int, random_state: int | None) -> dict[str, BaseConsensus]:
    """Estimators ready to fit by a name that tells them apart."""
    if isinstance(methods, str) and methods == "all":
        methods = all_methods()
    one = isinstance(methods, str | type | BaseConsensus)
    chosen = [methods] if one or not isinstance(methods, Iterable) else list(methods)
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


def _changed(estimator: BaseConsensus) -> dict[str, Any]:
    """Parameters that are not the default."""
    defaults = type(estimator)().get_params(deep=False)
    given = estimator.get_params(deep=False)
    return {key: value for key, value in given.items() if repr(value) != repr(defaults[key])}


def _name(estimator: BaseConsensus) -> str:
    """The key, and what is particular to this estimator: `eac(linkage='single')`."""
    changed = ", ".join(f"{k}={reprlib.repr(v)}" for k, v in _changed(estimator).items())
    return f"{estimator.info.key}({changed})" if changed else estimator.info.key


# -- running ---------------------------------------------------------------------------------


def _warm_up(estimator: BaseConsensus, core: Ensemble) -> None:
    """Have compiled what the fit will use: labels of the same type, missing ones if there are."""
    rng = np.random.default_rng(0)
    table = np.arange(48)[:, None] // 16 * np.ones(8, np.int64)
    blurred = rng.random(table.shape) < 0.2
    table[blurred] = rng.integers(0, 3, np.count_nonzero(blurred))
    if core.n_missing:
        table[::5, 0] = -1
    tiny = Ensemble.from_partitions(table)
    codes = tiny.codes.astype(core.codes.dtype)
    codes[~tiny.observed] = core.missing_code
    tiny = replace(tiny, codes=codes, layout=replace(tiny.layout, dtype=codes.dtype))
    # arrays among the parameters belong to the samples of the true ensemble
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
        except _REASONS:
            return  # the fit that counts meets the same reason and records it


def _attempt(estimator: BaseConsensus, core: Ensemble) -> dict[str, Any]:
    """Fit, and say what it took or why it came to nothing."""
    record: dict[str, Any] = dict.fromkeys(
        ("n_clusters", "seconds", "peak_bytes", "bytes_needed", "warnings", "failure")
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            estimator._validate_params()
            size = Size.of(core, estimator.get_params(deep=False).get("n_clusters"))
            record["bytes_needed"] = estimator.bytes_needed(size)
            with PeakMemory() as memory:
                start = perf_counter()
                estimator.fit(core)
                seconds = perf_counter() - start
        except _REASONS as error:
            record["failure"] = f"{type(error).__name__}: {error}"
        else:
            record["n_clusters"] = estimator.n_clusters_
            record["seconds"], record["peak_bytes"] = seconds, memory.gained
    said = dict.fromkeys(f"{w.category.__name__}: {w.message}" for w in caught)
    record["warnings"] = "\n".join(said) or None
    return record


# -- results ---------------------------------------------------------------------------------


def _agreement(results: list[NDArray[np.int64]]) -> NDArray[np.float64]:
    agreement = np.eye(len(results))
    for i, first in enumerate(results):
        for j in range(i):
            agreement[i, j] = agreement[j, i] = adjusted_rand(first, results[j])
    return agreement


def _means_of_others(agreement: NDArray[np.float64]) -> list[float | None]:
    others = len(agreement) - 1
    if others < 1:
        return [None] * len(agreement)
    return [float((row.sum() - 1) / others) for row in agreement]


def _row_per_sample(ensemble: Ensemble) -> Ensemble:
    """The ensemble before it was compressed, equal samples sharing their row's weight equally."""
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


def _frame_library(labels: Any) -> str | None:
    """The library of the data frame that the labels came in, if they did."""
    frame = nw.from_native(labels, pass_through=True, eager_only=True)
    return frame.implementation.value if isinstance(frame, nw.DataFrame) else None


def _line(cells: list[str], widths: list[int]) -> str:
    """A row of a table of text: first column to the left, numbers to the right."""
    first, *rest = cells
    if len(cells) < len(widths):
        return "  ".join([first.ljust(widths[0]), *rest])
    numbers = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
    return "  ".join([first.ljust(widths[0]), *numbers])
