"""One unit of work: all methods on one set, one source of partitions and one seed."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.json_lines import Record
from benchmarks.scoreboard._records import KEY
from benchmarks.scoreboard._sets import BenchmarkSet, Table, find_sets
from benchmarks.scoreboard._sources import SCIKIT, TABLE, labels_of
from partita.clustering import EnsembleClustering
from partita.exceptions import MissingPackageError
from partita.generators import GENERATORS, make_generator, make_scaler
from partita.registry import prepare
from partita.select_k import scan_for_number, scan_k

__all__ = ["Unit", "run"]

_DRAWN = 20  # partitions of a pool that a seed draws


@dataclass(frozen=True)
class Unit:
    """What one process does at a time.

    Attributes
    ----------
    folder, name, data : Path, str, str
        The folder of the sets, the set, and its fingerprint.
    source : str
        Key of a generator, `DEFAULT`, `SCIKIT` or `TABLE`.
    seed : int
        Seed of generator, method and scan.
    k_rule : {"true", "scan"}
        Where the number of clusters comes from.
    methods : tuple of str
        Keys of the methods to run.
    n_partitions : int
        Number of partitions that a generator makes.
    largest_k : int
        Largest number of clusters of a scan.
    """

    folder: Path
    name: str
    data: str
    source: str
    seed: int
    k_rule: str
    methods: tuple[str, ...]
    n_partitions: int
    largest_k: int

    @property
    def key(self) -> tuple[Any, ...]:
        """The values of `KEY`."""
        n_partitions = self.n_partitions if self.source in GENERATORS else None
        largest_k = self.largest_k if self.k_rule == "scan" else None
        named = self.name, self.data, self.source, self.seed, self.k_rule
        return *named, n_partitions, largest_k


def run(unit: Unit) -> list[Record]:
    """Return one record per method and, for a table with names, per algorithm in it."""
    dataset = _read(unit.folder, unit.name, unit.data)
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
def _read(folder: Path, name: str, data: str) -> BenchmarkSet:
    dataset = next(each for each in find_sets(folder) if each.name == name)
    if dataset.fingerprint != data:
        raise ValueError(f"{name} has changed since the call began")
    return dataset


def _numbers(dataset: BenchmarkSet, unit: Unit) -> Iterator[tuple[int | None, float]]:
    """Yield the numbers of clusters to run with, and the seconds that their choice took."""
    is_table = unit.source == TABLE
    if unit.k_rule == "scan":
        yield _scanned_number(dataset, is_table, unit.largest_k, unit.seed)
        return
    for k in dataset.true_ks:
        if not is_table or dataset.table(k) is not None:
            yield k, 0.0


@lru_cache(maxsize=4)  # all generators use the number of one scan
def _scanned_number(
    dataset: BenchmarkSet, is_table: bool, largest_k: int, seed: int
) -> tuple[int | None, float]:
    """Return the suggestion of `scan_k`, or for features that of `EnsembleClustering`."""
    ks = range(2, min(largest_k, dataset.n_samples - 1) + 1)
    start = time.process_time()
    if is_table:
        scan = scan_k(_drawn(dataset.table(None), seed).labels, ks, random_state=seed)
    else:
        rng = np.random.default_rng(seed)
        generator = make_generator("landmark_spectral")
        if sp.issparse(dataset.features):
            generator.set_params(metric="cosine")  # counts of words
        scan = scan_for_number(_scaled(dataset.features), generator, prepare("ccgp"), rng, ks)
    return scan.best_k, time.process_time() - start


def _at(dataset: BenchmarkSet, unit: Unit, k: int | None, scan_seconds: float) -> Iterator[Record]:
    """Yield the records for one number of clusters; None is one cluster for all samples."""
    about = dict(zip(KEY, unit.key, strict=True)) | {
        "n_samples": dataset.n_samples,
        "true_k": dataset.true_ks,
        "k": k,
    }
    if unit.source != TABLE:
        about["n_features"] = dataset.features.shape[1]
    if k is None:
        one = dataset.score(np.zeros(dataset.n_samples, np.int64))
        for method in unit.methods:
            yield {**about, "method": method, **one, "seconds": round(scan_seconds, 3)}
        return
    scored_k = k if unit.k_rule == "true" else None
    start = time.process_time()
    table = _partitions(dataset, unit, k)
    shared_seconds = time.process_time() - start + scan_seconds
    for method in unit.methods:
        start = time.process_time()
        result = _scored(dataset, lambda m=method: _labels(dataset, unit, k, m, table), scored_k)
        seconds = round(time.process_time() - start + shared_seconds, 3)
        yield {**about, "method": method, **result, "seconds": seconds}
    if unit.k_rule == "true" and table is not None and table.names is not None:
        for j, name in enumerate(table.names):
            score = dataset.score(table.labels[:, j], k)
            yield {**about, "method": name, **score, "seconds": None}


def _partitions(dataset: BenchmarkSet, unit: Unit, k: int) -> Table | None:
    """Return the partitions to fuse; None if the source makes the labels itself."""
    if unit.source in GENERATORS:
        return Table(_generated(dataset.features, unit, k), None)
    if unit.source == TABLE:
        return _drawn(dataset.table(k if unit.k_rule == "true" else None), unit.seed)
    return None


def _labels(dataset: BenchmarkSet, unit: Unit, k: int, method: str, table: Table | None) -> Any:
    if table is not None:
        return prepare(method, k, unit.seed).fit_predict(table.labels)
    if unit.source == SCIKIT:
        return labels_of(method, _scaled(dataset.features), k, unit.seed)
    return EnsembleClustering(k, random_state=unit.seed).fit_predict(dataset.features)


def _scored(
    dataset: BenchmarkSet, cluster: Callable[[], Any], scored_k: int | None
) -> dict[str, Any]:
    """Return the score, or 0, that of one cluster, and the reason why there is no answer."""
    try:
        labels = cluster()
    except (ValueError, MemoryError, MissingPackageError) as error:
        return {"ARI": 0.0, "NMI": 0.0, "failed": f"{type(error).__name__}: {error}"[:120]}
    return dict(dataset.score(labels, scored_k))


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


def _drawn(table: Table | None, seed: int) -> Table:
    """Return a table with names as it is, and some partitions of a pool."""
    assert table is not None  # `sources` leaves out sets without a table
    if table.names is not None or table.labels.shape[1] <= _DRAWN:
        return table
    order = np.random.default_rng(seed).permutation(table.labels.shape[1])
    return Table(table.labels[:, order[:_DRAWN]], None)
