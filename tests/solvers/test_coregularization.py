"""Co-regularized embeddings, against plain eigendecompositions of the formed sums."""

from __future__ import annotations

import numpy as np
import pytest

from partita.solvers import coregularization
from partita.solvers.coregularization import (
    coregularize_centroid,
    coregularize_pairs,
    pulled_eigenvectors,
)


@pytest.fixture
def affinities():
    rng = np.random.default_rng(5)
    matrices = []
    for _ in range(3):
        A = rng.random((30, 30))
        A = A + A.T
        d = A.sum(axis=1)
        matrices.append(A / np.sqrt(np.outer(d, d)))
    return matrices


def top(matrix, k):
    return np.linalg.eigh(matrix)[1][:, ::-1][:, :k]


def projections(embeddings):
    return [U @ U.T for U in embeddings]


def test_pairwise_iterations_are_those_of_the_definition(affinities):
    result = coregularize_pairs(affinities, 3, 0.5, max_iter=2, tol=0.0)
    P = [(lambda U: U @ U.T)(top(L, 3)) for L in affinities]
    for step in range(2):
        for v in (1, 2, 0):
            U = top(affinities[v] + 0.5 * sum(P[w] for w in range(3) if w != v), 3)
            P[v] = U @ U.T
        own = sum(np.trace(L @ p) for L, p in zip(affinities, P, strict=True))
        pairs = np.trace(P[0] @ P[1]) + np.trace(P[0] @ P[2]) + np.trace(P[1] @ P[2])
        assert result.history[step] == pytest.approx(own + 0.5 * pairs, rel=1e-12)
    for ours, expected in zip(projections(result.embeddings), P, strict=True):
        np.testing.assert_allclose(ours, expected, atol=1e-10)


def test_centroid_iterations_are_those_of_the_definition(affinities):
    weights = np.array([0.5, 0.2, 0.9])
    result = coregularize_centroid(affinities, 3, weights, max_iter=2, tol=0.0)
    P = [(lambda U: U @ U.T)(top(L, 3)) for L in affinities]
    for step in range(2):
        star = top(sum(w * p for w, p in zip(weights, P, strict=True)), 3)
        S = star @ star.T
        P = [
            (lambda U: U @ U.T)(top(L + w * S, 3)) for L, w in zip(affinities, weights, strict=True)
        ]
        own = sum(np.trace(L @ p) for L, p in zip(affinities, P, strict=True))
        pull = sum(w * np.trace(p @ S) for w, p in zip(weights, P, strict=True))
        assert result.history[step] == pytest.approx(own + pull, rel=1e-12)
    (centroid,) = result.embeddings
    np.testing.assert_allclose(centroid @ centroid.T, S, atol=1e-10)
    np.testing.assert_allclose(centroid.T @ centroid, np.eye(3), atol=1e-12)


@pytest.mark.parametrize("coupling", ["pairs", "centroid"])
def test_objective_never_falls(affinities, coupling):
    options = {"max_iter": 100, "tol": 1e-4}
    if coupling == "pairs":
        result = coregularize_pairs(affinities, 3, 0.5, **options)
    else:
        result = coregularize_centroid(affinities, 3, np.full(3, 0.5), **options)
    assert result.converged
    assert len(result.history) < 100
    assert np.all(np.diff(result.history) >= -1e-12)


@pytest.mark.parametrize("n", [30, 300])
@pytest.mark.parametrize("lapack", [5, 5000])
def test_operator_gives_the_eigenvectors_of_the_formed_sum(n, lapack, monkeypatch):
    """Beyond an order of 1500 the sum is not formed; a Krylov space needs some room."""
    rng = np.random.default_rng(n)
    points = rng.normal(size=(3, 2))[rng.integers(3, size=n)] * 8 + rng.normal(size=(n, 2))
    L = np.exp(-((points[:, None] - points) ** 2).sum(axis=2) / 50)
    target = np.linalg.qr(rng.normal(size=(n, 3)))[0]
    expected = pulled_eigenvectors(L, [target], [0.5], target)
    monkeypatch.setattr(coregularization, "_DENSE", 5)
    monkeypatch.setattr(coregularization, "_LAPACK", lapack)
    result = pulled_eigenvectors(L, [target], [0.5], target)
    np.testing.assert_allclose(result @ result.T, expected @ expected.T, atol=1e-8)
    exact = top(L + 0.5 * target @ target.T, 3)
    np.testing.assert_allclose(expected @ expected.T, exact @ exact.T, atol=1e-10)
