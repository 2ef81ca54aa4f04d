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


def test_every_cluster_is_one_piece_of_the_leaves():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(40, 2))
    tree = agglomerate(np.linalg.norm(points[:, None] - points, axis=2))
    leaves = tree.leaves()
    assert sorted(leaves) == list(range(40))
    for k in range(1, 41):
        assert np.count_nonzero(np.diff(tree.cut(k)[leaves])) == k - 1
    np.testing.assert_array_equal(agglomerate(np.zeros((1, 1))).leaves(), [0])


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


def heights_slowly(distances, weights, method):
    """Heights of a weighted agglomeration that looks at every pair of clusters every time."""
    clusters = [[x] for x in range(len(distances))]
    heights = []
    while len(clusters) > 1:
        best = (np.inf, 0, 0)
        for a in range(len(clusters)):
            for b in range(a):
                block = distances[np.ix_(clusters[a], clusters[b])]
                w = np.outer(weights[clusters[a]], weights[clusters[b]])
                value = {
                    "average": (w * block).sum() / w.sum(),
                    "single": block.min(),
                    "complete": block.max(),
                }[method]
                best = min(best, (value, a, b))
        height, a, b = best
        heights.append(height)
        clusters[b] += clusters.pop(a)
    return np.array(heights)


@pytest.mark.parametrize("method", LINKAGES)
@pytest.mark.parametrize("seed", range(3))
def test_heights_of_weighted_rows(method, seed):
    distances = random_distances(25, seed)
    weights = np.random.default_rng(seed).uniform(1, 6, 25)
    tree = agglomerate(distances, weights, method)
    expected = heights_slowly(distances, weights, method)
    np.testing.assert_allclose(tree.height, expected, rtol=1e-12)
    assert np.all(tree.left < tree.right)


@pytest.mark.parametrize("method", LINKAGES)
def test_ties_are_broken_by_the_order_of_rows(method):
    """All distances are equal: rows join the first one, in their order."""
    distances = np.full((30, 30), 3)
    tree = agglomerate(distances, None, method)
    assert tree.left.tolist() == [0] * 29
    assert tree.right.tolist() == list(range(1, 30))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("method", LINKAGES)
def test_distances_must_be_finite(value, method):
    distances = random_distances(6)
    distances[2, 4] = distances[4, 2] = value
    with pytest.raises(ValueError, match="distances must be finite"):
        agglomerate(distances, None, method)


@pytest.mark.parametrize("unit", [5e-324, 1e-310, 1e-200, 1e200, 1e300])
@pytest.mark.parametrize("kind", [np.float64, np.uint32])
def test_the_unit_of_the_weights_does_not_matter(unit, kind):
    distances = (1000 * random_distances(20)).astype(kind)
    weights = np.random.default_rng(0).integers(1, 9, 20) * (1.0 if unit < 1e-320 else 1.0 / 3)
    scaled = agglomerate(distances, weights * unit)
    plain = agglomerate(distances, weights)
    np.testing.assert_allclose(scaled.height, plain.height, rtol=1e-9)
    assert adjusted_rand_score(scaled.cut(5), plain.cut(5)) == 1.0


def test_sums_beyond_64_bits_are_floats():
    distances = (1000 * random_distances(20)).astype(np.uint32)
    weights = np.where(np.arange(20) < 10, 1.0, 1e12)
    tree = agglomerate(distances, weights)
    np.testing.assert_allclose(
        tree.height, agglomerate(distances.astype(float), weights).height, rtol=1e-12
    )


@pytest.mark.parametrize("extreme", [1e-310, 1e300])
def test_weights_that_differ_too_much_are_refused(extreme):
    distances = random_distances(30)
    weights = np.where(np.arange(30) < 3, extreme, 1.0)
    with pytest.raises(ValueError, match="weights that differ by less than 1e150"):
        agglomerate(distances, weights)
    assert len(np.unique(agglomerate(distances, weights, "complete").cut(3))) == 3
