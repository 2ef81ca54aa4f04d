"""RandomLeiden: communities where the package is installed, a clear error elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph

from partita._packages import is_installed
from partita.exceptions import MissingPackageError, PartitaWarning
from partita.generators import RandomLeiden
from partita.generators.random_leiden import _jaccard

needs_leiden = pytest.mark.skipif(
    not is_installed("leidenalg"), reason="the package leidenalg is not installed"
)
X, Y = make_blobs(120, 4, centers=4, cluster_std=0.5, random_state=0)


def test_overlap_of_neighborhoods():
    neighbors = np.array([[0, 1, 2], [1, 0, 2], [2, 1, 3], [3, 2, 1], [4, 3, 2]])
    sets = [set(row) for row in neighbors.tolist()]
    expected = [
        [len(a & b) / len(a | b) if i in b or j in a else 0 for j, b in enumerate(sets)]
        for i, a in enumerate(sets)
    ]
    assert_allclose(_jaccard(neighbors).toarray(), expected)


@pytest.mark.skipif(is_installed("leidenalg"), reason="the package leidenalg is installed")
def test_without_the_package():
    with pytest.raises(MissingPackageError, match=r"leidenalg: pip install 'partita\[leiden\]'"):
        RandomLeiden(2).fit(X)


@needs_leiden
def test_communities_are_the_groups():
    generator = RandomLeiden(6, resolution=(0.1, 0.1), random_state=0)
    labels = generator.fit_transform(X)
    assert min(adjusted_rand_score(Y, column) for column in labels.T) == 1
    assert_array_equal(generator.set_params(n_jobs=2).fit_transform(X), labels)
    assert not hasattr(generator, "transform")


@needs_leiden
def test_a_higher_resolution_gives_more_clusters():
    coarse = RandomLeiden(4, resolution=(0.2, 0.2), random_state=0).fit(X).n_clusters_
    fine = RandomLeiden(4, resolution=(5.0, 5.0), random_state=0).fit(X).n_clusters_
    assert fine.min() > coarse.max()


@needs_leiden
def test_rows_without_direction_stay_unlabeled():
    rows = np.vstack([np.zeros((2, 4)), np.abs(X)])
    with pytest.warns(PartitaWarning, match="2 of 122 rows are all zero"):
        labels = RandomLeiden(3, metric="cosine", random_state=0).fit_transform(rows)
    assert_array_equal(labels[:2], -1)
    assert labels[2:].min() == 0


@pytest.mark.parametrize("wrong", [{"n_neighbors": (9, 5)}, {"resolution": (0.0, 1.0)}], ids=str)
def test_wrong_parameters(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        RandomLeiden(2, **wrong).fit(X)


@needs_leiden
def test_communities_of_a_graph_that_is_passed():
    blocks = [sp.csr_matrix(np.ones((n, n))) for n in (10, 8, 6)]
    graph = sp.block_diag(blocks, format="lil")
    graph[0, 23] = 0.1  # one weak edge, in one direction only
    graph = graph.tocsr()
    generator = RandomLeiden(5, resolution=(0.5, 1.0), metric="precomputed", random_state=0)
    labels = generator.fit_transform(graph)
    expected = np.repeat([0, 1, 2], [10, 8, 6])
    assert [adjusted_rand_score(expected, column) for column in labels.T] == [1.0] * 5
    assert_array_equal(generator.fit_transform(graph.toarray()), labels)


@needs_leiden
def test_a_graph_that_is_passed_has_the_partitions_of_leidenalg():
    igraph, leidenalg = pytest.importorskip("igraph"), pytest.importorskip("leidenalg")
    graph = kneighbors_graph(X, 10)
    graph = graph.maximum(graph.T)
    generator = RandomLeiden(1, resolution=(1.0, 1.0), metric="precomputed", random_state=0)
    labels = generator.fit_transform(graph)[:, 0]
    edges = sp.triu(graph, k=1).tocoo()
    network = igraph.Graph(120, list(zip(edges.row.tolist(), edges.col.tolist(), strict=True)))
    kind = leidenalg.RBConfigurationVertexPartition
    quality = kind(network, labels.tolist(), weights=edges.data.tolist()).quality()
    best = leidenalg.find_partition(network, kind, weights=edges.data.tolist(), seed=1)
    assert quality >= 0.999 * best.quality()


@needs_leiden
def test_a_graph_must_be_square_and_have_positive_weights():
    with pytest.raises(ValueError, match=r"Got shape \(120, 4\)"):
        RandomLeiden(2, metric="precomputed").fit(X)
    with pytest.raises(ValueError, match="must not be negative, got -1"):
        RandomLeiden(2, metric="precomputed").fit(-np.ones((5, 5)))
