"""Problems over the simplex, row by row, against their optimality conditions and plain forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

from partita.solvers.simplex_rows import divide_rows, project_rows


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def sorted_projection(b, r):
    """The projection by sorting: the shift of the largest entries that stay positive."""
    order = np.argsort(-b)
    shifts = (np.cumsum((r * b)[order]) - 1) / np.cumsum(r[order])
    return np.maximum(b - shifts[np.flatnonzero(b[order] > shifts)[-1]], 0)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_projection_equals_the_one_by_sorting(rng, scale):
    matrix, weights = scale * rng.normal(size=(30, 12)), rng.uniform(0.1, 4, 12)
    P = project_rows(matrix, weights)
    expected = [sorted_projection(row, weights) for row in matrix]
    np.testing.assert_allclose(P, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(P @ weights, 1.0)
    assert (P == 0).any() == (scale >= 1)


def test_weights_are_equal_columns(rng):
    matrix, times = rng.normal(size=(10, 6)), rng.integers(1, 5, 6)
    full = project_rows(np.repeat(matrix, times, axis=1), np.ones(times.sum()))
    np.testing.assert_allclose(
        np.repeat(project_rows(matrix, times), times, axis=1), full, atol=1e-15
    )


def test_weights_of_every_entry(rng):
    matrix, weights = rng.normal(size=(10, 6)), rng.uniform(0, 2, (10, 6))
    weights[:, 2] = 0.0  # stands for no column: it has no influence on the others
    P = project_rows(matrix, weights)
    kept = [0, 1, 3, 4, 5]
    expected = [
        project_rows(b[None, kept], r[kept])[0] for b, r in zip(matrix, weights, strict=True)
    ]
    np.testing.assert_allclose(P[:, kept], expected, atol=1e-15)


def test_points_of_the_simplex_and_huge_weights_stay(rng):
    P = rng.dirichlet(np.ones(8), size=5)
    np.testing.assert_allclose(project_rows(P, np.ones(8)), P, atol=1e-15)
    equal = project_rows(np.full((1, 4), 0.3), np.full(4, 1e18))
    np.testing.assert_allclose(equal, 2.5e-19)


@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e8])
def test_division_has_sum_one_and_the_right_root(rng, scale):
    C = scale * rng.uniform(size=(20, 9)) * (rng.random((20, 9)) < 0.6)
    penalty, weights = rng.uniform(0, 3, (20, 9)), rng.uniform(0, 4, (20, 9))
    C[:, -1], penalty[:, -1], weights[:, -1] = scale * rng.uniform(0.1, 1, 20), 0.0, 1.0
    P = divide_rows(C, penalty, weights)
    np.testing.assert_allclose((weights * P).sum(axis=1), 1.0, rtol=1e-14)
    assert ((P > 0) == (C > 0)).all()
    for c, d, r, p in zip(C, penalty, weights, P, strict=True):
        root = brentq(
            lambda theta, c=c, d=d, r=r: (r * c / (d + theta)).sum() - 1,
            c[-1] * (1 - 1e-9),
            (r * c).sum() * (1 + 1e-9),
            xtol=1e-14 * scale,
            rtol=1e-14,
        )
        np.testing.assert_allclose(p, c / (d + root), rtol=1e-9)
