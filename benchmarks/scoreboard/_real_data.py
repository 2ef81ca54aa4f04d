"""Real sets for `choosing_k`: their features, partitions of them, and both without structure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.json_lines import Record
from benchmarks.scoreboard._sets import find_sets
from partita import EnsembleClustering, scan_k, scan_k_features
from partita.datasets import load
from partita.generators import LandmarkSpectral, RandomK, RandomRows, make_scaler

__all__ = ["GENERATORS", "REAL", "SCANS", "dense_sets", "partitions_of", "shuffled", "shuffles"]

REAL = ("iris", "wine", "breast_w", "breast_tissue", "ecoli", "jaffe", "aggregation")
GENERATORS = ("K_i from 2 to 10", "K_i from 2 to sqrt n", "LandmarkSpectral")
SCANS = ("scan_k_features, k-means", "scan_k_features, LandmarkSpectral", "EnsembleClustering()")
_KS = range(2, 11)
_MOST_CLASSES = 15

Points = NDArray[np.float64]


def dense_sets(folder: Path, max_samples: int) -> Iterator[tuple[str, Points, int]]:
    """Yield name, features as `scale="auto"` treats them, and number of classes; small ones first.

    Sets with sparse features or more than 15 classes are left out.
    """
    sets = [each for each in find_sets(folder) if each.n_samples <= max_samples]
    for dataset in sorted(sets, key=lambda each: each.n_samples):
        k = dataset.true_ks[0]
        if isinstance(dataset.features, np.ndarray) and k <= _MOST_CLASSES:
            yield dataset.name, _scaled(dataset.features), k


def partitions_of(name: str, kind: str, folder: Path) -> tuple[NDArray[Any], int]:
    """Return 40 partitions of a real set, and its number of classes."""
    data = load(name, folder=folder)
    if kind == "LandmarkSpectral":
        options: dict[str, Any] = {"n_clusters": data.n_classes}
    else:
        options = {"k_min": 2, "k_max": 10 if "10" in kind else int(len(data.X) ** 0.5)}
    generator = LandmarkSpectral if kind == "LandmarkSpectral" else RandomK
    made = generator(n_partitions=40, random_state=0, n_jobs=1, **options)
    return made.fit_transform(_scaled(data.X)), data.n_classes


def shuffles(
    folder: Path, max_samples: int, seed: int
) -> Iterator[tuple[str, Callable[[], Record]]]:
    """Yield kinds of shuffled tables and sets, each with what makes the record."""
    for name in REAL:
        for kind in GENERATORS:

            def of_table(name: str = name, kind: str = kind) -> Record:
                labels = shuffled(partitions_of(name, kind, folder)[0], seed)
                return {"true_k": None, "scan": scan_k(labels, _KS, random_state=seed).best_k}

            yield f"scan_k: {name}, {kind}", of_table
    for name, X, _ in dense_sets(folder, max_samples):
        for scan in SCANS:

            def of_set(X: Points = X, scan: str = scan) -> Record:
                return {"true_k": None, "scan": _scanned(scan, shuffled(X, seed), seed)}

            yield f"{scan}: {name}", of_set


def shuffled(table: NDArray[Any], seed: int) -> NDArray[Any]:
    """Return the table with every column in another order of its own."""
    rng = np.random.default_rng([77, seed])
    return np.column_stack([rng.permutation(column) for column in table.T])


def _scanned(scan: str, X: Points, seed: int) -> int | None:
    if scan == "EnsembleClustering()":
        return EnsembleClustering(random_state=seed).fit(X).scan_.best_k
    if scan.endswith("LandmarkSpectral"):
        generator: Any = LandmarkSpectral(n_partitions=20, n_jobs=1)
    else:
        generator = RandomRows(n_partitions=20, ratio=0.8, n_jobs=1)
    options: dict[str, Any] = {"generator": generator, "n_resamples": 2, "random_state": seed}
    return scan_k_features(X, _KS, **options).best_k


def _scaled(X: Points) -> Points:
    scaler = make_scaler(X)
    return X if scaler is None else np.asarray(scaler.fit_transform(X))
