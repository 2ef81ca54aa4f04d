"""Triangular systems: both forms, and dense systems."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from forms import call_both

from partita import _kernels

pytestmark = pytest.mark.kernel
N = 40


def record(matrix):
    rows = sp.csr_matrix(matrix)
    return rows.indptr, rows.indices, rows.data


@pytest.mark.parametrize("levels", [np.arange(N + 1), np.array([0, 10, 20, 40])])
@pytest.mark.parametrize(("start", "stop"), [(0, 150), (64, 128), (70, 150), (3, 4)])
def test_solution_of_some_columns(start, stop, levels):
    rng = np.random.default_rng(0)
    level = np.searchsorted(levels, np.arange(N), side="right")
    pattern = (rng.random((N, N)) < 0.2) & (level[:, None] > level)
    L = np.where(pattern, rng.normal(size=(N, N)), 0.0)
    R = np.where(pattern.T, rng.normal(size=(N, N)), 0.0)
    pivot = rng.random(N) + 0.5
    right_hand_sides = rng.normal(size=(N, 150))
    _, (*_, solution) = call_both(
        _kernels.sparse_factor.solve_columns,
        record(L), pivot, record(R), levels, start, stop, right_hand_sides,
    )  # fmt: skip
    whole = (np.eye(N) + L) @ np.diag(pivot) @ (np.eye(N) + R)
    expected = right_hand_sides.copy()
    expected[:, start:stop] = np.linalg.solve(whole, right_hand_sides[:, start:stop])
    np.testing.assert_allclose(solution, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
