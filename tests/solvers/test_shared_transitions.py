"""A shared random walk: planted walks, stationary distributions, and walks of features."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from partita.solvers.shared_transitions import (
    fit_transitions,
    stationary_distribution,
    walk_embedding,
)

OPTIONS = {"mu": 1e-3, "growth": 1.2, "max_iter": 300, "tol": 1e-7, "task": "test"}


def stochastic(matrix):
    return matrix / matrix.sum(axis=1, keepdims=True)


def planted(sizes):
    y = np.repeat(np.arange(len(sizes)), sizes)
    return stochastic((y[:, None] == y) * 1.0), y


def test_a_planted_walk_comes_back():
    """Every view has other wrong rows; a view may lack rows altogether."""
    expected, _ = planted([15, 10, 10])
    rng = np.random.default_rng(0)
    views = []
    for v in range(5):
        view = expected.copy()
        view[v::9] = stochastic(rng.random((len(view[v::9]), 35)))
        views.append(view)
    views[2][20:30] = np.nan
    result = fit_transitions(views, np.ones(35), lam=0.1, **OPTIONS)
    np.testing.assert_allclose(result.matrix, expected, rtol=0, atol=1e-5)
    assert result.converged
    assert result.rank == 3
    assert result.nuclear_norm == pytest.approx(3.0, abs=1e-4)


def test_the_result_is_a_walk_and_the_views_stay():
    rng = np.random.default_rng(1)
    views = [stochastic(rng.random((9, 9))) for _ in range(3)]
    copies = [view.copy() for view in views]
    result = fit_transitions(views, np.ones(9), lam=0.05, **OPTIONS)
    assert result.matrix.min() >= 0
    np.testing.assert_allclose(result.matrix.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(views, copies)
    assert result.history[-1] < 1e-7
    assert len(result.errors) == 3


def test_walks_of_features():
    """Views that are not symmetric: Gaussian kernels of two noisy measurements."""
    rng = np.random.default_rng(2)
    y = np.repeat([0, 1, 2], 20)
    views = []
    for _ in range(2):
        X = np.array([[0, 0], [4, 0], [0, 4]])[y] + rng.standard_normal((60, 2))
        distance = ((X[:, None] - X) ** 2).sum(axis=2)
        views.append(stochastic(np.exp(-distance / 2)))
    result = fit_transitions(views, np.ones(60), lam=0.05, **OPTIONS)
    rows = walk_embedding(result.matrix, np.ones(60), 3)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    labels = KMeans(3, n_init=10, random_state=0).fit_predict(rows)
    assert adjusted_rand_score(y, labels) > 0.9


def test_stationary_distribution():
    P = stochastic(np.random.default_rng(3).random((8, 8)))
    pi = stationary_distribution(P, np.ones(8))
    np.testing.assert_allclose(pi @ P, pi, rtol=1e-6)
    assert pi.sum() == pytest.approx(1.0)


def test_stationary_distribution_of_separate_parts():
    """A walk from a random sample stays in its part; a sample that all leave has π = 0."""
    P = np.array(
        [[0.5, 0.5, 0, 0, 0], [0.5, 0.5, 0, 0, 0], [0, 0, 1, 0, 0], [0.5, 0, 0.5, 0, 0], [0] * 5]
    )
    P[4, 4] = 1.0
    pi = stationary_distribution(P, np.ones(5))
    # half of sample 3 ends in {0, 1}, half in 2
    np.testing.assert_allclose(pi, [0.25, 0.25, 0.3, 0, 0.2], rtol=0, atol=1e-7)
    assert pi.min() > 0
    assert np.isfinite(walk_embedding(P, np.ones(5), 3)).all()


def test_stationary_distribution_with_weights_over_many_orders():
    """The system that is solved stays well conditioned: SciPy warns of no singular matrix."""
    weights = np.array([1e-12, 1e10, 1.0, 1e12])
    P = np.array([[1.0, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
    P /= (P @ weights)[:, None]
    pi = stationary_distribution(P, weights)
    assert weights @ pi == pytest.approx(1.0)
    np.testing.assert_allclose((weights * pi) @ (P * weights), weights * pi, rtol=0, atol=1e-7)


def test_weights_are_repeated_samples():
    rng = np.random.default_rng(4)
    times = np.array([2, 1, 3, 1, 1])
    P = rng.random((5, 5))
    P /= (P @ times)[:, None]
    full = np.repeat(np.repeat(P, times, axis=0), times, axis=1)
    np.testing.assert_allclose(full.sum(axis=1), 1.0)
    np.testing.assert_allclose(
        np.repeat(stationary_distribution(P, times.astype(float)), times),
        stationary_distribution(full, np.ones(8)),
        rtol=1e-7,
    )
    few, many = walk_embedding(P, times.astype(float), 2), walk_embedding(full, np.ones(8), 2)
    few = np.repeat(few, times, axis=0)
    np.testing.assert_allclose(few @ few.T, many @ many.T, rtol=0, atol=1e-7)
