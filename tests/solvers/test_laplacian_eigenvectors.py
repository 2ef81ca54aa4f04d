"""The smallest eigenvectors of a large Laplacian by its inverse against those of LAPACK."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import eigh

from partita.solvers import laplacian_eigenvectors
from partita.solvers.laplacian_eigenvectors import smallest_eigenvectors


def ring_of_groups(n, n_groups, share, rng):
    """Return a connected graph, above the diagonal, and weights of rows."""
    group = np.arange(n) * n_groups // n
    is_edge = (rng.random((n, n)) < share) & (group[:, None] == group)
    is_edge |= np.subtract.outer(np.arange(n), np.arange(n)) == -1
    S = np.triu(np.where(is_edge, rng.uniform(0.3, 1.0, (n, n)), 0.0), 1)
    return S, rng.integers(1, 4, n).astype(float)


@pytest.mark.parametrize("share", [0.02, 0.9], ids=["sparse", "dense"])
def test_large_graph(share, monkeypatch):
    S, weights = ring_of_groups(600, 5, share, np.random.default_rng(0))
    monkeypatch.setattr(laplacian_eigenvectors, "_SMALL", 100)
    monkeypatch.setattr(laplacian_eigenvectors, "eigh", only_small(laplacian_eigenvectors.eigh))
    compare(S, weights, 5)


def test_equal_eigenvalues_are_left_to_lapack():
    """A complete graph: no gap after the requested eigenvalues."""
    n = 650
    compare(np.triu(np.ones((n, n)), 1), np.ones(n), 3, same_vectors=False)


def only_small(eigh_of_any_size):
    def refuse_large(matrix, **options):
        assert len(matrix) < 20
        return eigh_of_any_size(matrix, **options)

    return refuse_large


def compare(S, weights, n_values, *, same_vectors=True):
    root = np.sqrt(weights)
    degree = (S + S.T) @ weights
    laplacian = np.diag(degree) - (S + S.T) * np.outer(root, root)
    values, vectors = smallest_eigenvectors(sp.csr_matrix(S), degree, root, n_values)
    expected, expected_vectors = eigh(laplacian, subset_by_index=(0, n_values - 1))
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-11)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(n_values), rtol=0, atol=1e-12)
    np.testing.assert_allclose(laplacian @ vectors, vectors * values, rtol=0, atol=1e-9)
    if same_vectors:
        overlap = np.abs(vectors.T @ expected_vectors)
        np.testing.assert_allclose(overlap, np.eye(n_values), rtol=0, atol=1e-9)
