"""Generators that cut a graph: several numbers of clusters by the same graphs."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score

from partita.generators import (
    LandmarkSpectral,
    RandomK,
    RandomMetrics,
    _graph_vectors,
    generate,
    make_generator,
)
from partita.generators.generation import generate_for_each

NUMBERS = (2, 5, 3, 9)
FEATURES = {
    "iris": load_iris().data,
    "apart": make_blobs(120, centers=6, cluster_std=0.05, random_state=0)[0],  # six components
    "repeated": np.repeat([[0.0, 1.0], [2.0, 0.0], [5.0, 5.0], [9.0, 2.0]], 10, axis=0),
    "digits": load_digits().data[:400],  # large enough for Lanczos
}


@pytest.mark.parametrize("name", FEATURES)
@pytest.mark.parametrize(
    "made", [LandmarkSpectral(4, n_landmarks=30), RandomMetrics(4), RandomK(4, n_init=2)]
)
def test_labels_are_those_of_separate_fits(made: Any, name: str) -> None:
    X = FEATURES[name]
    together = list(generate_for_each(X, made, NUMBERS, random_state=3))
    for k, ensemble in zip(NUMBERS, together, strict=True):
        separate = generate(X, made, k_min=k, k_max=k, random_state=3)
        assert_array_equal(ensemble.partition_names, separate.partition_names)
        for ours, theirs in zip(ensemble.codes.T, separate.codes.T, strict=True):
            assert adjusted_rand_score(ours, theirs) == 1


@pytest.mark.parametrize("generator", [LandmarkSpectral, RandomMetrics])
def test_rows_without_direction_and_jobs(generator: Any) -> None:
    X = sp.csr_matrix(np.vstack([np.zeros((3, 4)), load_iris().data]))
    made = generator(3, metric="cosine", random_state=0)
    with pytest.warns(UserWarning, match="direction"):
        first = made.labels_for_each(X, [2, 4])
    with pytest.warns(UserWarning, match="direction"):
        second = made.set_params(n_jobs=2).labels_for_each(X, [2, 4])
    assert_array_equal(first, second)
    assert (first[0][:3] == -1).all()
    assert first[0][3:].min() == 0


def test_eigenvectors_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = []
    solve = _graph_vectors._orthogonal_vectors

    def counting(matrix: Any, first: Any, count: int) -> Any:
        counts.append(count)
        return solve(matrix, first, count)

    monkeypatch.setattr(_graph_vectors, "_orthogonal_vectors", counting)
    connected = np.random.default_rng(0).random((200, 2))
    made = LandmarkSpectral(3, n_neighbors=(12, 12), random_state=0)
    made.labels_for_each(connected, [2, 5, 9])
    assert counts == [8]  # all rows are landmarks: the partitions share one graph
    made.set_params(n_clusters=3).fit(connected)
    assert counts == [8, 8]
    made.set_params(n_landmarks=150).labels_for_each(connected, [2, 5, 9])
    assert counts == [8, 8, 8, 8, 8]


def test_shared_graphs_do_not_depend_on_threads_or_on_who_asks_first() -> None:
    X = load_digits().data[:400]
    made = LandmarkSpectral(12, n_clusters=4, random_state=0)
    expected = made.set_params(n_jobs=1).fit_transform(X)
    for _ in range(3):
        assert_array_equal(made.set_params(n_jobs=4).fit_transform(X), expected)


def test_a_fitted_generator_keeps_no_graph() -> None:
    made = LandmarkSpectral(3, n_clusters=4, random_state=0).fit(FEATURES["iris"])
    assert made._shared is None
    assert_array_equal(pickle.loads(pickle.dumps(made)).transform(FEATURES["iris"]), made.labels_)


def test_parameters_are_checked_and_the_generator_stays_as_it_is() -> None:
    made = make_generator("landmark_spectral", n_partitions=2, k_max=7)
    made.labels_for_each(FEATURES["iris"], [2, 3])
    assert (made.k_min, made.k_max) == (None, 7)
    assert not hasattr(made, "labels_")
    with pytest.raises(ValueError, match="n_partitions"):
        LandmarkSpectral(0).labels_for_each(FEATURES["iris"], [2])
    with pytest.raises(ValueError, match="fewer than k_min=151"):
        made.labels_for_each(FEATURES["iris"], [2, 151])
