"""The graph of rows and clusters by look-up, beside the sparse matrix it stands for."""

from __future__ import annotations

import numpy as np
import pytest

from partita import Ensemble, config_context
from partita.datasets import make_partitions
from partita.matrices import cluster_overlaps, incidence
from partita.matrices.label_graph import LabelGraph, is_gram_cheaper
from partita.solvers.bipartite import bipartite_embedding
from partita.solvers.components import bipartite_components
from partita.solvers.transfer_cuts import transfer_cut_embedding


@pytest.fixture(params=[0.0, 0.3], ids=["complete", "incomplete"])
def core(request):
    """More than 500 clusters, which are fewer than the rows, and rows of different weights."""
    labels = make_partitions(900, 60, 9, noise=0.4, missing_ratio=request.param, random_state=2)[0]
    core = Ensemble.from_partitions(np.vstack([labels, labels[:50]])).compress()
    assert 500 < core.n_base_clusters < core.n_rows
    assert core.weights.max() > 1
    return core


@pytest.mark.parametrize("n_threads", [1, 2])
def test_products_are_those_of_the_matrix(core, n_threads, monkeypatch):
    monkeypatch.setattr("partita._threads._SMALL", 0)  # work for every thread
    monkeypatch.setattr("partita.scale._rows._BLOCK", 100)
    rng = np.random.default_rng(0)
    left, right = rng.random(core.n_rows), rng.random(core.n_base_clusters)
    graph = LabelGraph(core, right).scaled(left, np.full(core.n_base_clusters, 3.0))
    matrix = left[:, None] * incidence(core).toarray() * (3.0 * right)
    v, u = rng.normal(size=core.n_base_clusters), rng.normal(size=core.n_rows)
    with config_context(n_threads=n_threads):
        np.testing.assert_allclose(graph @ v, matrix @ v, rtol=0, atol=1e-12)
        np.testing.assert_allclose(graph.T @ u, matrix.T @ u, rtol=0, atol=1e-12)
        V = rng.normal(size=(core.n_base_clusters, 3))
        np.testing.assert_allclose(graph @ V, matrix @ V, rtol=0, atol=1e-12)
        U = rng.normal(size=(core.n_rows, 3))
        np.testing.assert_allclose(graph.T @ U, matrix.T @ U, rtol=0, atol=1e-12)
    np.testing.assert_allclose(graph.tocsr().toarray(), matrix, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(LabelGraph(core).tocsr().toarray(), incidence(core).toarray())


def spans(vectors):
    """What does not depend on the signs of the vectors."""
    return vectors[::40] @ vectors.T


def test_a_cut_is_that_of_the_matrix_which_is_not_formed(core, monkeypatch):
    certainty = np.random.default_rng(1).uniform(0.2, 1.0, core.n_base_clusters)
    values, vectors = transfer_cut_embedding(incidence(core, certainty), core.weights, 6)
    rows, columns = bipartite_embedding(incidence(core), core.weights, 6)
    monkeypatch.setattr(LabelGraph, "tocsr", lambda self: pytest.fail("formed"))
    found, embedding = transfer_cut_embedding(LabelGraph(core, certainty), core.weights, 6)
    np.testing.assert_allclose(found, values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(spans(embedding), spans(vectors), rtol=0, atol=1e-9)
    of_rows, of_columns = bipartite_embedding(LabelGraph(core), core.weights, 6)
    np.testing.assert_allclose(spans(of_rows), spans(rows), rtol=0, atol=1e-9)
    np.testing.assert_allclose(spans(of_columns), spans(columns), rtol=0, atol=1e-9)


def test_a_small_graph_and_one_with_more_clusters_than_rows_are_formed():
    for n, m in ((300, 8), (80, 60)):
        labels = make_partitions(n, m, 9, noise=0.4, random_state=3)[0]
        core = Ensemble.from_partitions(labels).compress()
        assert core.n_base_clusters <= 500 or core.n_base_clusters > core.n_rows
        values, vectors = transfer_cut_embedding(incidence(core), core.weights, 4)
        found, embedding = transfer_cut_embedding(LabelGraph(core), core.weights, 4)
        np.testing.assert_allclose(found, values, rtol=0, atol=1e-13)
        np.testing.assert_allclose(spans(embedding), spans(vectors), rtol=0, atol=1e-10)


def test_a_cluster_without_edges_takes_no_part():
    labels = make_partitions(1200, 70, 9, noise=0.4, random_state=4)[0]
    core = Ensemble.from_partitions(labels).compress()
    certainty = np.ones(core.n_base_clusters)
    certainty[::50] = 0.0  # no edge leads there
    values, vectors = transfer_cut_embedding(incidence(core, certainty), core.weights, 5)
    found, embedding = transfer_cut_embedding(LabelGraph(core, certainty), core.weights, 5)
    np.testing.assert_allclose(found, values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(spans(embedding), spans(vectors), rtol=0, atol=1e-9)


def test_the_product_of_the_graph_with_itself(core):
    rng = np.random.default_rng(5)
    left, right = rng.random(core.n_rows), rng.random(core.n_base_clusters)
    matrix = left[:, None] * incidence(core).toarray() * right
    graph = LabelGraph(core).scaled(left, right)
    np.testing.assert_allclose(graph.column_gram(), matrix.T @ matrix, rtol=0, atol=1e-12)


@pytest.mark.parametrize("is_cheaper", [True, False])
def test_a_cut_does_not_depend_on_what_is_formed(core, is_cheaper, monkeypatch):
    expected_values, expected = transfer_cut_embedding(incidence(core), core.weights, 6)
    name = "partita.matrices.label_graph.is_gram_cheaper"
    monkeypatch.setattr(name, lambda *size: is_cheaper)
    formed = []
    column_gram = LabelGraph.column_gram
    monkeypatch.setattr(
        LabelGraph, "column_gram", lambda self: formed.append(self) or column_gram(self)
    )
    values, vectors = transfer_cut_embedding(LabelGraph(core), core.weights, 6)
    assert len(formed) == is_cheaper
    np.testing.assert_allclose(values, expected_values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(spans(vectors), spans(expected), rtol=0, atol=1e-9)


def test_look_ups_give_what_the_small_matrix_gives(core, monkeypatch):
    rng = np.random.default_rng(6)
    V, u = rng.normal(size=(core.n_base_clusters, 3)), rng.normal(size=core.n_rows)
    small = LabelGraph(core, rng.random(core.n_base_clusters))
    assert small._incidence is not None
    monkeypatch.setattr("partita.matrices.label_graph._SMALL", 0)
    large = LabelGraph(core, small.cluster_factors)
    assert large._incidence is None
    for by_matrix, by_look_up in ((small @ V, large @ V), (small.T @ u, large.T @ u)):
        np.testing.assert_allclose(by_look_up, by_matrix, rtol=0, atol=1e-12)


def test_a_product_is_formed_for_few_partitions_with_few_clusters():
    assert is_gram_cheaper(50_000, 20, 1215)
    assert not is_gram_cheaper(20_000, 100, 5675)  # too many pairs of labels
    assert not is_gram_cheaper(5000, 20, 2000)  # too large a product


def test_overlaps_are_the_product_of_the_matrix_with_itself(core):
    B = incidence(core).toarray()
    expected = B.T @ (core.weights[:, None] * B)
    np.testing.assert_array_equal(cluster_overlaps(core), expected)


@pytest.mark.parametrize("missing", [0.0, 0.6])
@pytest.mark.parametrize("n_parts", [1, 4])
def test_components_are_those_of_the_matrix(missing, n_parts):
    rng = np.random.default_rng(0)
    part = rng.integers(0, n_parts, 300)
    labels = 5 * part[:, None] + rng.integers(0, 5, (300, 8))
    labels[:, :-1][rng.random((300, 7)) < missing] = -1
    graph = LabelGraph(Ensemble.from_partitions(labels).compress())
    for ours, expected in zip(
        bipartite_components(graph), bipartite_components(graph.tocsr()), strict=True
    ):
        assert len(np.unique(np.column_stack([ours, expected]), axis=0)) == expected.max() + 1
        assert len(np.unique(ours)) == expected.max() + 1
