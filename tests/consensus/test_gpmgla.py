"""GP-MGLA against its published program, without reduction, and by hand."""

from __future__ import annotations

from operator import attrgetter

import numpy as np
import pytest
from published import within_sum_of_squares
from sklearn.metrics import adjusted_rand_score
from unreduced_crowd import (
    connected_triples_slowly,
    crowd_agreement_slowly,
    incidence_slowly,
    repeated,
)

from partita import GPMGLA, Ensemble, config_context
from partita.datasets import make_partitions
from partita.matrices import connected_triples, crowd_agreement, incidence
from partita.solvers import transfer_cut_embedding
from references import load_cases


def embedding(ensemble, n_clusters, alpha=0.5):
    """Eigenvalues and sample vectors as the method computes them."""
    weight = crowd_agreement(ensemble) ** 2
    graph = incidence(ensemble, alpha * np.repeat(weight, ensemble.n_clusters))
    links = connected_triples(ensemble, weight)
    values, vectors = transfer_cut_embedding(graph, ensemble.weights, n_clusters, links)
    return values, ensemble.expand(vectors)


def tcut_slowly(graph, n_samples, n_clusters):
    """The transfer cut step by step, on a dense graph; vectors of the first rows."""
    d_x, d_y = graph.sum(axis=1), graph.sum(axis=0)
    W = graph.T @ (graph / d_x[:, None])
    values, V = np.linalg.eigh(W / np.sqrt(np.outer(d_y, d_y)))
    T = (graph / d_x[:, None]) @ (V[:, ::-1][:, :n_clusters] / np.sqrt(d_y)[:, None])
    T = T[:n_samples]
    return values[::-1][:n_clusters], T / (np.linalg.norm(T, axis=1, keepdims=True) + 1e-10)


@pytest.mark.shared
def test_published_graph_and_labels(oracle):
    published = oracle("weac_gpmgla")
    ensemble = Ensemble.from_partitions(oracle.labels)
    n = len(oracle.labels)
    weight = crowd_agreement(ensemble) ** 2
    B = incidence(ensemble, 0.5 * np.repeat(weight, ensemble.n_clusters)).toarray()
    np.testing.assert_allclose(B, published["GPMGLA_B"][:n], rtol=0, atol=1e-13)
    links = connected_triples(ensemble, weight)
    np.testing.assert_allclose(links, published["GPMGLA_B"][n:], rtol=0, atol=1e-13)

    theirs = tcut_slowly(published["GPMGLA_B"], n, oracle.n_clusters)[1]
    ours = embedding(ensemble.compress(), oracle.n_clusters)[1]
    np.testing.assert_allclose(ours @ ours.T, theirs @ theirs.T, rtol=0, atol=1e-10)
    method = GPMGLA(oracle.n_clusters, n_init=20, random_state=0).fit(oracle.labels)
    inertia = within_sum_of_squares(theirs, published["labels_GPMGLA"])
    assert method.objective_ <= inertia * (1 + 1e-9), "a poorer optimum than the published run"
    same_optimum = method.objective_ > inertia * (1 - 1e-9)
    agreement = adjusted_rand_score(method.labels_, published["labels_GPMGLA"])
    assert agreement >= (1.0 if same_optimum else 0.95)


@pytest.mark.parametrize("case", load_cases("gpmgla"), ids=attrgetter("name"))
def test_links_and_embedding_of_the_program(case):
    """Intermediate values of the reference file."""
    expected = case.intermediate
    ensemble = Ensemble.from_partitions(case.partitions)
    links = connected_triples(ensemble, crowd_agreement(ensemble) ** 2)
    np.testing.assert_allclose(links.sum(axis=1)[::8], expected["link_sums"], rtol=1e-12)
    values, vectors = embedding(ensemble.compress(), case.parameters["n_clusters"])
    np.testing.assert_allclose(values, expected["eigenvalues"], rtol=0, atol=1e-12)
    gram = (vectors @ vectors.sum(axis=0))[:: expected["every"]]
    np.testing.assert_allclose(gram, expected["gram_row_sums"], rtol=1e-10)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_reduced_equals_unreduced(missing):
    labels = repeated(
        make_partitions(40, 6, 4, noise=0.3, missing_ratio=missing, random_state=8)[0]
    )
    weight = crowd_agreement_slowly(labels) ** 2
    B, partition = incidence_slowly(labels)
    links = connected_triples_slowly(labels, weight)
    ensemble = Ensemble.from_partitions(labels)
    np.testing.assert_allclose(connected_triples(ensemble, weight), links, rtol=0, atol=1e-12)
    stacked = np.vstack([0.3 * B * weight[partition], links])
    expected_values, expected = tcut_slowly(stacked, len(labels), 4)
    values, vectors = embedding(ensemble.compress(), 4, alpha=0.3)
    np.testing.assert_allclose(values, expected_values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(vectors @ vectors.T, expected @ expected.T, rtol=0, atol=1e-8)


def test_three_samples_by_hand():
    """Clusters A = {1, 2}, B = {3} | C = {1}, D = {2, 3}, both partitions with weight 1.

    Jaccard: AC = BD = 1/2, AD = 1/3, 1 with itself and 0 elsewhere. Common to A and B: min over D
    is 1/3. A and C: A itself 1/2, C itself 1/2, so 1. A and D: 1/3 + 1/3. The largest sum is A's
    with itself, 1 + 1/2 + 1/3 = 11/6.
    """
    ensemble = Ensemble.from_partitions([[0, 0, 1], [0, 1, 1]])
    found = connected_triples(ensemble, np.ones(2)) * 11 / 6
    ab, ac, ad, bc, bd, cd = 1 / 3, 1, 2 / 3, 0, 1, 1 / 3
    expected = np.array([[0, ab, ac, ad], [ab, 0, bc, bd], [ac, bc, 0, cd], [ad, bd, cd, 0]])
    np.fill_diagonal(expected, 11 / 6)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15)


def test_no_matrix_of_samples():
    labels, truth = make_partitions(5000, 20, 5, noise=0.3)
    with config_context(memory_budget=20 * 2**20):
        found = GPMGLA(5, random_state=0).fit_predict(labels)
    assert adjusted_rand_score(truth, found) > 0.95


def test_refusals():
    labels = make_partitions()[0]
    with pytest.raises(ValueError, match="alpha"):
        GPMGLA(3, alpha=0).fit(labels)
