"""How often each rule finds the number of clusters: `python -m benchmarks.scoreboard.choosing_k`.

Parts (`--parts`):

- "labels": tables with 2 to 8 planted clusters, and tables without structure of many kinds;
- "features": points with 2 to 6 round clusters, and points without clusters of many kinds;
- "shapes": clusters that are not round, and the same points without clusters, by
  `LandmarkSpectral`;
- "partitions": partitions of real data sets by k-means with K_i from 2 to 10 and from 2 to the
  square root of n, and by the default generator, which has K_i from K to 3K;
- "default": the features of "features" and "shapes" by `EnsembleClustering()`, as a user calls it;
- "texts": counts of terms with 4, 8 or 15 topics, and without, by `EnsembleClustering()`;
- "real texts": counts of terms of real texts with classes (`--folder`), also by it;
- "sets": real data sets with features (`--folder`), up to `--max-samples` samples, the true number
  of clusters being that of the classes;
- "thin": lines and sheets without clusters, by k-means and by `EnsembleClustering()`;
- "shuffled": the partitions and features of "partitions" and "sets" with every column shuffled, so
  that no column says anything about another.

The rules are `scan_k` or `scan_k_features`; from its own curves the largest eigengap, the least
ambiguous pairs (PAC), the last K with a delta area above 0.1 and the longest lifetime of the tree;
the largest silhouette; and the gap statistic. All but the first and the last always return a
number. The records are JSON lines; the same call continues. Kinds and seeds take turns, so that a
run that is stopped has all kinds.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from benchmarks.data_folder import data_folder
from benchmarks.json_lines import Record, append, read
from benchmarks.scoreboard import _tables_of_k as tables
from benchmarks.scoreboard import _texts_of_k as texts
from benchmarks.scoreboard._real_data import (
    GENERATORS,
    REAL,
    dense_sets,
    partitions_of,
    shuffles,
)
from benchmarks.scoreboard._rules import gap_statistic, of_curves, silhouette
from benchmarks.scoreboard._tables import (
    by_kind,
    false_alarms,
    numbers_table,
    shuffled_table,
    table,
    thin_table,
)
from benchmarks.scoreboard._thin_shapes import THIN_SHAPES, thin_shape
from partita import EnsembleClustering, datasets, scan_k, scan_k_features
from partita.ensemble import Ensemble
from partita.generators import LandmarkSpectral, RandomRows
from partita.matrices import coassociation, incidence

RECORDS = Path(__file__).with_name("choosing_k.jsonl")
KS = range(2, 11)
FEATURE_KS = range(2, 7)
OTHERS = 1  # tables of noise of every kind that the other rules are tried on
PARTS = (
    "labels",
    "features",
    "shapes",
    "default",
    "texts",
    "partitions",
    "sets",
    "real texts",
    "thin",
    "shuffled",
)
BY_KIND = ("default", "texts")
SHUFFLES = 2  # seeds of the part "shuffled", at most

Work = tuple[str, str, int, Callable[[], Record]]  # part, kind, seed, what makes the record


def from_labels(labels: NDArray[Any], k: int | None, seed: int) -> Record:
    """Return what each rule suggests for a table of labels; of most noise, only the scan."""
    scan = scan_k(labels, KS, random_state=seed)
    if k is None and seed >= OTHERS:
        return {"true_k": k, "scan": scan.best_k}
    distance = 1.0 - np.nan_to_num(coassociation(labels))
    np.fill_diagonal(distance, 0.0)

    def reference(rng: np.random.Generator) -> NDArray[np.float64]:
        return _incidence(np.column_stack([rng.permutation(column) for column in labels.T]))

    return {
        "true_k": k,
        "scan": scan.best_k,
        **of_curves(scan),
        "silhouette": silhouette(distance, scan.labels, "precomputed"),
        "gap statistic": gap_statistic(_incidence(labels), reference, KS, seed),
    }


def _incidence(labels: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray(incidence(Ensemble.from_partitions(labels, unlabeled="keep")).todense())


def from_features(
    X: NDArray[np.float64], k: int | None, ks: range, seed: int, generator: Any = None
) -> Record:
    """Return what each rule suggests for features; of most noise, only the scan.

    The partitions are those of k-means on random rows by default. Silhouette and gap are always
    those of k-means.
    """
    if generator is None:
        generator = RandomRows(n_partitions=20, ratio=0.8, n_jobs=1)
    scan = scan_k_features(X, ks, generator=generator, n_resamples=2, random_state=seed)
    record: Record = {"true_k": k, "scan": scan.best_k}
    if k is None and seed >= OTHERS:
        return record
    center = X.mean(axis=0)
    _, _, axes = np.linalg.svd(X - center, full_matrices=False)
    scores = (X - center) @ axes.T

    def reference(rng: np.random.Generator) -> NDArray[np.float64]:
        return rng.uniform(scores.min(axis=0), scores.max(axis=0), scores.shape)

    labels = {j: KMeans(j, n_init=5, random_state=seed).fit_predict(X) for j in ks}
    return record | {
        **of_curves(scan),
        "silhouette": silhouette(X, labels, "euclidean"),
        "gap statistic": gap_statistic(scores, reference, ks, seed),
    }


def by_default(X: Any, k: int | None, seed: int) -> Record:
    """Return the number of clusters that `EnsembleClustering()` chooses."""
    return {"true_k": k, "scan": EnsembleClustering(random_state=seed).fit(X).scan_.best_k}


def of_thin_shape(kind: str, seed: int) -> Record:
    """Return what scans find in a thin shape; "rejected" is what k-means finds without valleys."""
    X = thin_shape(kind, seed)
    generator = RandomRows(n_partitions=20, ratio=0.8, n_jobs=1)
    scan = scan_k_features(X, KS, generator=generator, n_resamples=2, random_state=seed)
    default = EnsembleClustering(random_state=seed).fit(X).scan_.best_k
    return {"true_k": None, "scan": scan.best_k, "rejected": scan.rejected_k, "default": default}


def work(arguments: argparse.Namespace) -> Iterator[Work]:
    """Yield all records that can be made, in the order in which they are made."""

    def labels_with(kind: str, seed: int) -> Record:
        return from_labels(*tables.planted(kind, seed), seed)

    def labels_without(kind: str, seed: int) -> Record:
        return from_labels(tables.noise(kind, seed), None, seed)

    def features_with(_: str, seed: int) -> Record:
        return from_features(*tables.blobs(seed), FEATURE_KS, seed)

    def features_without(kind: str, seed: int) -> Record:
        return from_features(tables.noise_features(kind, seed), None, FEATURE_KS, seed)

    def shapes_with(kind: str, seed: int) -> Record:
        return from_features(*tables.shapes(kind, seed), FEATURE_KS, seed, _landmarks())

    def shapes_without(kind: str, seed: int) -> Record:
        X = tables.noise_features(kind, seed)
        return from_features(X, None, FEATURE_KS, seed, _landmarks())

    def default_blobs(_: str, seed: int) -> Record:
        return by_default(*tables.blobs(seed), seed)

    def default_many(_: str, seed: int) -> Record:
        return by_default(*tables.many_blobs(seed), seed)

    def default_shapes(kind: str, seed: int) -> Record:
        return by_default(*tables.shapes(kind, seed), seed)

    def default_without(kind: str, seed: int) -> Record:
        return by_default(tables.noise_features(kind, seed), None, seed)

    def texts_with(kind: str, seed: int) -> Record:
        return by_default(*texts.topics(int(kind.partition(" ")[0]), seed), seed)

    def texts_without(kind: str, seed: int) -> Record:
        return by_default(texts.one_topic(kind, seed), None, seed)

    kinds: dict[str, list[tuple[str, Callable[[str, int], Record]]]] = {
        "labels": [(f"planted: {kind}", labels_with) for kind in tables.PLANTED]
        + [(f"noise: {kind}", labels_without) for kind in tables.NOISE_LABELS],
        "features": [("planted: blobs", features_with)] * 2
        + [(f"noise: {kind}", features_without) for kind in tables.NOISE_FEATURES],
        "shapes": [(f"planted: {kind}", shapes_with) for kind in tables.SHAPES]
        + [(f"noise: {kind}", shapes_without) for kind in tables.NOISE_FEATURES],
        "default": [("planted: blobs", default_blobs)] * 2
        + [("planted: 11 to 25 blobs", default_many)] * 2
        + [(f"planted: {kind}", default_shapes) for kind in tables.SHAPES]
        + [(f"noise: {kind}", default_without) for kind in tables.NOISE_FEATURES],
        "thin": [(f"noise: {kind}", of_thin_shape) for kind in THIN_SHAPES],
        "texts": [(f"planted: {k} topics", texts_with) for k in texts.TOPICS]
        + [(f"noise: {kind}", texts_without) for kind in texts.NOISE_TEXTS],
    }
    real = {
        "sets": _sets,
        "real texts": _real_texts,
        "partitions": _partitions,
        "shuffled": _shuffled,
    }
    for part in arguments.parts:
        if part in real:
            yield from real[part](arguments)
            continue
        for turn in range(arguments.seeds):
            count: dict[str, int] = {}
            for kind, make in kinds[part]:
                repeats = sum(name == kind for name, _ in kinds[part])
                seed = turn * repeats + count.get(kind, 0)
                count[kind] = count.get(kind, 0) + 1
                yield part, kind, seed, _later(make, kind.partition(": ")[2], seed)


def _landmarks() -> LandmarkSpectral:
    return LandmarkSpectral(n_partitions=20, n_jobs=1)


def _later(make: Callable[[str, int], Record], kind: str, seed: int) -> Callable[[], Record]:
    return lambda: make(kind, seed)


def _sets(arguments: argparse.Namespace) -> Iterator[Work]:
    for name, X, k in dense_sets(arguments.folder, arguments.max_samples):

        def make(X: NDArray[np.float64] = X, k: int = k) -> Record:
            return from_features(X, k, range(2, 16), 0)

        yield "sets", name, 0, make


def _real_texts(arguments: argparse.Namespace) -> Iterator[Work]:
    for name in texts.TEXTS:

        def make(name: str = name) -> Record:
            data = datasets.load(name, folder=arguments.folder)
            sizes = {"n_samples": data.X.shape[0], "n_features": data.X.shape[1]}
            return sizes | by_default(data.X, data.n_classes, 0)

        yield "real texts", name, 0, make


def _partitions(arguments: argparse.Namespace) -> Iterator[Work]:
    for name in REAL:
        for kind in GENERATORS:

            def make(name: str = name, kind: str = kind) -> Record:
                return from_labels(*partitions_of(name, kind, arguments.folder), 0)

            yield "partitions", f"{name}: {kind}", 0, make


def _shuffled(arguments: argparse.Namespace) -> Iterator[Work]:
    for seed in range(min(arguments.seeds, SHUFFLES)):
        for kind, make in shuffles(arguments.folder, arguments.max_samples, seed):
            yield "shuffled", kind, seed, make


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scoreboard.choosing_k")
    parser.add_argument("--parts", nargs="+", default=PARTS, choices=PARTS)
    parser.add_argument("--seeds", type=int, default=20, help="tables of every kind")
    parser.add_argument("--seconds", type=float, default=np.inf, help="start none after these")
    parser.add_argument("--records", type=Path, default=RECORDS, help="file to continue")
    parser.add_argument("--folder", type=Path, default=data_folder(), help="folder of real sets")
    parser.add_argument("--max-samples", type=int, default=600, help="of a real set")
    arguments = parser.parse_args(argv)
    if {"sets", "real texts", "partitions", "shuffled"} & {
        *arguments.parts
    } and arguments.folder is None:
        parser.error("no folder of real sets: pass --folder or set PARTITA_DATA")
    start = time.monotonic()
    done = {(r["part"], r["kind"], r["seed"]) for r in read(arguments.records)}
    for part, kind, seed, make in work(arguments):
        if time.monotonic() - start > arguments.seconds:
            break
        if (part, kind, seed) in done:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            record = {"part": part, "kind": kind, "seed": seed} | make()
        append(arguments.records, [record])
    records = read(arguments.records)
    for part in dict.fromkeys(r["part"] for r in records):
        if part == "shuffled":
            print(f"\nshuffled\n\n{shuffled_table(records)}")
            continue
        if part == "thin":
            print(f"\nthin\n\n{thin_table(records)}")
            continue
        if part == "real texts":
            print(f"\nreal texts\n\n{numbers_table(records, part)}")
            continue
        right = by_kind(records, part) if part in BY_KIND else table(records, part)
        print(f"\n{part}\n\n{right}\n\n{false_alarms(records, part)}")


if __name__ == "__main__":
    main(sys.argv[1:])
