"""Spectral steps: weights as repeats, three forms of one affinity, rotation-free comparison."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence
from sklearn.metrics import adjusted_rand_score

from partita.solvers import (
    connected_components,
    discretize,
    spectral_clustering,
    spectral_embedding,
    top_eigenvectors,
    transfer_cut,
    transfer_cut_embedding,
    weighted_kmeans,
)
from partita.solvers import spectral as spectral_module
from partita.solvers.spectral import Factored, normalize_rows


def gram(vectors):
    return vectors @ vectors.T


@pytest.fixture
def factor():
    rng = np.random.default_rng(0)
    blocks = np.kron(np.eye(3), np.ones((10, 4)))
    return blocks + 0.2 * rng.random(blocks.shape)


def full_embedding(affinity, k):
    d = affinity.sum(axis=1)
    values, vectors = np.linalg.eigh(affinity / np.sqrt(np.outer(d, d)))
    return values[::-1][:k], vectors[:, ::-1][:, :k]


def test_weighted_embedding_is_the_repeated_one(factor):
    affinity = factor @ factor.T
    times = np.random.default_rng(1).integers(1, 5, len(affinity))
    index = np.repeat(np.arange(len(affinity)), times)
    values, vectors = spectral_embedding(affinity, times.astype(float), 3)
    full_values, full_vectors = full_embedding(affinity[np.ix_(index, index)], 3)
    np.testing.assert_allclose(values, full_values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(gram(vectors[index]), gram(full_vectors), rtol=0, atol=1e-12)


@pytest.mark.parametrize("dense_up_to", [1500, 5], ids=["lapack", "lanczos"])
def test_dense_sparse_and_factored_agree(factor, dense_up_to, monkeypatch):
    monkeypatch.setattr(spectral_module, "_DENSE", dense_up_to)
    monkeypatch.setattr(spectral_module, "_FORMED", dense_up_to)
    affinity = factor @ factor.T
    weights = np.arange(1.0, len(affinity) + 1)
    forms = [
        affinity,
        sp.csr_matrix(affinity),
        Factored(factor),
        Factored(sp.csr_matrix(factor)),
        Factored(np.linalg.cholesky(affinity + 1e-12 * np.eye(len(affinity)))),
        Factored(np.hstack([factor, np.zeros((len(factor), 40))])),  # wider than tall
    ]
    expected_values, expected = spectral_embedding(affinity, weights, 3)
    for form in forms:
        values, vectors = spectral_embedding(form, weights, 3)
        np.testing.assert_allclose(values, expected_values, rtol=0, atol=1e-9)
        np.testing.assert_allclose(gram(vectors), gram(expected), rtol=0, atol=1e-9)


def test_spectral_clustering_finds_blocks(factor):
    truth = np.repeat([0, 1, 2], 10)
    result = spectral_clustering(factor @ factor.T, np.ones(30), 3, np.random.default_rng(0))
    assert adjusted_rand_score(truth, result) == 1.0


def test_top_eigenvectors_are_sorted_and_capped():
    values, vectors = top_eigenvectors(np.diag([1.0, 5.0, 3.0]), 9)
    np.testing.assert_allclose(values, [5, 3, 1])
    np.testing.assert_allclose(np.abs(vectors), np.eye(3)[:, [1, 2, 0]], rtol=0, atol=1e-12)


def transfer_cut_slowly(B, k):
    """Steps 1 to 4 of the published procedure on the unreduced graph."""
    d_x, d_y = B.sum(axis=1), B.sum(axis=0)
    W = B.T @ np.diag(1 / d_x) @ B
    N = W / np.sqrt(np.outer(d_y, d_y))
    values, V = np.linalg.eigh((N + N.T) / 2)
    V = V[:, ::-1][:, :k]
    T = np.diag(1 / d_x) @ B @ np.diag(d_y**-0.5) @ V
    return values[::-1][:k], T / (np.linalg.norm(T, axis=1, keepdims=True) + 1e-10)


@pytest.mark.parametrize("dense_up_to", [1500, 5], ids=["lapack", "lanczos"])
@pytest.mark.parametrize("wide", [False, True])
def test_transfer_cut(wide, dense_up_to, monkeypatch):
    monkeypatch.setattr(spectral_module, "_DENSE", dense_up_to)
    monkeypatch.setattr(spectral_module, "_FORMED", dense_up_to)
    rng = np.random.default_rng(2)
    B = rng.random((30, 50 if wide else 12)) * (rng.random((30, 50 if wide else 12)) < 0.6)
    B[:, 0] = 0.1
    times = rng.integers(1, 4, 30)
    expected_values, expected = transfer_cut_slowly(np.repeat(B, times, axis=0), 3)
    with_empty = np.hstack([B, np.zeros((30, 2))])  # empty clusters drop out
    for form in (B, sp.csr_matrix(B), with_empty):
        values, embedding = transfer_cut_embedding(form, times.astype(float), 3)
        np.testing.assert_allclose(values, expected_values, rtol=0, atol=1e-9)
        index = np.repeat(np.arange(30), times)
        np.testing.assert_allclose(gram(embedding[index]), gram(expected), rtol=0, atol=1e-8)


def test_transfer_cut_labels_blocks():
    B = np.kron(np.eye(3), np.ones((8, 2))) + 0.05
    labels, inertia = transfer_cut(B, np.ones(24), 3, np.random.default_rng(0))
    assert adjusted_rand_score(labels, np.repeat([0, 1, 2], 8)) == 1.0
    assert inertia == pytest.approx(0.0, abs=1e-12)


def test_kmeans_weights_are_repeats():
    rng = np.random.default_rng(4)
    points = np.concatenate([rng.normal(c, 0.3, (20, 2)) for c in (0, 3, 6)])
    times = rng.integers(1, 4, 60)
    labels, inertia = weighted_kmeans(points, times.astype(float), 3, np.random.default_rng(0))
    repeated = np.repeat(points, times, axis=0)
    again, full = weighted_kmeans(repeated, np.ones(len(repeated)), 3, np.random.default_rng(1))
    assert adjusted_rand_score(np.repeat(labels, times), again) == 1.0
    assert inertia == pytest.approx(full)


def test_discretize_recovers_a_rotated_partition():
    truth = np.repeat([0, 1, 2], [4, 9, 17])
    onehot = np.eye(3)[truth] / np.sqrt(np.bincount(truth))
    rotation, _ = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))
    noisy = onehot @ rotation + 1e-3 * np.random.default_rng(5).normal(size=onehot.shape)
    result = discretize(noisy, np.ones(30), np.random.default_rng(0))
    assert adjusted_rand_score(truth, result) == 1.0


def test_connected_components():
    graph = np.zeros((5, 5))
    graph[0, 1] = graph[3, 4] = 1e-300  # any non-zero is an edge, in either direction
    for form in (graph, sp.csr_matrix(graph)):
        count, labels = connected_components(form)
        assert count == 3
        np.testing.assert_array_equal(labels, [0, 0, 1, 2, 2])


def test_normalize_rows_leaves_zero_rows():
    result = normalize_rows(np.array([[3.0, 4.0], [0.0, 0.0]]))
    np.testing.assert_allclose(result, [[0.6, 0.8], [0, 0]])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("n_components", [3, 5, 8])
def test_affinities_in_five_parts_by_lanczos(form, n_components, monkeypatch):
    monkeypatch.setattr(spectral_module, "_DENSE", 5)
    monkeypatch.setattr(spectral_module, "_FORMED", 5)
    rng = np.random.default_rng(0)
    part = np.repeat(np.arange(5), 20)
    affinity = np.where(part[:, None] == part, rng.random((100, 100)), 0.0)
    affinity += affinity.T
    affinity[0] = affinity[:, 0] = 0.0  # a row without neighbors
    weights = rng.integers(1, 4, 100).astype(float)
    values, vectors = spectral_embedding(form(affinity), weights, n_components)
    root = np.sqrt(weights / np.maximum(affinity @ weights, 1e-10))
    expected = np.linalg.eigvalsh(affinity * np.outer(root, root))[::-1][:n_components]
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-9)
    full = vectors * np.sqrt(weights)[:, None]
    np.testing.assert_allclose(full.T @ full, np.eye(n_components), rtol=0, atol=1e-9)


def test_eigenvalues_that_lanczos_cannot_separate(monkeypatch):
    """The affinity of samples that are all different is the identity, nearly."""
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.standard_normal((400, 400)))[0]
    values = 1.0 - 1e-3 * np.linspace(0.0, 1.0, 400) ** 3  # close to each other at the top
    matrix = (basis * values) @ basis.T
    matrix = (matrix + matrix.T) / 2
    monkeypatch.setattr(spectral_module, "_DENSE", 100)
    with pytest.raises(ArpackNoConvergence):
        spectral_module._lanczos(matrix, 6, 400, None, max_restarts=40)
    found, vectors = top_eigenvectors(matrix, 6)
    np.testing.assert_allclose(found, values[:6], atol=1e-14)
    np.testing.assert_allclose(matrix @ vectors, vectors * found, atol=1e-13)
