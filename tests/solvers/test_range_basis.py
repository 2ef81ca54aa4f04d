"""Bases of a similarity matrix, against the matrix itself."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from partita.datasets import make_partitions
from partita.matrices import incidence
from partita.solvers.range_basis import outside_basis, similarity_basis


@pytest.mark.parametrize(("n", "m"), [(200, 5), (60, 8), (30, 20)])
def test_similarity_is_the_product(n, m):
    F = incidence(make_partitions(n, m, noise=0.3)[0])
    rng = np.random.default_rng(0)
    signs, weights = rng.choice([-1.0, 1.0], F.shape[1]), rng.integers(1, 4, n).astype(float)
    P, values, root = similarity_basis(sp.csr_matrix(F), signs, weights)
    expected = (F.toarray() * signs) @ F.toarray().T * np.outer(root, root)
    np.testing.assert_allclose((P * values) @ P.T, expected, rtol=0, atol=1e-11)
    np.testing.assert_allclose(P.T @ P, np.eye(P.shape[1]), rtol=0, atol=1e-12)
    np.testing.assert_allclose(root**2, weights)
    rank = np.linalg.matrix_rank(expected)
    assert P.shape[1] == (rank if rank <= 0.75 * n else n)


def test_outside_basis_is_orthonormal_and_spans_the_columns():
    rng = np.random.default_rng(1)
    Q = np.linalg.qr(rng.standard_normal((50, 30)))[0]
    P, old = Q[:, :20], Q[:, 20:]
    inner = rng.standard_normal((10, 3))
    short = 1e-9 * rng.standard_normal((10, 1))  # a short column counts like a long one
    inside = P @ rng.standard_normal((20, 3))
    nearly_inside = inside + 1e-9 * rng.standard_normal((50, 3))
    other = rng.standard_normal((50, 4))
    columns = [inside, nearly_inside, other, other @ rng.standard_normal((4, 2)), 0 * inside]
    new = outside_basis(P, old, np.column_stack([inner, short]), np.column_stack(columns))
    assert new.shape == (50, 3 + 1 + 3 + 4)
    basis = np.column_stack([P, new])
    np.testing.assert_allclose(basis.T @ basis, np.eye(31), rtol=0, atol=1e-13)
    for part in (*columns, old @ inner, old @ short):
        length = max(np.linalg.norm(part), 1e-300)
        np.testing.assert_allclose(basis @ (basis.T @ part), part, rtol=0, atol=1e-12 * length)


def test_nothing_is_outside_of_a_complete_basis():
    P = np.linalg.qr(np.random.default_rng(2).standard_normal((8, 8)))[0]
    new = outside_basis(P, np.empty((8, 0)), np.empty((0, 5)), np.ones((8, 1)))
    assert new.shape == (8, 0)


@pytest.mark.parametrize("size", [1e-3, 1e-9, 1e-11, 1e-12, 1e-14, 0.0])
def test_columns_that_nearly_agree_give_orthogonal_ones(size):
    """Otherwise the error grows from one iteration to the next until the basis is useless."""
    rng = np.random.default_rng(0)
    n, p, q = 60, 40, 6
    frame = np.linalg.qr(rng.standard_normal((n, p + q + 1)))[0]
    P, old, outside = frame[:, :p], frame[:, p:-1], frame[:, -1:]
    columns = frame[:, :-1] @ rng.standard_normal((p + q, 9)) + outside
    columns += size * rng.standard_normal((n, 9))
    new = outside_basis(P, old, np.eye(q), columns)
    assert_allclose(new.T @ new, np.eye(new.shape[1]), atol=1e-13)
    assert_allclose(P.T @ new, 0.0, atol=1e-13)
    whole = np.column_stack([P, new])
    missing = columns - whole @ (whole.T @ columns)
    assert np.abs(missing).max() < 1e-11
    assert new.shape[1] <= n - p
