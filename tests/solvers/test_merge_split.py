"""Merging and splitting groups to a given number."""

from __future__ import annotations

import numpy as np
import pytest

from partita.solvers.merge_split import merge_groups, split_groups


def nested(fine, coarse):
    return all(len(np.unique(coarse[fine == k])) == 1 for k in np.unique(fine))


def test_merge_joins_the_most_similar_groups():
    groups = np.array([0, 1, 2, 3, 0])
    similarity = np.array([[1, 0.1, 0.6, 0], [0.1, 0.9, 0, 0.4], [0.6, 0, 1, 0], [0, 0.4, 0, 0.3]])
    labels = merge_groups(groups, similarity, np.ones(5), 2)
    assert labels.tolist() == [0, 1, 0, 1, 0]


def test_merge_averages_over_weights():
    """Group 2 is nearer to the pair {0, 1} or to 3, as 0 or 1 weighs more."""
    similarity = np.eye(4)
    for (a, b), value in {(0, 1): 0.9, (0, 2): 0.6, (1, 2): 0.0, (2, 3): 0.3}.items():
        similarity[a, b] = similarity[b, a] = value
    groups = np.arange(4)
    heavy_0 = merge_groups(groups, similarity, np.array([9.0, 1, 1, 1]), 2)
    heavy_1 = merge_groups(groups, similarity, np.array([1.0, 9, 1, 1]), 2)
    assert heavy_0.tolist() == [0, 0, 0, 1]
    assert heavy_1.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("n_clusters", [2, 3, 5, 8])
def test_split_stays_within_groups(n_clusters):
    rng = np.random.default_rng(0)
    groups = np.array([0, 1] * 4)
    labels = split_groups(groups, rng.random((8, 3)), rng.uniform(1, 3, 8), n_clusters)
    assert len(np.unique(labels)) == n_clusters
    assert nested(labels, groups)


def test_split_parts_what_lies_apart():
    embedding = np.array([[0.0], [0.1], [5.0], [5.1], [0.0]])
    labels = split_groups(np.array([0, 0, 0, 0, 1]), embedding, np.ones(5), 3)
    assert labels.tolist() == [0, 0, 1, 1, 2]
