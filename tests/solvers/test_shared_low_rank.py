"""Low rank plus errors: planted matrices come back exactly, and objectives are minimal."""

from __future__ import annotations

import numpy as np
import pytest

from partita.solvers.shared_low_rank import fit_low_rank, shrink_rank
from partita.solvers.view_errors import ViewErrors


def largest(matrix):
    return float(np.abs(matrix).max())


def blocks(sizes):
    y = np.repeat(np.arange(len(sizes)), sizes)
    return (y[:, None] == y) * 1.0


def flipped(matrix, share, rng):
    """Entries of a symmetric 0/1 matrix, some of them exchanged."""
    flips = np.triu(rng.random(matrix.shape) < share, 1)
    flips = flips | flips.T
    return np.where(flips, 1 - matrix, matrix)


def fit(views, lam, norm="l1", weights=None, growth=1.2, symmetric=False):
    weights = np.ones(len(views[0])) if weights is None else weights
    errors = ViewErrors(views, weights, lam, norm, largest)
    options = {"mu": 1e-3, "growth": growth, "largest_mu": 1e10, "max_iter": 500, "tol": 1e-9}
    return fit_low_rank(errors, task="test", symmetric=symmetric, **options)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("unknown", [0.0, 0.3])
def test_a_tenth_of_the_entries_is_wrong(unknown, symmetric):
    rng = np.random.default_rng(0)
    expected = blocks([40, 40, 40])
    view = flipped(expected, 0.1, rng)
    mask = np.triu(rng.random(view.shape) < unknown, 1)
    view[mask | mask.T] = np.nan
    result = fit([view], 0.12, symmetric=symmetric)
    np.testing.assert_allclose(result.matrix, expected, rtol=0, atol=1e-6)
    assert result.converged
    assert result.rank == 3
    assert result.nuclear_norm == pytest.approx(120.0, abs=1e-4)
    is_known = ~np.isnan(view)
    assert result.errors[0] == pytest.approx(np.abs(view - expected)[is_known].sum(), abs=1e-3)


@pytest.mark.parametrize("norm", ["l1", "l21"])
def test_several_views_with_errors_of_their_own(norm):
    rng = np.random.default_rng(1)
    expected = blocks([20, 20, 20])
    views = [expected.copy() for _ in range(4)]
    for v, view in enumerate(views):
        if norm == "l1":
            view[:] = flipped(view, 0.15, rng)
        else:
            view[:, v::15] = rng.random((60, 4))  # whole columns
    result = fit(views, 0.2, norm)
    np.testing.assert_allclose(result.matrix, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("norm", ["l1", "l21"])
def test_no_direction_lowers_the_objective(norm):
    """The problem is convex, and slow growth of the penalty ends near its minimum."""
    rng = np.random.default_rng(2)
    views = [rng.random((12, 12)) for _ in range(3)]
    views[1][rng.random((12, 12)) < 0.3] = np.nan
    lam = 0.12 if norm == "l1" else 0.25

    def objective(Z):
        total = np.linalg.norm(Z, "nuc")
        for view in views:
            error = np.where(np.isnan(view), 0, view - Z)
            size = np.abs(error).sum() if norm == "l1" else np.linalg.norm(error, axis=0).sum()
            total += lam * size
        return total

    result = fit(views, lam, norm, growth=1.02)
    value = objective(result.matrix)
    assert result.nuclear_norm + lam * result.errors.sum() == pytest.approx(value, rel=1e-7)
    assert value < objective(np.zeros((12, 12))) * 0.99
    for _ in range(300):
        step = rng.standard_normal((12, 12))
        for size in (1e-4, 1e-2, 0.3):
            assert objective(result.matrix + size * step) > value * (1 - 1e-5)
    middle = fit(views, lam, norm, growth=1.5)
    assert value <= objective(middle.matrix) * (1 + 1e-6)


@pytest.mark.parametrize("norm", ["l1", "l21"])
def test_rows_with_weights(norm):
    rng = np.random.default_rng(3)
    views = [rng.random((7, 7)) for _ in range(3)]
    views[0][2:4, 5] = np.nan
    times = np.array([1, 3, 2, 1, 4, 2, 1])
    full = [np.repeat(np.repeat(view, times, axis=0), times, axis=1) for view in views]
    expected, result = fit(full, 0.1, norm), fit(views, 0.1, norm, times.astype(float))
    Z = np.repeat(np.repeat(result.matrix, times, axis=0), times, axis=1)
    np.testing.assert_allclose(Z, expected.matrix, rtol=0, atol=1e-11)
    np.testing.assert_allclose(result.errors, expected.errors, rtol=1e-11)
    assert len(result.history) == len(expected.history)


def test_views_are_not_changed():
    views = [np.eye(4), np.full((4, 4), np.nan)]
    views[1][0, 0] = 1.0
    copies = [view.copy() for view in views]
    fit(views, 0.5)
    for view, copy in zip(views, copies, strict=True):
        np.testing.assert_array_equal(view, copy)


def test_shrinking_works_in_the_memory_of_its_argument():
    matrix = np.diag([3.0, 2.0, 1.0])
    result, sigma = shrink_rank(matrix, np.array([1.0, 2.0, 1.0]), 2.0, symmetric=True)
    assert result is matrix
    np.testing.assert_allclose(matrix, np.diag([1.0, 6.0 / 4.0, 0.0]), atol=1e-15)
    np.testing.assert_allclose(np.sort(sigma), [1.0, 6.0])
