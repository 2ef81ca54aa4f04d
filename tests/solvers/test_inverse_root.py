"""The inverse root over weighted rows against the one over all samples."""

from __future__ import annotations

import numpy as np
import pytest

from partita.solvers.inverse_root import InverseRoot


def full_inverse_root(M, mu):
    values, vectors = np.linalg.eigh(M @ M.T + mu * np.eye(len(M)))
    return (vectors / np.sqrt(values)) @ vectors.T, np.sqrt(values)


@pytest.mark.parametrize("times", [np.ones(9, int), np.array([1, 4, 1, 2, 7, 1, 1, 3, 2])])
@pytest.mark.parametrize("mu", [1e-3, 0.5])
def test_signed_parts_and_traces_are_those_of_all_samples(times, mu):
    rng = np.random.default_rng(0)
    M, X = rng.random((2, 9, 9))
    inverse = np.repeat(np.arange(9), times)
    first = np.unique(inverse, return_index=True)[1]
    D, roots = full_inverse_root(M[np.ix_(inverse, inverse)], mu)
    full = X[np.ix_(inverse, inverse)]
    assert (D[~np.eye(len(D), dtype=bool)] < 0).any()

    S = InverseRoot.of(M, times.astype(float), mu)
    plus, minus = np.maximum(S.rows, 0), np.maximum(-S.rows, 0) + np.diag(S.surplus)
    pick = np.ix_(first, first)
    np.testing.assert_allclose(plus @ X, (np.maximum(D, 0) @ full)[pick], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(minus @ X, (np.maximum(-D, 0) @ full)[pick], rtol=1e-10, atol=1e-10)
    assert S.root_trace == pytest.approx(roots.sum(), rel=1e-10)
    assert S.inverse_trace == pytest.approx((1 / roots).sum(), rel=1e-10)


def test_weights_below_one_keep_both_parts_non_negative():
    rng = np.random.default_rng(1)
    M, weights = rng.random((6, 6)), rng.uniform(0.05, 1.5, 6)
    S = InverseRoot.of(M, weights, 1e-3)
    assert S.surplus.min() >= 0
    assert np.diag(S.rows).min() > 0
    # S^-1 acts on the weighted rows as it must: (S^-1)² (M R Mᵀ R + μ) = 1
    operator = S.rows - np.diag(S.surplus)
    squared = M @ np.diag(weights) @ M.T @ np.diag(weights) + 1e-3 * np.eye(6)
    np.testing.assert_allclose(operator @ operator @ squared, np.eye(6), rtol=0, atol=1e-8)
