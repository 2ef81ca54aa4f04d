"""Transfer cuts: links between columns, and graphs in separate parts."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp

from partita import CCGP, HBGF, LWGP, adjusted_rand
from partita.ensemble import as_ensemble
from partita.matrices.label_graph import LabelGraph
from partita.solvers import transfer_cut_embedding
from partita.solvers.components import bipartite_components


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_links_are_further_rows_of_weight_one(form):
    rng = np.random.default_rng(0)
    graph = rng.random((30, 7)) * (rng.random((30, 7)) < 0.5)
    graph[:, 4] = 0.0  # a column tied to others by links only
    graph[:, 6] = 0.0  # a column tied to nothing
    graph[:, 0] += 0.1
    links = rng.random((9, 7))
    links[:, 6] = 0.0
    weights = rng.integers(1, 5, 30).astype(float)
    stacked, all_weights = np.vstack([graph, links]), np.concatenate([weights, np.ones(9)])
    expected_values, expected = transfer_cut_embedding(stacked, all_weights, 3)
    values, embedding = transfer_cut_embedding(form(graph), weights, 3, links)
    np.testing.assert_allclose(values, expected_values, rtol=0, atol=1e-13)
    assert embedding.shape == (30, 3)
    np.testing.assert_allclose(
        embedding @ embedding.T, expected[:30] @ expected[:30].T, rtol=0, atol=1e-12
    )


def labels_in_parts(n: int, n_partitions: int, n_parts: int) -> tuple[np.ndarray, np.ndarray]:
    """Return partitions that split every part into pieces and never join two of them."""
    rng = np.random.default_rng(0)
    part = rng.integers(0, n_parts, n)
    n_pieces = rng.integers(2, 9, (n_partitions, n_parts))
    labels = [10 * part + (rng.random(n) * pieces[part]).astype(int) for pieces in n_pieces]
    return np.column_stack(labels), part


@cache
def seven_parts(n_partitions: int) -> tuple[LabelGraph, np.ndarray, np.ndarray, np.ndarray]:
    """Return a graph in seven parts, its weights, its matrix, and its eigenvalues by LAPACK."""
    labels, _ = labels_in_parts(1300, n_partitions, 7)
    core = as_ensemble(labels).compress()
    graph = LabelGraph(core)
    B = graph.tocsr().toarray()
    scaled = np.sqrt(core.weights / B.sum(axis=1))[:, None] * B / np.sqrt(core.weights @ B)
    return graph, core.weights, B, np.linalg.svd(scaled, compute_uv=False) ** 2


@pytest.mark.parametrize("n_partitions", [20, 60])  # fewer and more base clusters than rows
@pytest.mark.parametrize("form", ["labels", "sparse", "dense"])
@pytest.mark.parametrize("n_components", [4, 7, 10])
def test_a_graph_in_seven_parts_has_seven_eigenvalues_of_one(form, n_partitions, n_components):
    """Lanczos alone returns some of them, and smaller eigenvalues in place of the others."""
    graph, weights, B, expected = seven_parts(n_partitions)
    assert min(B.shape) > 500  # not decomposed by LAPACK
    form_of = {"labels": lambda: graph, "sparse": graph.tocsr, "dense": B.copy}
    values, embedding = transfer_cut_embedding(form_of[form](), weights, n_components)
    np.testing.assert_allclose(values, expected[:n_components], rtol=0, atol=1e-9)
    if n_components >= 7:  # rows of different parts are orthogonal
        rows, _ = bipartite_components(graph)
        inner = embedding @ embedding.T
        np.testing.assert_allclose(inner[rows[:, None] != rows], 0.0, rtol=0, atol=1e-7)
        assert len(np.unique(rows)) == 7


@pytest.mark.parametrize("method", [CCGP, HBGF, LWGP])
def test_separate_clusters_are_found(method):
    labels, part = labels_in_parts(1300, 60, 12)
    assert adjusted_rand(part, method(12, random_state=0).fit_predict(labels)) == 1.0


def test_parts_with_links_between_columns(monkeypatch):
    monkeypatch.setattr("partita.solvers.spectral._DENSE", 5)
    graph = np.kron(np.eye(3), np.random.default_rng(0).random((12, 8)))
    links = np.kron(np.eye(3), np.random.default_rng(1).random((2, 8)))
    values, _ = transfer_cut_embedding(graph, np.ones(36), 4, links)
    np.testing.assert_allclose(values[:3], 1.0, rtol=0, atol=1e-12)
    assert values[3] < 0.9


def test_a_row_without_edges_is_no_part(monkeypatch):
    monkeypatch.setattr("partita.solvers.spectral._FORMED", 5)
    graph = np.kron(np.eye(2), np.random.default_rng(0).random((10, 30)))  # rows are fewer
    graph[3] = 0.0
    values, embedding = transfer_cut_embedding(graph, np.ones(20), 4)
    expected = transfer_cut_embedding(np.delete(graph, 3, axis=0), np.ones(19), 4)[0]
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(values[:2], 1.0, rtol=0, atol=1e-9)
    assert values[2] < 0.9
    assert not embedding[3].any()
