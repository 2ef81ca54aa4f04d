"""Preparation of features and the count of distinct rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from partita.generators._features import Preparation, count_distinct_rows, has_direction


@given(
    st.lists(st.tuples(st.integers(-1, 1), st.integers(-1, 1)), min_size=1, max_size=40),
    st.integers(1, 12),
)
def test_count_distinct_rows(rows, stop):
    dense = np.array(rows, np.float32)
    expected = min(stop, len(set(rows)))
    assert count_distinct_rows(dense, stop) == expected
    assert count_distinct_rows(sp.csr_matrix(dense), stop) == expected


def test_minus_zero_is_zero():
    assert count_distinct_rows(np.array([[0.0], [-0.0]], np.float32), 5) == 1


def test_distances_keep_their_proportions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 3)) * 1e20 + 1e22  # two blocks, one of them not full
    prepared = Preparation.of(X, unit=False).apply(X)
    assert prepared.dtype == np.float32
    assert np.abs(prepared).max() <= 1
    ratio = np.linalg.norm(prepared[1:] - prepared[0], axis=1) / np.linalg.norm(
        X[1:] - X[0], axis=1
    )
    assert_allclose(ratio, ratio[0], rtol=1e-5)


@pytest.mark.parametrize(
    "form", [np.asarray, sp.csr_matrix, sp.csr_array], ids=lambda f: f.__name__
)
def test_unit_rows(form):
    X = np.array([[3.0, 4.0], [0.0, 0.0], [1e-20, 0.0], [0.0, -1e20]])
    prepared = Preparation.of(form(X), unit=True).apply(form(X))
    dense = prepared.toarray() if sp.issparse(prepared) else prepared
    assert_allclose(dense, [[0.6, 0.8], [0, 0], [1, 0], [0, -1]], rtol=1e-6)
    assert_array_equal(has_direction(prepared), [True, False, True, True])


def test_sparse_rows_become_canonical_and_32_bit_without_touching_the_input():
    data, columns = np.array([1.0, 2.0, 0.0]), np.array([1, 1, 0])
    X = sp.csr_matrix((data, columns, np.array([0, 2, 3])), shape=(2, 2))
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    prepared = Preparation.of(X, unit=False).apply(X)
    assert prepared.indices.dtype == np.int32
    assert prepared.nnz == 1
    assert_array_equal(X.data, [1, 2, 0])
    assert_array_equal(X.indices, [1, 1, 0])
