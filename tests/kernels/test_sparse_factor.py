"""Triangular systems against dense ones."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from partita import _kernels

pytestmark = pytest.mark.kernel


@pytest.mark.parametrize(("start", "stop"), [(0, 150), (64, 128), (70, 150)])
def test_solution_of_some_columns(start, stop):
    rng = np.random.default_rng(0)
    n = 40
    pattern = np.tril(rng.random((n, n)) < 0.2, -1)
    L, R = np.zeros((n, n)), np.zeros((n, n))
    L[pattern] = rng.normal(size=pattern.sum())
    R.T[pattern] = rng.normal(size=pattern.sum())
    pivot = rng.random(n) + 0.5
    rows = sp.csr_matrix(pattern.astype(float))
    lower = L[pattern]
    upper = R.T[pattern]
    right_hand_sides = rng.normal(size=(n, 150))
    found = right_hand_sides.copy()
    _kernels.sparse_factor.solve_columns(
        rows.indptr, rows.indices, lower, pivot, upper, start, stop, found
    )
    whole = (np.eye(n) + L) @ np.diag(pivot) @ (np.eye(n) + R)
    expected = right_hand_sides.copy()
    expected[:, start:stop] = np.linalg.solve(whole, right_hand_sides[:, start:stop])
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
