"""Joint factorization: its updates entry by entry, its objective, its units."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from partita.solvers.factorization import (
    factorize_jointly,
    random_factors,
    ratio,
    squared_error,
    squared_norm,
    unit_column_sums,
)


@pytest.fixture
def problem():
    rng = np.random.default_rng(3)
    views = [rng.random((12, 5)), rng.random((12, 7)) * (rng.random((12, 7)) < 0.5)]
    V, bases = random_factors(12, [5, 7], 3, rng)
    return views, np.array([1.0, 2.5]), V, bases


def residual(views, weights, V, bases):
    triples = zip(weights, views, bases, strict=True)
    return sum(w * np.linalg.norm(X - V @ U.T) ** 2 for w, X, U in triples)


def updated(views, weights, V, bases):
    """One iteration with loops over entries."""
    new = np.empty_like(V)
    for i in range(V.shape[0]):
        for k in range(V.shape[1]):
            above = below = 0.0
            for w, X, U in zip(weights, views, bases, strict=True):
                above += w * sum(X[i, f] * U[f, k] for f in range(X.shape[1]))
                below += w * sum((V[i] @ U[f]) * U[f, k] for f in range(X.shape[1]))
            new[i, k] = V[i, k] * above / below
    results = []
    for X, U in zip(views, bases, strict=True):
        result = np.empty_like(U)
        for f in range(U.shape[0]):
            for k in range(U.shape[1]):
                above = sum(X[i, f] * new[i, k] for i in range(len(X)))
                below = sum((new[i] @ U[f]) * new[i, k] for i in range(len(X)))
                result[f, k] = U[f, k] * above / below
        results.append(result)
    return new, results


def test_first_iterations_are_those_of_the_definition(problem):
    views, weights, V, bases = problem
    result = factorize_jointly(views, weights, V, bases, max_iter=3, tol=0.0)
    expected = V, bases
    for step in range(3):
        expected = updated(views, weights, *expected)
        assert result.history[step] == pytest.approx(residual(views, weights, *expected), rel=1e-11)
    np.testing.assert_allclose(result.coefficients, expected[0], rtol=1e-11)
    for basis, twin in zip(result.bases, expected[1], strict=True):
        np.testing.assert_allclose(basis, twin, rtol=1e-11)


def test_objective_never_rises(problem):
    views, weights, V, bases = problem
    result = factorize_jointly(views, weights, V, bases, max_iter=2000, tol=1e-9)
    assert result.converged
    assert 10 < len(result.history) < 2000
    assert np.all(np.diff(result.history) <= 1e-13 * result.history[0])


def test_exact_product_is_recovered():
    rng = np.random.default_rng(0)
    V, U = rng.random((40, 2)) * (rng.random((40, 2)) < 0.6), rng.random((9, 2))
    views = [V @ U.T]
    start = random_factors(40, [9], 2, rng)
    result = factorize_jointly(views, np.ones(1), *start, max_iter=5000, tol=0.0)
    assert result.history[-1] < 1e-6 * np.linalg.norm(views[0]) ** 2


def test_unit_of_the_data_does_not_matter(problem):
    """Entries of a matrix with sum 1 are below the guards that many programs use."""
    views, weights, V, bases = problem
    plain = factorize_jointly(views, weights, V, bases, max_iter=20, tol=0.0)
    small = [2.0**-60 * X for X in views]
    scaled = factorize_jointly(small, weights, V, bases, max_iter=20, tol=0.0)
    # V comes first, so that the unit goes to V once and to the bases never
    np.testing.assert_allclose(scaled.coefficients * 2.0**60, plain.coefficients, rtol=1e-12)
    np.testing.assert_allclose(scaled.bases[1], plain.bases[1], rtol=1e-12)


def test_sparse_views_give_the_same(problem):
    views, weights, V, bases = problem
    dense = factorize_jointly(views, weights, V, bases, max_iter=30, tol=0.0)
    sparse = [sp.csr_array(X) for X in views]
    result = factorize_jointly(sparse, weights, V, bases, max_iter=30, tol=0.0)
    np.testing.assert_allclose(result.coefficients, dense.coefficients, rtol=1e-10)
    np.testing.assert_allclose(result.history, dense.history, rtol=1e-11)


def test_empty_feature_and_empty_sample_stay_finite(problem):
    views, weights, V, bases = problem
    views[0][:, 2] = 0.0
    views[0][4] = views[1][4] = 0.0
    result = factorize_jointly(views, weights, V, bases, max_iter=50, tol=0.0)
    assert np.all(result.coefficients[4] == 0.0)
    assert np.all(result.bases[0][2] == 0.0)
    assert np.all(np.isfinite(result.coefficients))


def test_columns_get_sum_one_and_the_product_stays(problem):
    _, _, V, bases = problem
    bases[0][:, 1] = bases[1][:, 1] = 0.0
    scaled, unit = unit_column_sums(V, bases)
    np.testing.assert_allclose(sum(U.sum(axis=0) for U in unit), [1.0, 0.0, 1.0])
    np.testing.assert_allclose(scaled @ unit[1].T, V @ bases[1].T)


def test_error_without_the_residual(problem):
    views, _, V, bases = problem
    X, U = sp.csr_array(views[1]), bases[1]
    error = squared_error(squared_norm(X), V, U, X.T @ V)
    assert error == pytest.approx(np.linalg.norm(views[1] - V @ U.T) ** 2)


def test_ratio_of_two_zeros_is_zero():
    assert ratio(np.array([0.0, 1.0]), np.array([0.0, 4.0])).tolist() == [0.0, 0.25]
