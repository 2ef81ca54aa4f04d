"""Random walks by products with sparse edges, against the eigendecomposition of the dense graph."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from partita import Ensemble, config_context
from partita.datasets import make_mixed_partitions
from partita.matrices import _late_steps, incidence, trajectories, trajectory_similarity
from partita.matrices._sparse_walks import SparseWalks


def random_graph(n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    graph = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.15), 1)
    graph[np.arange(n - 1), np.arange(1, n)] = 0.5  # a path: no node is isolated
    return graph + graph.T


@pytest.mark.parametrize("n_steps", [1, 2, 7])
@pytest.mark.parametrize("n", [5, 33, 70])  # less than a block of columns, one more, several
def test_sparse_walks_are_those_of_the_eigenvectors(n, n_steps):
    graph = random_graph(n, seed=n)
    weights = np.random.default_rng(1).integers(1, 5, n).astype(float)
    expected = trajectories.walk_similarity(graph.copy(), weights, n_steps, 0.0)
    walks = SparseWalks(sp.csr_matrix(graph), weights, n_steps)
    similarity = walks.similarity()
    np.testing.assert_allclose(similarity, expected, rtol=0, atol=1e-12)
    assert np.array_equal(similarity, similarity.T)
    groups = (np.random.default_rng(2).random((n, 40)) < 0.3) * 1.0
    sums = walks.similarity_sums(sp.csr_matrix(groups))
    np.testing.assert_allclose(sums, expected @ groups, rtol=0, atol=1e-11)


def test_separate_components_never_meet():
    parts = [sp.csr_matrix(random_graph(40, 0)), random_graph(35, 1)]
    graph = sp.block_diag(parts, format="csr")
    similarity = SparseWalks(graph, np.ones(75), 20).similarity()
    assert np.all(similarity[:40, 40:] == 0.0)
    assert np.all(similarity[:40, :40].diagonal() > 0.99)


@pytest.fixture(scope="module")
def core() -> Ensemble:
    """Return 1003 rows, of which three agree with no other."""
    options = {"n_pieces": 6, "noise": 0.2, "k_min": 8, "k_max": 16}
    labels = make_mixed_partitions(1000, 30, 5, random_state=0, **options)[0]
    alone = labels.max() + 1 + np.arange(3)
    return Ensemble.from_partitions(
        np.vstack([labels, np.tile(alone[:, None], (1, 30))])
    ).compress()


def test_both_ways_agree_where_products_are_chosen(core, monkeypatch):
    """Isolated rows included: their similarity to all rows is the smallest one."""
    graph = trajectories.elite_graph(core, 5)
    linked = np.flatnonzero(np.diff(graph.indptr))
    assert trajectories._cheap_walks(graph[linked][:, linked], np.ones(1000), 6) is not None
    assert np.count_nonzero(np.diff(graph.indptr) == 0) == 3
    options = {"n_neighbors": 5, "n_steps": 6}
    similarity = trajectory_similarity(core, expand=False, **options)
    assert core.n_rows > 2 * core.n_base_clusters
    means = trajectories.cluster_trajectories(core, **options)
    with config_context(n_threads=1):
        again = trajectory_similarity(core, expand=False, **options)
    assert np.array_equal(similarity, again)

    monkeypatch.setattr(trajectories, "_cheap_walks", lambda *arguments: None)
    expected = trajectory_similarity(core, expand=False, **options)
    np.testing.assert_allclose(similarity, expected, rtol=0, atol=1e-12)
    B = incidence(core).toarray()
    np.testing.assert_allclose(means, expected @ B / B.sum(axis=0), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(
        trajectories.cluster_trajectories(core, **options), means, rtol=1e-11, atol=1e-13
    )


def test_many_ties_are_left_to_the_eigenvectors():
    """Products cost more than an eigendecomposition if most rows are neighbors."""
    rows = np.indices((6, 6, 6, 3)).reshape(4, -1).T  # all combinations of labels
    graph = trajectories.elite_graph(Ensemble.from_partitions(rows).compress(), 20)
    assert trajectories._cheap_walks(graph, np.ones(graph.shape[0]), 12) is None


@pytest.fixture(scope="module")
def mixing_graph() -> sp.csr_matrix:
    """Return a graph of 300 nodes in three groups, each linked to a third of its group."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(3), 100)
    chance = np.where(group[:, None] == group, 0.35, 0.02)
    edges = np.triu(rng.random((300, 300)) < chance, 1) * rng.random((300, 300))
    return sp.csr_matrix(edges + edges.T)


def test_late_steps_are_those_of_few_eigenvectors(mixing_graph):
    weights = np.random.default_rng(1).integers(1, 5, 300).astype(float)
    walks = SparseWalks(mixing_graph, weights, 20)
    assert walks.n_early < 12
    expected = trajectories._dense_similarity(mixing_graph.toarray(), weights, 20)
    similarity = walks.similarity()
    np.testing.assert_allclose(similarity, expected, rtol=0, atol=1e-10)
    assert np.array_equal(similarity, similarity.T)
    groups = (np.random.default_rng(2).random((300, 40)) < 0.3) * 1.0
    sums = walks.similarity_sums(sp.csr_matrix(groups))
    np.testing.assert_allclose(sums, expected @ groups, rtol=0, atol=300e-10)


def test_late_steps_count(mixing_graph):
    """Without them the result is another one."""
    weights = np.ones(300)
    walks = SparseWalks(mixing_graph, weights, 20)
    early = SparseWalks(mixing_graph, weights, walks.n_early).similarity()
    assert np.abs(walks.similarity() - early).max() > 1e-3


def test_late_steps_with_eigenvalues_of_two_vectors():
    """The graph of a ring has them. Lanczos may miss one: then it counts as what is left over."""
    distance = np.abs(np.arange(300)[:, None] - np.arange(300))
    graph = (np.minimum(distance, 300 - distance) <= 12) * 1.0
    walks = SparseWalks(sp.csr_matrix(graph), np.ones(300), 60)
    assert walks.n_early < 40
    expected = trajectories._dense_similarity(graph, np.ones(300), 60)
    np.testing.assert_allclose(walks.similarity(), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("case", ["components", "two sides", "a long path"])
def test_walks_that_never_meet_have_no_late_steps(mixing_graph, case):
    """Their similarity is 0, which an approximation would not keep."""
    if case == "components":
        graph = sp.block_diag([mixing_graph, mixing_graph], format="csr")
    elif case == "two sides":
        graph = sp.bmat([[None, mixing_graph], [mixing_graph, None]], format="csr")
    else:
        path = sp.diags([np.ones(49), np.ones(49)], [1, -1])
        graph = sp.block_diag([mixing_graph, path]).tolil()
        graph[299, 300] = graph[300, 299] = 1.0
    weights = np.ones(graph.shape[0])
    walks = SparseWalks(sp.csr_matrix(graph), weights, 20)
    assert walks.n_early == 20
    similarity = walks.similarity()
    expected = trajectories._dense_similarity(graph.toarray(), weights, 20)
    np.testing.assert_allclose(similarity, expected, rtol=0, atol=1e-12)
    assert np.any(similarity == 0.0)


def test_uneven_walks_have_no_late_steps(mixing_graph):
    weights = np.ones(300)
    assert SparseWalks(mixing_graph, weights, 20).n_early < 20
    weights[7] = 1e-6
    assert SparseWalks(mixing_graph, weights, 20).n_early == 20


def test_no_late_steps_without_eigenvectors(mixing_graph, monkeypatch):
    monkeypatch.setattr(_late_steps, "_RESTARTS", 1)
    assert SparseWalks(mixing_graph, np.ones(300), 20).n_early == 20
