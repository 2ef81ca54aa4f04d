"""Eigenvectors near a guess, against LAPACK."""

from __future__ import annotations

import numpy as np
import pytest

from partita.solvers.krylov import improve_eigenvectors

N, K = 300, 4


def symmetric(values, seed=0):
    """Return a matrix with these eigenvalues, descending, and its eigenvectors."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((len(values), len(values))))[0]
    return (Q * values) @ Q.T, Q


@pytest.fixture
def problem():
    return symmetric(np.concatenate([np.linspace(1.0, 0.8, K), np.linspace(0.6, -0.1, N - K)]))


@pytest.mark.parametrize("noise", [0.0, 1e-6, 0.05])
def test_eigenvectors_near_a_guess(problem, noise):
    A, Q = problem
    guess = Q[:, :K] + noise * np.random.default_rng(1).standard_normal((N, K))
    values, vectors = improve_eigenvectors(lambda V: A @ V, guess, K)
    np.testing.assert_allclose(values, np.linspace(1.0, 0.8, K), rtol=0, atol=1e-13)
    expected = Q[:, :K] @ Q[:, :K].T
    np.testing.assert_allclose(vectors @ vectors.T, expected, rtol=0, atol=1e-10)


def test_an_eigenvector_that_the_guess_lacks_is_found(problem):
    A, Q = problem
    values, vectors = improve_eigenvectors(lambda V: A @ V, Q[:, 1 : K + 1], K)
    assert values[0] == pytest.approx(1.0, abs=1e-13)
    assert abs(vectors[:, 0] @ Q[:, 0]) == pytest.approx(1.0, abs=1e-12)


def test_a_good_guess_needs_fewer_products(problem):
    A, Q = problem

    def products(noise):
        calls = []
        guess = Q[:, :K] + noise * np.random.default_rng(1).standard_normal((N, K))
        improve_eigenvectors(lambda V: (calls.append(0), A @ V)[1], guess, K)
        return len(calls)

    assert products(1e-9) < products(1e-2)


def test_no_result_without_a_gap():
    values = np.concatenate([np.full(K + 1, 1.0), np.linspace(0.6, 0.0, N - K - 1)])
    A, Q = symmetric(values)
    assert improve_eigenvectors(lambda V: A @ V, Q[:, :K], K) is None


def test_no_result_for_a_small_matrix():
    A, Q = symmetric(np.linspace(1.0, 0.0, 40))
    assert improve_eigenvectors(lambda V: A @ V, Q[:, :K], K) is None
