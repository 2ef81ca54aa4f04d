"""Eigenvectors of one matrix after the other, against LAPACK."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from partita.solvers import eigenvector_series
from partita.solvers.eigenvector_series import (
    EigenvectorSeries,
    correct_eigenvectors,
    decompose,
)

N, K = 240, 4
SPREAD = np.concatenate([np.linspace(1.0, 0.8, 2 * K), np.linspace(0.5, -0.1, N - 2 * K)])


def symmetric(values, seed=0):
    """Return a matrix with these eigenvalues, descending, and its eigenvectors."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((len(values), len(values))))[0]
    A = (Q * values) @ Q.T
    return (A + A.T) / 2, Q


def change(size, seed=1):
    """Return a symmetric matrix of this Frobenius norm."""
    D = np.random.default_rng(seed).standard_normal((N, N))
    D = D + D.T
    return size * D / np.linalg.norm(D)


def assert_leading(values, vectors, matrix):
    expected, Q = np.linalg.eigh(matrix)
    np.testing.assert_allclose(values, expected[: -K - 1 : -1], rtol=0, atol=1e-13)
    leading = Q[:, -K:]
    np.testing.assert_allclose(vectors @ vectors.T, leading @ leading.T, rtol=0, atol=1e-11)


@pytest.fixture
def calls(monkeypatch):
    """Count the calls of the direct methods and of the corrections."""
    counts = Counter()

    def counted(name):
        function = getattr(eigenvector_series, name)

        def count(*args, **kwargs):
            counts[name] += 1
            return function(*args, **kwargs)

        monkeypatch.setattr(eigenvector_series, name, count)

    names = ("correct_eigenvectors", "decompose", "improve_eigenvectors", "top_eigenvectors")
    for name in names:
        counted(name)
    return counts


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-4, 0.1])
def test_correction_by_a_near_matrix(size):
    """The gap after K is 0.03, smaller than the largest change; that after the block is 0.3."""
    A, Q = symmetric(SPREAD)
    _, _, decomposition = decompose(A, K)
    near = A + change(size)
    result = correct_eigenvectors(near, decomposition, Q[:, :K])
    assert_leading(result.values, result.vectors, near)
    assert result.n_steps <= 1 if size == 0 else result.n_steps > 0


def test_correction_does_not_depend_on_the_guess():
    A, Q = symmetric(SPREAD)
    _, _, decomposition = decompose(A, K)
    near = A + change(1e-3)
    for guess in (Q[:, -K:], np.random.default_rng(2).standard_normal((N, K))):
        result = correct_eigenvectors(near, decomposition, guess)
        assert_leading(result.values, result.vectors, near)


def test_no_correction_where_an_eigenvector_could_be_missed():
    """The last eigenvector becomes the first one."""
    A, Q = symmetric(SPREAD)
    _, _, decomposition = decompose(A, K)
    last = Q[:, -1:]
    assert correct_eigenvectors(A + 1.3 * last @ last.T, decomposition, Q[:, :K]) is None


@pytest.mark.parametrize("small", [True, False])
def test_series(calls, monkeypatch, small):
    if not small:
        monkeypatch.setattr(eigenvector_series, "SMALL_ORDER", 0)
    values = SPREAD.copy()
    values[K : 2 * K] = 0.5  # a gap after K, for the products
    A, _ = symmetric(values)
    series = EigenvectorSeries()
    for i in range(12):
        matrix = A + change(0.3**i, seed=i)
        assert_leading(*series.solve(matrix, K), matrix)
    if small:
        assert calls["decompose"] <= 3
        assert calls["correct_eigenvectors"] >= 6
    else:
        assert calls["improve_eigenvectors"] >= 9
        assert calls["top_eigenvectors"] <= 3


@pytest.mark.parametrize("small", [True, False])
def test_what_failed_is_tried_less_and_less(calls, monkeypatch, small):
    """Other eigenvectors every time, and no gap."""
    if small:
        monkeypatch.setattr(eigenvector_series, "_NEAR", np.inf)
    else:
        monkeypatch.setattr(eigenvector_series, "SMALL_ORDER", 0)
    series = EigenvectorSeries()
    values = np.linspace(1.0, -1.0, N)
    n_matrices = 24
    for i in range(n_matrices):
        matrix, _ = symmetric(values, seed=i)
        assert_leading(*series.solve(matrix, K), matrix)
    tried = calls["correct_eigenvectors" if small else "improve_eigenvectors"]
    assert 3 <= tried <= 7
    assert calls["decompose"] + calls["top_eigenvectors"] == n_matrices


def test_many_eigenvectors_are_left_to_other_methods(calls):
    A, _ = symmetric(SPREAD)
    series = EigenvectorSeries()
    for _ in range(2):
        values, _ = series.solve(A, N // 4)
        np.testing.assert_allclose(values, SPREAD[: N // 4], rtol=0, atol=1e-13)
    assert calls["decompose"] == 0
