"""k-means of many points: restarts on a sample, then all points."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import kmeans_plusplus

from partita.solvers import kmeans
from partita.solvers.kmeans import weighted_kmeans
from partita.solvers.kmeans_seeds import WeightedSeeds
from partita.solvers.spectral import normalize_rows


@pytest.fixture
def points():
    """Unit vectors around five directions, and weights."""
    rng = np.random.default_rng(0)
    centers = np.eye(5)[rng.integers(5, size=4000)]
    return normalize_rows(centers + 0.25 * rng.normal(size=(4000, 5))), rng.uniform(0.5, 3.0, 4000)


def inertia(X, weights, labels):
    means = [np.average(X[labels == k], 0, weights[labels == k]) for k in np.unique(labels)]
    return float(weights @ ((X - np.array(means)[labels]) ** 2).sum(axis=1))


def test_restarts_on_a_sample_reach_the_inertia_of_restarts_on_all_points(points, monkeypatch):
    X, w = points
    expected = np.mean([weighted_kmeans(X, w, 5, np.random.default_rng(i))[1] for i in range(5)])
    monkeypatch.setattr(kmeans, "_SAMPLE", 600)
    runs = [weighted_kmeans(X, w, 5, np.random.default_rng(i)) for i in range(5)]
    assert np.mean([value for _, value in runs]) < 1.001 * expected
    for labels, value in runs:
        assert len(labels) == len(X)
        assert value == pytest.approx(inertia(X, w, labels), rel=1e-3)
    again, _ = weighted_kmeans(X, w, 5, np.random.default_rng(0))
    np.testing.assert_array_equal(again, runs[0][0])


@pytest.mark.parametrize("n_clusters", [1, 2, 9])
@pytest.mark.parametrize("is_rounded", [False, True])
def test_seeds_are_those_of_scikit_learn(points, n_clusters, is_rounded):
    X, w = points
    X = X.round() if is_rounded else X  # equal points: distances of 0
    seeds = WeightedSeeds(w)
    for i in range(5):
        expected, _ = kmeans_plusplus(X, n_clusters, sample_weight=w, random_state=i)
        actual = seeds(X, n_clusters, np.random.RandomState(i))
        np.testing.assert_array_equal(actual, expected)


def test_the_sample_follows_the_weights():
    weights = np.array([0.0, 1.0, 0.0, 3.0, 0.0])
    rows, times = kmeans.draw_points(weights, 40_000, np.random.default_rng(0))
    assert rows.tolist() == [1, 3]
    assert times.sum() == 40_000
    np.testing.assert_allclose(times / 40_000, [0.25, 0.75], rtol=0, atol=0.01)
