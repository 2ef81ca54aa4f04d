"""Consensus on the edges of a graph, against loops over edges and nodes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from partita import Ensemble
from partita.datasets import make_partitions
from partita.metrics import adjusted_rand
from partita.structure import graph_consensus


def planted(seed=0, missing_ratio=0.0):
    """Partitions of four groups and a graph with most edges inside the groups."""
    labels, y = make_partitions(
        80, 12, 4, noise=0.15, missing_ratio=missing_ratio, balanced=True, random_state=seed
    )
    rng = np.random.default_rng(seed)
    chance = np.where(y[:, None] == y, 0.3, 0.01)
    return labels, y, sp.csr_matrix(np.triu(rng.random((80, 80)) < chance, 1).astype(float))


def core_slowly(adjacency):
    """Remove nodes with fewer than two edges until there is none."""
    adjacency = adjacency.copy()
    while True:
        leaves = (adjacency.sum(axis=1) < 2) & (adjacency.sum(axis=1) > 0)
        if not leaves.any():
            return adjacency
        adjacency[leaves] = False
        adjacency[:, leaves] = False


@pytest.mark.parametrize("missing_ratio", [0.0, 0.3])
def test_weights_are_those_of_the_definition(missing_ratio):
    labels, _, graph = planted(1, missing_ratio)
    graph = graph.tolil()
    graph[0] = graph[:, 0] = 0
    graph[0, 1] = 1  # a node with one edge
    graph = graph.tocsr()
    result = graph_consensus(labels, graph, min_weight=0.1)
    dense = (graph.toarray() + graph.toarray().T) > 0
    core = core_slowly(dense)
    assert not core[0, 1]
    weights = result.weights.toarray()
    np.testing.assert_array_equal(weights > 0, dense)
    assert len(result.edges) == dense.sum() / 2
    for (a, b), agreement in zip(result.edges, result.agreement, strict=True):
        both = (labels[a] >= 0) & (labels[b] >= 0)
        share = np.mean(labels[a, both] == labels[b, both])
        assert agreement == pytest.approx(share, abs=1e-12)
        expected = 0.1 + 0.9 * share if core[a, b] else 0.1
        assert weights[a, b] == weights[b, a] == pytest.approx(expected, abs=1e-12)


def test_communities_are_the_planted_groups():
    labels, y, graph = planted()
    result = graph_consensus(labels, graph)
    assert adjusted_rand(y, result.labels) == 1.0
    assert repr(result).endswith("in 4 communities")


def test_labels_are_components_of_the_kept_edges():
    labels, _, graph = planted(2)
    result = graph_consensus(labels, graph, threshold=0.8)
    group = np.arange(80)
    for (a, b), agreement in zip(result.edges, result.agreement, strict=True):
        if agreement > 0.8:
            group[group == group[b]] = group[a]
    assert adjusted_rand(group, result.labels) == 1.0


def test_direction_loops_and_repeats_do_not_matter():
    labels, _, graph = planted(3)
    plain = graph_consensus(labels, graph)
    doubled = graph_consensus(labels, graph + graph.T + sp.eye(80))
    np.testing.assert_array_equal(plain.edges, doubled.edges)
    np.testing.assert_array_equal(plain.labels, doubled.labels)
    compressed = graph_consensus(Ensemble.from_partitions(labels).compress(), graph)
    np.testing.assert_array_equal(plain.agreement, compressed.agreement)


def test_graphs_of_networkx():
    networkx = pytest.importorskip("networkx")
    labels, _, graph = planted(4)
    other = networkx.from_scipy_sparse_array(graph)
    np.testing.assert_array_equal(
        graph_consensus(labels, graph).edges, graph_consensus(labels, other).edges
    )


def test_graphs_of_igraph():
    igraph = pytest.importorskip("igraph")
    labels, _, graph = planted(4)
    other = igraph.Graph(n=80, edges=list(zip(*graph.nonzero(), strict=True)))
    np.testing.assert_array_equal(
        graph_consensus(labels, graph).edges, graph_consensus(labels, other).edges
    )


def test_an_edge_without_common_labels_is_cut():
    path = sp.csr_matrix(np.diag(np.ones(2), 1))
    result = graph_consensus([[0, None, 0], [None, 0, 0]], path)
    assert np.isnan(result.agreement[0])
    np.testing.assert_array_equal(result.labels, [0, 1, 1])


def test_errors():
    with pytest.raises(TypeError, match="graph must be a SciPy sparse matrix"):
        graph_consensus([[0, 1]], np.eye(2))
    with pytest.raises(ValueError, match="graph has 3 nodes, the partitions have 2 samples"):
        graph_consensus([[0, 1]], sp.eye(3))
    with pytest.raises(ValueError, match="must be a square matrix"):
        graph_consensus([[0, 1]], sp.csr_matrix((2, 3)))
    with pytest.raises(ValueError, match="threshold must be a share"):
        graph_consensus([[0, 1]], sp.eye(2), threshold=1.0)
