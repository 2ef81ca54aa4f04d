"""Quadratic problems over the simplex: optimality checked by the gradient."""

from __future__ import annotations

import numpy as np
import pytest

from partita.solvers.simplex import simplex_quadratic


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
