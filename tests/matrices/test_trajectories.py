"""Random walks by products with sparse edges, against the eigendecomposition of the dense graph."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from partita import Ensemble, config_context
from partita.datasets import make_mixed_partitions
from partita.matrices import incidence, trajectories, trajectory_similarity
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
    graph = sp.block_diag([random_graph(40, 0), random_graph(35, 1)], format="csr")
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
    assert trajectories._is_cheap(graph, 6)
    assert np.count_nonzero(np.diff(graph.indptr) == 0) == 3
    options = {"n_neighbors": 5, "n_steps": 6}
    similarity = trajectory_similarity(core, expand=False, **options)
    assert core.n_rows > 2 * core.n_base_clusters
    means = trajectories.cluster_trajectories(core, **options)
    with config_context(n_threads=1):
        again = trajectory_similarity(core, expand=False, **options)
    assert np.array_equal(similarity, again)

    monkeypatch.setattr(trajectories, "_is_cheap", lambda graph, n_steps: False)
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
    assert not trajectories._is_cheap(graph, 12)
