"""Where the labels of a set come from: generators, the estimator, scikit-learn, a table."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.cluster import AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import normalize

from benchmarks.scoreboard._sets import BenchmarkSet

__all__ = [
    "ALGORITHMS",
    "DEFAULT",
    "SCIKIT",
    "TABLE",
    "labels_of",
    "methods_of",
    "sources",
    "unused",
]

DEFAULT = "ensemble_clustering"  # the whole estimator as it is, generators and method included
SCIKIT = "scikit-learn"  # algorithms that need no partitions
TABLE = "table"  # the source of partitions by other algorithms

_MOST_FEATURES = 100  # with more, a covariance matrix has far more entries than most sets samples
_DENSE = ("GaussianMixture", "Ward")  # take no sparse features


def _mixture(k: int, seed: int, n_features: int) -> GaussianMixture:
    kind = "full" if n_features <= _MOST_FEATURES else "diag"
    return GaussianMixture(k, covariance_type=kind, n_init=5, random_state=seed)


def _spectral(k: int, seed: int, _: int) -> SpectralClustering:
    options = {"affinity": "nearest_neighbors", "n_neighbors": 10}
    return SpectralClustering(k, random_state=seed, **options)


# what makes the estimator from K, seed and number of features
ALGORITHMS: dict[str, Callable[[int, int, int], Any]] = {
    "KMeans": lambda k, seed, _: KMeans(k, n_init=10, random_state=seed),
    "GaussianMixture": _mixture,
    "Ward": lambda k, _seed, _: AgglomerativeClustering(k),
    "SpectralClustering": _spectral,
}


def labels_of(algorithm: str, X: Any, k: int, seed: int) -> NDArray[np.int64]:
    """Return the labels by an algorithm of scikit-learn; rows of sparse X get unit length.

    The Euclidean distance of rows of unit length orders pairs as the cosine does.
    """
    if sp.issparse(X):
        X = normalize(X)
        X = X.toarray() if algorithm in _DENSE else X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # graphs that are not connected
        return np.asarray(ALGORITHMS[algorithm](k, seed, X.shape[1]).fit_predict(X))


def sources(dataset: BenchmarkSet, generators: Sequence[str], k_rule: str) -> list[str]:
    """Return the sources that a set can have at the true or scanned number of clusters."""
    left_out, _ = unused(dataset, k_rule)
    own = [] if dataset.features is None else list(generators)
    if k_rule == "scan":
        own = [source for source in own if source != SCIKIT]  # it does not choose a number
    has_table = dataset.table(None) is not None
    return [each for each in [*own, *([TABLE] if has_table else [])] if each not in left_out]


def unused(dataset: BenchmarkSet, k_rule: str) -> tuple[list[str], str]:
    """Return the sources that a set has but cannot use, and the reason."""
    if k_rule == "scan":
        return [], ""
    numbers = dataset.table_ks or dataset.true_ks
    reason = f"there are results for K = {_and(numbers)}, and the true K is {_and(dataset.true_ks)}"
    return [] if {*numbers} & {*dataset.true_ks} else [TABLE], reason


def _and(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


def methods_of(source: str, methods: Iterable[str]) -> list[str]:
    """Return the methods that fuse a source; the estimator has its own."""
    if source == SCIKIT:
        return list(ALGORITHMS)
    return ["ccgp"] if source == DEFAULT else list(methods)
