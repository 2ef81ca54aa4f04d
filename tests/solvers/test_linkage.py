"""Agglomeration: SciPy's trees on tie-free data, weights as repeats, exact cuts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import cut_tree, linkage
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score

from partita.solvers import Tree, agglomerate, spanning_tree
from partita.solvers.linkage import LINKAGES


def random_distances(n, seed=0):
    rng = np.random.default_rng(seed)
    matrix = rng.random((n, n))
    matrix = matrix + matrix.T
    np.fill_diagonal(matrix, 0.0)
    return matrix


@pytest.mark.parametrize("method", LINKAGES)
def test_scipy_agrees_without_ties(method):
    distances = random_distances(60)
    kept = distances.copy()
    tree = agglomerate(distances, None, method)
    reference = linkage(squareform(distances), method)
    np.testing.assert_allclose(tree.height, reference[:, 2], rtol=1e-12)
    for k in (1, 2, 5, 17, 60):
        ours, theirs = tree.cut(k), cut_tree(reference, k).ravel()
        assert adjusted_rand_score(ours, theirs) == 1.0
        assert len(np.unique(ours)) == k
    np.testing.assert_array_equal(distances, kept)


@pytest.mark.parametrize("method", LINKAGES)
@pytest.mark.parametrize("kind", [np.float64, np.uint32])
def test_weights_are_repeats(method, kind):
    rng = np.random.default_rng(3)
    distances = (random_distances(25, 1) * 1000).astype(kind)
    times = rng.integers(1, 5, 25)
    index = np.repeat(np.arange(25), times)
    weighted = agglomerate(distances, times.astype(float), method)
    repeated = agglomerate(distances[np.ix_(index, index)], None, method)
    np.testing.assert_allclose(weighted.height, repeated.height[len(index) - 25 :], rtol=1e-12)
    for k in (2, 4, 9):
        assert adjusted_rand_score(weighted.cut(k)[index], repeated.cut(k)) == 1.0


def test_unweighted_average_would_be_wrong():
    """Weights matter: the same rows with other weights merge otherwise."""
    distances = np.array([[0, 2, 4, 9], [2, 0, 9, 5], [4, 9, 0, 9], [9, 5, 9, 0.0]])
    light = agglomerate(distances, np.ones(4)).cut(2)
    heavy = agglomerate(distances, np.array([1.0, 10, 1, 1])).cut(2)
    assert adjusted_rand_score(light, heavy) < 1


def test_ties_still_give_exactly_k():
    distances = np.ones((10, 10), np.uint32) - np.eye(10, dtype=np.uint32)
    for method in LINKAGES:
        tree = agglomerate(distances, None, method)
        assert [len(np.unique(tree.cut(k))) for k in range(1, 11)] == list(range(1, 11))


def test_large_sums_leave_32_bits():
    distances = (random_distances(30, 2) * 2**20).astype(np.uint32)
    weights = np.full(30, 1000.0)
    wide = agglomerate(distances, weights)
    plain = agglomerate(distances.astype(float), weights)
    np.testing.assert_allclose(wide.height, plain.height, rtol=1e-12)


def test_overwrite_saves_the_copy():
    distances = random_distances(20)
    expected = agglomerate(distances.copy(), None, "complete")
    result = agglomerate(distances, None, "complete", overwrite=True)
    np.testing.assert_array_equal(result.height, expected.height)


def test_lifetime():
    # two tight pairs: merges at 1 and 2, then nothing until 10
    tree = Tree(np.array([0, 2, 0]), np.array([1, 3, 2]), np.array([1.0, 2.0, 10.0]))
    assert tree.longest_lived(4) == 2
    # rows that stand for several samples compete as they are: they live from 0 to 30
    tree = Tree(np.array([0, 1]), np.array([1, 2]), np.array([30.0, 40.0]))
    assert tree.longest_lived(3) == 2
    assert tree.longest_lived(9) == 3
    assert agglomerate(np.zeros((1, 1))).longest_lived(5) == 1


def test_spanning_tree_is_single_linkage_on_disagreements():
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 3, (80, 12)).astype(np.uint8)
    distances = (labels[:, None] != labels).sum(axis=2)
    tree = spanning_tree(labels, 255)
    reference = linkage(squareform(distances), "single")
    np.testing.assert_array_equal(tree.height, reference[:, 2])
    assert len(spanning_tree(labels[:1], 255).height) == 0


def test_unknown_linkage():
    with pytest.raises(ValueError, match="linkage must be one of"):
        agglomerate(np.zeros((2, 2)), None, "ward")


@pytest.mark.parametrize("seed", range(5))
def test_equal_distances_of_heavy_rows_make_no_endless_chain(seed):
    """Few distinct fractions and large weights: rounding must not tell a distance's two sides
    apart, or a chain runs in a circle and beyond its array."""
    rng = np.random.default_rng(seed)
    n = 300
    distances = rng.choice(np.arange(1, 7) / 7.0, (n, n))
    distances = np.triu(distances, 1) + np.triu(distances, 1).T
    weights = rng.integers(1, 2_000, n).astype(float)
    tree = agglomerate(distances, weights, overwrite=True)
    assert np.unique(np.concatenate([tree.left, tree.right])).size == n
    assert np.all(np.diff(tree.height) >= -1e-12)
