"""One unit of work: all methods on one set, one source of partitions and one seed."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.scoreboard._records import Record
from benchmarks.scoreboard._sets import BenchmarkSet, Table, find_sets
from partita.clustering import EnsembleClustering
from partita.exceptions import MissingPackageError
from partita.generators import GENERATORS, make_generator, make_scaler
from partita.registry import prepare
from partita.select_k import scan_for_number, scan_k

__all__ = ["DEFAULT", "TABLE", "Unit", "methods_of", "run", "sources"]

DEFAULT = "ensemble_clustering"  # the whole estimator as it is, generators and method included
TABLE = "table"  # the source of partitions by other algorithms
_DRAWN = 20  # partitions of a pool that a seed draws


@dataclass(frozen=True)
class Unit:
    """What one process does at a time.

    Attributes
    ----------
    folder, name : Path, str
        The folder of the sets, and the set.
    source : str
        Key of a generator, `DEFAULT` or `TABLE`.
    seed : int
        Seed of generator, method and scan.
    k_rule : {"true", "scan"}
        Where the number of clusters comes from.
    methods : tuple of str
        Keys of the methods that have no record yet.
    n_partitions : int
        Number of partitions that a generator makes.
    largest_k : int
        Largest number of clusters of a scan.
    """

    folder: Path
    name: str
    source: str
    seed: int
    k_rule: str
    methods: tuple[str, ...]
    n_partitions: int
    largest_k: int

    @property
    def key(self) -> tuple[str, str, int, str]:
        return self.name, self.source, self.seed, self.k_rule


def sources(dataset: BenchmarkSet, generators: list[str]) -> list[str]:
    """Return the generators if a set has features, and `TABLE` if it has a table."""
    has_table = any(dataset.table(k) is not None for k in dataset.true_ks)
    has_features = dataset.features is not None
    return [*(generators if has_features else []), *([TABLE] if has_table else [])]


def methods_of(source: str, methods: Iterable[str]) -> list[str]:
    """Return the methods that fuse a source; the estimator has its own."""
    return ["ccgp"] if source == DEFAULT else list(methods)


def run(unit: Unit) -> list[Record]:
    """Return one record per method and, for a table with names, per algorithm in it."""
    dataset = _read(unit.folder, unit.name)
    best: dict[str, Record] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k, start in _numbers(dataset, unit):
            for record in _at(dataset, unit, k, start):
                rival = best.get(record["method"])
                if rival is None or record["ARI"] > rival["ARI"]:
                    best[record["method"]] = record
    return list(best.values())


@lru_cache(maxsize=4)
def _read(folder: Path, name: str) -> BenchmarkSet:
    return next(each for each in find_sets(folder) if each.name == name)


def _numbers(dataset: BenchmarkSet, unit: Unit) -> Iterator[tuple[int | None, float]]:
    """Yield the numbers of clusters to run with, and the seconds that their choice took."""
    if unit.k_rule == "true":
        yield from ((k, 0.0) for k in dataset.true_ks)
        return
    yield _scanned_number(unit.folder, unit.name, unit.source == TABLE, unit.largest_k, unit.seed)


@lru_cache(maxsize=4)  # all generators use the number of one scan
def _scanned_number(
    folder: Path, name: str, is_table: bool, largest_k: int, seed: int
) -> tuple[int | None, float]:
    """Return the suggestion of `scan_k`, or for features that of `EnsembleClustering`."""
    dataset = _read(folder, name)
    ks = range(2, min(largest_k, dataset.n_samples - 1) + 1)
    start = time.process_time()
    if is_table:
        scan = scan_k(_drawn(_full_table(dataset), seed).labels, ks, random_state=seed)
    else:
        X = _scaled(dataset.features)
        scan = scan_for_number(
            X.toarray() if sp.issparse(X) else X,
            make_generator("landmark_spectral"),
            prepare("ccgp"),
            np.random.default_rng(seed),
            ks,
        )
    return scan.best_k, time.process_time() - start


def _at(dataset: BenchmarkSet, unit: Unit, k: int | None, scan_seconds: float) -> Iterator[Record]:
    """Yield the records for one number of clusters; None is one cluster for all samples."""
    about = dict(zip(("set", "source", "seed", "k_rule"), unit.key, strict=True)) | {
        "n_samples": dataset.n_samples,
        "true_k": dataset.true_ks,
        "k": k,
    }
    scored_k = k if unit.k_rule == "true" else None
    if k is None:
        one = dataset.score(np.zeros(dataset.n_samples, np.int64))
        for method in unit.methods:
            yield {**about, "method": method, **one, "seconds": round(scan_seconds, 3)}
        return
    start = time.process_time()
    if unit.source == DEFAULT:
        model = EnsembleClustering(k, random_state=unit.seed).fit(dataset.features)
        seconds = round(time.process_time() - start + scan_seconds, 3)
        score = dataset.score(model.labels_, scored_k)
        yield {**about, "method": unit.methods[0], **score, "seconds": seconds}
        return
    if unit.source == TABLE:
        table = _drawn(
            dataset.table(k) or _full_table(dataset)
            if unit.k_rule == "true"
            else _full_table(dataset),
            unit.seed,
        )
    else:
        table = Table(_generated(dataset.features, unit, k), None)
        about |= {"n_features": dataset.features.shape[1]}
    partition_seconds = time.process_time() - start + scan_seconds
    for method in unit.methods:
        start = time.process_time()
        result = _fused(dataset, table.labels, method, k, unit.seed, scored_k)
        seconds = round(time.process_time() - start + partition_seconds, 3)
        yield {**about, "method": method, **result, "seconds": seconds}
    if unit.k_rule == "true" and table.names is not None:
        for j, name in enumerate(table.names):
            score = dataset.score(table.labels[:, j], k)
            yield {**about, "method": name, **score, "seconds": None}


def _fused(
    dataset: BenchmarkSet, labels: Any, method: str, k: int, seed: int, scored_k: int | None
) -> dict[str, Any]:
    """Return the score, or 0, that of one cluster, and the reason why there is no answer."""
    try:
        consensus = prepare(method, k, seed).fit_predict(labels)
    except (ValueError, MemoryError, MissingPackageError) as error:
        return {"ARI": 0.0, "NMI": 0.0, "failed": f"{type(error).__name__}: {error}"[:120]}
    return dict(dataset.score(consensus, scored_k))


def _generated(features: Any, unit: Unit, k: int) -> Any:
    parameters: dict[str, Any] = {
        "n_partitions": unit.n_partitions,
        "n_clusters": k,
        "random_state": unit.seed,
        "n_jobs": 1,
    }
    if sp.issparse(features):
        parameters["metric"] = "cosine"  # counts of words
    accepted = GENERATORS[unit.source]().get_params(deep=False)
    generator = make_generator(
        unit.source, **{name: value for name, value in parameters.items() if name in accepted}
    )
    return generator.fit_transform(_scaled(features))


def _scaled(features: Any) -> Any:
    """Return the features, standardized where `EnsembleClustering` does so."""
    scaler = None if sp.issparse(features) else make_scaler(features)
    return features if scaler is None else scaler.transform(features)


def _full_table(dataset: BenchmarkSet) -> Table:
    table = dataset.table(None)
    assert table is not None
    return table


def _drawn(table: Table, seed: int) -> Table:
    """Return a table with names as it is, and some partitions of a pool."""
    if table.names is not None or table.labels.shape[1] <= _DRAWN:
        return table
    order = np.random.default_rng(seed).permutation(table.labels.shape[1])
    return Table(table.labels[:, order[:_DRAWN]], None)
