"""Non-negative least squares by rows, against SciPy's active set method."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

from partita.solvers.nonnegative import nonnegative_rows


@pytest.fixture
def problem():
    rng = np.random.default_rng(1)
    return rng.standard_normal((15, 9)), rng.random((4, 9))


def test_equals_the_active_set_method(problem):
    X, U = problem
    W = nonnegative_rows(np.ones((15, 4)), U @ U.T, X @ U.T, tol=1e-12, max_iter=5000)
    expected = np.array([nnls(U.T, x)[0] for x in X])
    assert (expected == 0).any()
    assert (expected > 0).any()
    np.testing.assert_allclose(W, expected, atol=1e-9)


def test_penalty_satisfies_the_optimality_conditions(problem):
    X, U = problem
    H, G, penalty = U @ U.T, X @ U.T, 0.8
    W = nonnegative_rows(np.zeros((15, 4)), H, G, penalty, tol=1e-13, max_iter=5000)
    slope = 2 * W @ H - 2 * G + penalty
    assert np.all(slope[W == 0] >= -1e-9)
    np.testing.assert_allclose(slope[W > 0], 0.0, atol=1e-9)
    plain = nonnegative_rows(np.zeros((15, 4)), H, G, tol=1e-13, max_iter=5000)
    assert W.sum() < plain.sum()


def test_one_sweep_is_the_formula(problem):
    X, U = problem
    H, G = U @ U.T, X @ U.T
    start = np.random.default_rng(2).random((15, 4))
    expected = start.copy()
    for w, g in zip(expected, G, strict=True):
        for k in range(4):
            others = sum(H[k, l] * w[l] for l in range(4) if l != k)  # noqa: E741
            w[k] = max(0.0, (g[k] - 0.3 / 2 - others) / H[k, k])
    result = nonnegative_rows(start, H, G, 0.3, max_iter=1)
    np.testing.assert_allclose(result, expected, atol=1e-12)


def test_a_sweep_never_raises_the_objective(problem):
    X, U = problem
    H, G = U @ U.T, X @ U.T

    def objective(W):
        return np.sum((W @ H) * W) - 2 * np.sum(W * G) + 0.1 * W.sum()

    W = np.random.default_rng(0).random((15, 4))
    values = [objective(W)]
    for _ in range(8):
        W = nonnegative_rows(W, H, G, 0.1, max_iter=1)
        values.append(objective(W))
    assert np.all(np.diff(values) <= 1e-12)


def test_coordinate_without_influence_becomes_zero(problem):
    X, U = problem
    U[2] = 0.0
    W = nonnegative_rows(np.ones((15, 4)), U @ U.T, X @ U.T)
    assert np.all(W[:, 2] == 0.0)
    assert np.all(np.isfinite(W))


def test_initial_rows_are_not_changed(problem):
    X, U = problem
    start = np.ones((15, 4))
    nonnegative_rows(start, U @ U.T, X @ U.T)
    assert np.all(start == 1.0)


def test_no_row_is_no_error():
    assert nonnegative_rows(np.empty((0, 3)), np.eye(3), np.empty((0, 3))).shape == (0, 3)
