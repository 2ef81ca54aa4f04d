"""Labels from any affinity, in one call."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import cut_tree
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score

from partita import EAC, coassociation
from partita.datasets import make_partitions
from partita.solvers import agglomerate_affinity


def random_affinity(n=40, seed=0):
    rng = np.random.default_rng(seed)
    affinity = rng.random((n, n)) * 3 - 1
    affinity = (affinity + affinity.T) / 2
    np.fill_diagonal(affinity, 2.5)
    return affinity


@pytest.mark.parametrize("linkage", ["average", "single", "complete"])
@pytest.mark.parametrize("n_clusters", [1, 2, 7, 40])
def test_equals_scipy_without_ties(linkage, n_clusters):
    affinity = random_affinity()
    distances = 2.5 - affinity
    merges = scipy_linkage(squareform(distances, checks=False), linkage)
    expected = cut_tree(merges, n_clusters).ravel()
    result = agglomerate_affinity(affinity, n_clusters, linkage=linkage)
    assert adjusted_rand_score(expected, result) == 1.0
    assert len(np.unique(result)) == n_clusters


def test_a_coassociation_matrix_gives_eac():
    labels = make_partitions(60, 12, 3, noise=0.15)[0]
    result = agglomerate_affinity(coassociation(labels), 3)
    np.testing.assert_array_equal(result, EAC(3).fit_predict(labels))


def test_weights_are_repeated_samples():
    affinity = random_affinity(25, seed=3)
    times = np.random.default_rng(1).integers(1, 4, 25)
    repeated = np.repeat(np.repeat(affinity, times, axis=0), times, axis=1)
    for n_clusters in (4, None):
        weighted = agglomerate_affinity(affinity, n_clusters, weights=times)
        plain = agglomerate_affinity(repeated, n_clusters)
        np.testing.assert_array_equal(np.repeat(weighted, times), plain)


def test_longest_lifetime():
    """Three blocks: affinity 0.9 within, 0.1 between two of them, 0 to the third."""
    block = np.repeat([0, 1, 2], [4, 3, 5])
    affinity = np.where(block[:, None] == block, 0.9, 0.0)
    affinity[np.ix_(block < 2, block < 2)] = np.maximum(0.1, affinity[np.ix_(block < 2, block < 2)])
    np.fill_diagonal(affinity, 1.0)
    np.testing.assert_array_equal(agglomerate_affinity(affinity, None), block)


def test_order_of_samples_does_not_matter():
    """Not even with ties."""
    affinity = coassociation(make_partitions(50, 5, 4, noise=0.4, random_state=1)[0])
    order = np.random.default_rng(0).permutation(50)
    before = agglomerate_affinity(affinity, 4)
    after = agglomerate_affinity(affinity[np.ix_(order, order)], 4)
    assert adjusted_rand_score(before[order], after) == 1.0


def test_the_matrix_is_left_alone():
    affinity = random_affinity()
    kept = affinity.copy()
    result = agglomerate_affinity(affinity, 5)
    np.testing.assert_array_equal(affinity, kept)
    _, first = np.unique(result, return_index=True)
    assert np.all(np.diff(first) > 0)


@pytest.mark.parametrize("n_clusters", [1, None])
def test_one_sample(n_clusters):
    np.testing.assert_array_equal(agglomerate_affinity([[1.0]], n_clusters), [0])


@pytest.mark.parametrize(
    ("affinity", "options", "message"),
    [
        ([1.0, 2.0], {}, "square matrix"),
        ([[1.0, 0.5]], {}, "shape"),
        ([[1.0, 0.5], [0.4, 1.0]], {}, "symmetric"),
        ([[1.0, np.nan], [np.nan, 1.0]], {}, "NaN"),
        (np.eye(3), {"n_clusters": 4}, "between 1"),
        (np.eye(3), {"linkage": "ward"}, "linkage"),
        (np.eye(3), {"weights": [1.0, 2.0]}, "shape"),
    ],
)
def test_bad_input(affinity, options, message):
    with pytest.raises(ValueError, match=message):
        agglomerate_affinity(affinity, **{"n_clusters": 1, **options})
