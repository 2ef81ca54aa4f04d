"""Quadratic problems over the simplex: optimality checked by the gradient."""

from __future__ import annotations

import numpy as np
import pytest

from partita.solvers.simplex import project_rows, simplex_quadratic


def optimality_gap(G, g, w):
    """How much the objective would still fall, at first order, towards the best corner."""
    slope = G @ w - g
    return (w @ slope - slope.min()) / max(np.abs(G).max(), np.abs(g).max())


@pytest.mark.parametrize("singular", [False, True])
def test_optimal(singular):
    for seed in range(100):
        rng = np.random.default_rng(seed)
        m = int(rng.integers(1, 12))
        vectors = rng.standard_normal((20, m)) + 1
        if singular:
            vectors = np.hstack([vectors, vectors])  # every thing twice
        target = vectors @ rng.random(vectors.shape[1]) + rng.standard_normal(20)
        G, g = vectors.T @ vectors, vectors.T @ target
        w = simplex_quadratic(G, g)
        assert w.min() >= 0
        assert w.sum() == pytest.approx(1.0, abs=1e-12)
        assert optimality_gap(G, g, w) < 1e-12


def test_by_hand():
    # nearest point to (1, 1) on the segment from (2, 0) to (0, 1): 2/5 of the way to the latter
    G = np.array([[4.0, 0.0], [0.0, 1.0]])
    w = simplex_quadratic(G, np.array([2.0, 1.0]))
    np.testing.assert_allclose(w, [0.4, 0.6])


def test_a_corner():
    np.testing.assert_array_equal(simplex_quadratic(np.eye(3), np.array([5.0, 0, 0])), [1, 0, 0])


@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
def test_projection_of_rows(scale):
    """Optimality: the same shift in all positive entries, a larger one would be needed in zeros."""
    rng = np.random.default_rng(0)
    rows, weights = scale * rng.standard_normal((300, 9)), rng.uniform(0.2, 4.0, 9)
    projected = rows.copy()
    project_rows(projected, weights)
    assert projected.min() >= 0
    np.testing.assert_allclose(projected @ weights, 1.0, rtol=1e-12)
    shift = rows - projected
    for row, point in zip(shift, projected, strict=True):
        assert np.ptp(row[point > 0]) <= 1e-12 * scale
        assert np.all(row[point == 0] <= row[point > 0][0] + 1e-12 * scale)


def test_a_column_of_weight_three_is_three_columns():
    rows = np.random.default_rng(1).standard_normal((5, 4))
    weights = np.array([1.0, 3.0, 2.0, 1.0])
    repeated = np.repeat(rows, weights.astype(int), axis=1)
    project_rows(repeated, np.ones(7))
    project_rows(rows, weights)
    np.testing.assert_allclose(np.repeat(rows, weights.astype(int), axis=1), repeated, atol=1e-15)


def test_a_distribution_stays():
    row = np.array([[0.25, 0.0, 0.5]])
    project_rows(row, np.array([2.0, 5.0, 1.0]))
    np.testing.assert_allclose(row, [[0.25, 0.0, 0.5]], atol=1e-16)
