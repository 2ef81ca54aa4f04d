"""LCE against its definitions on all samples, and an example worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import cut_tree, linkage
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score
from unreduced_crowd import repeated
from unreduced_links import (
    cluster_links_slowly,
    link_similarity_slowly,
    refined_slowly,
    simrank_slowly,
)

from partita import LCE, Ensemble, coassociation, config_context
from partita.datasets import make_partitions
from partita.exceptions import MemoryBudgetError
from partita.matrices import cluster_links, link_similarity, refined_association
from partita.solvers.transfer_cuts import transfer_cut_embedding
from partita.testing import consensus_checks

SIMILARITIES = ("cts", "srs", "asrs")


@pytest.fixture(params=[0.0, 0.25], ids=["complete", "incomplete"])
def labels(request):
    once = make_partitions(25, 6, 4, noise=0.3, missing_ratio=request.param, random_state=4)[0]
    return repeated(once)


@pytest.mark.parametrize("n_steps", [1, 2, 5])
def test_simrank_of_distinct_rows(labels, n_steps):
    """Sums over weighted rows, with the diagonal part, are those over all samples."""
    S, C = simrank_slowly(labels, 0.7, n_steps)
    ensemble = Ensemble.from_partitions(labels)
    options = {"similarity": "srs", "decay": 0.7, "n_steps": n_steps}
    np.testing.assert_allclose(cluster_links(ensemble, **options), C, rtol=0, atol=1e-14)
    np.testing.assert_allclose(link_similarity(labels, **options), S, rtol=0, atol=1e-14)


@pytest.mark.parametrize("similarity", ["cts", "asrs"])
def test_links_of_clusters(labels, similarity):
    found = cluster_links(Ensemble.from_partitions(labels), similarity=similarity, decay=0.6)
    expected = cluster_links_slowly(labels, similarity, 0.6)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)
    assert np.sort(np.unique(found))[-2] == 0.6  # the most similar pair of different clusters


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_similarity_of_samples(labels, similarity):
    found = link_similarity(labels, similarity=similarity)
    expected = link_similarity_slowly(labels, similarity, 0.8, 5)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)
    reduced = link_similarity(labels, similarity=similarity, expand=False)
    np.testing.assert_array_equal(reduced, reduced.T)


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_refined_association(labels, similarity):
    ensemble = Ensemble.from_partitions(labels)
    links = cluster_links(ensemble, similarity=similarity)
    found = refined_association(ensemble, similarity=similarity)
    np.testing.assert_allclose(found, refined_slowly(labels, links), rtol=0, atol=1e-15)


@pytest.mark.parametrize("rule", ["average", "single", "complete"])
def test_tree_of_all_samples(rule):
    """With connected triples, equal samples have similarity 1: the tree is that of all samples."""
    labels = repeated(make_partitions(40, 14, 4, noise=0.4, random_state=8)[0])
    matrix = link_similarity_slowly(labels, "cts", 0.8, 1)
    tree = linkage(squareform(1 - matrix, checks=False), rule)
    method = LCE(4, linkage=rule).fit(labels)
    n_repeats = len(labels) - method.tree_.n_rows
    np.testing.assert_allclose(method.tree_.height, tree[n_repeats:, 2], rtol=0, atol=1e-12)
    assert adjusted_rand_score(method.labels_, cut_tree(tree, 4).ravel()) == 1.0


@pytest.mark.parametrize("similarity", ["srs", "asrs"])
def test_tree_of_distinct_rows(similarity):
    """Without repeated samples there is nothing to merge first."""
    labels = make_partitions(40, 14, 4, noise=0.4, random_state=8)[0]
    matrix = link_similarity_slowly(labels, similarity, 0.8, 5)
    tree = linkage(squareform(1 - matrix, checks=False), "average")
    method = LCE(4, similarity=similarity).fit(labels)
    assert method.tree_.n_rows == 40
    np.testing.assert_allclose(method.tree_.height, tree[:, 2], rtol=0, atol=1e-12)
    assert adjusted_rand_score(method.labels_, cut_tree(tree, 4).ravel()) == 1.0


def test_cut_of_all_samples(labels):
    """The embedding of weighted rows is that of all samples, up to a rotation."""
    ensemble = Ensemble.from_partitions(labels)
    core = ensemble.compress()
    graph = refined_slowly(labels, cluster_links_slowly(labels, "cts", 0.8))
    values, vectors = transfer_cut_embedding(graph, np.ones(len(labels)), 4)
    reduced_values, reduced = transfer_cut_embedding(refined_association(core), core.weights, 4)
    np.testing.assert_allclose(reduced_values, values, rtol=0, atol=1e-12)
    found = core.expand(reduced)
    np.testing.assert_allclose(found @ found.T, vectors @ vectors.T, rtol=0, atol=1e-9)


def test_three_samples_by_hand():
    """Clusters A = {1, 2}, B = {3} | C = {1}, D = {2, 3}.

    J_AC = J_BD = 1/2, J_AD = 1/3, J_BC = 0. Triples: A and B share D with min(1/3, 1/2) = 1/3, C
    and D share A with 1/3: both are the largest and become 0.8. Products: A and B have 1/6 over 2 *
    1 neighbors, as have C and D, A and D have 0, so that all similarities of pairs are 0.8 or 0.
    SimRank after one update: samples 1 and 2 share A of 2 * 2 pairs: 0.8 / 4.
    """
    partitions = [[0, 0, 1], [0, 1, 1]]
    near, far = (1 + 0.8) / 2, 0.8
    expected = np.array([[1, near, far], [near, 1, near], [far, near, 1]])
    np.testing.assert_allclose(link_similarity(partitions), expected, rtol=0, atol=1e-15)
    # A with C, A with D, ...: pairs of different partitions share no third cluster
    near, far = (1 + 0.8) / 4, 2 * 0.8 / 4
    expected = np.array([[1, near, far], [near, 1, near], [far, near, 1]])
    found = link_similarity(partitions, similarity="asrs")
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15)
    found = link_similarity(partitions, similarity="srs", n_steps=1)
    np.testing.assert_allclose(found[0], [1, 0.2, 0], rtol=0, atol=1e-15)


def test_small_decay_gives_coassociation():
    labels = make_partitions(30, 8, 3, noise=0.3, random_state=2)[0]
    found = link_similarity(labels, decay=1e-12)
    np.testing.assert_allclose(found, coassociation(labels), rtol=0, atol=1e-11)


def test_partition_without_links():
    """One cluster per partition: nothing overlaps another cluster of the same partition."""
    np.testing.assert_array_equal(cluster_links([[0, 0, 1, 1]]), np.eye(2))
    np.testing.assert_array_equal(link_similarity([[0, 0, 1, 1]])[0], [1, 1, 0, 0])
    assert cluster_links([[0, 0], [1, 1]], similarity="asrs").shape == (2, 2)


@pytest.mark.parametrize("similarity", SIMILARITIES)
@pytest.mark.parametrize("assign_labels", ["hierarchical", "spectral"])
def test_planted_clusters(similarity, assign_labels):
    labels, y = make_partitions(200, 15, 4, noise=0.3, missing_ratio=0.1, random_state=0)
    method = LCE(4, similarity=similarity, assign_labels=assign_labels, random_state=0)
    assert adjusted_rand_score(y, method.fit_predict(labels)) > 0.97


@pytest.mark.parametrize(
    "method",
    [
        LCE(similarity="srs"),
        LCE(similarity="asrs"),
        LCE(assign_labels="spectral"),
        LCE(similarity="srs", assign_labels="spectral"),
    ],
    ids=["srs", "asrs", "spectral", "srs-spectral"],
)
@pytest.mark.parametrize("check", list(consensus_checks()), ids=lambda c: c.__name__)
def test_battery_of_variants(method, check):
    check(method)


def test_the_cut_needs_no_matrix_of_samples():
    labels, y = make_partitions(5000, 10, 5, noise=0.3)
    with config_context(memory_budget=30 * 2**20):
        found = LCE(5, assign_labels="spectral", random_state=0).fit_predict(labels)
        with pytest.raises(MemoryBudgetError, match="LCE"):
            LCE(5).fit(labels)
    assert adjusted_rand_score(y, found) > 0.85


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("similarity", "wct"), ("decay", 0.0), ("decay", 1.5), ("n_steps", 0), ("linkage", "ward")],
)
def test_bad_parameters(parameter, value):
    with pytest.raises(ValueError, match=parameter):
        LCE(2, **{parameter: value}).fit([[0, 0, 1, 1], [0, 1, 1, 0]])
    if parameter != "linkage":
        with pytest.raises(ValueError, match=parameter):
            link_similarity([[0, 0, 1, 1], [0, 1, 1, 0]], **{parameter: value})
