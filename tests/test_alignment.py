"""Names follow overlaps; splits and merges are reported."""

from __future__ import annotations

import numpy as np
import pytest

from partita import Ensemble
from partita.alignment import align_labels, cluster_tree


def test_renamed_results_get_their_names_back():
    reference = np.repeat([0, 1, 2], [5, 7, 9])
    aligned = align_labels(reference, np.array(["z", "x", "y"])[reference])
    np.testing.assert_array_equal(aligned.labels, reference)
    assert aligned.names == {"z": 0, "x": 1, "y": 2}
    assert aligned.agreement == 1.0
    assert not aligned.splits
    assert not aligned.merges


def test_splits_and_merges():
    reference = [0] * 10 + [1] * 4 + [2] * 4
    labels = [7] * 6 + [8] * 4 + [9] * 8
    aligned = align_labels(reference, labels)
    assert aligned.labels.tolist() == [0] * 6 + [3] * 4 + [1] * 8
    assert aligned.splits == {0: {0: 0.6, 3: 0.4}}
    assert aligned.merges == {1: {1: 0.5, 2: 0.5}}
    assert aligned.agreement == pytest.approx(10 / 18)


def test_unlabeled_samples_stay_unlabeled():
    aligned = align_labels([0, 0, 1, -1], [5, 5, -1, 6])
    assert aligned.labels.tolist() == [0, 0, -1, 2]


def test_best_total_overlap_beats_greedy_names():
    # greedy would give name 0 to cluster b (6 > 5) and leave a with nothing
    reference = [0] * 11 + [1] * 5
    labels = ["a"] * 5 + ["b"] * 6 + ["b"] * 5
    aligned = align_labels(reference, labels)
    assert aligned.names == {"a": 0, "b": 1}


def test_names_must_be_numbers():
    with pytest.raises(ValueError, match="whole numbers"):
        align_labels(["a", "b"], [0, 1])
    with pytest.raises(ValueError, match="equal length"):
        align_labels([0, 1], [0, 1, 2])


def test_tree_keeps_names_over_levels():
    coarse = [0, 0, 0, 0, 1, 1]
    fine = [4, 4, 4, 9, 2, 2]
    tree = cluster_tree([coarse, fine])
    assert tree.labels[:, 1].tolist() == [0, 0, 0, 2, 1, 1]
    assert tree.n_clusters.tolist() == [2, 3]
    assert tree.edges.tolist() == [[0, 0, 0, 3], [0, 0, 2, 1], [0, 1, 1, 2]]
    with pytest.raises(ValueError, match="at least one"):
        cluster_tree([])


def test_tree_of_any_kind_of_partitions():
    coarse, fine = [0, 0, 0, 0, 1, -1], [4, 4, 4, 9, 2, -1]
    expected = cluster_tree([coarse, fine])
    table = np.column_stack([coarse, fine])
    ensemble = Ensemble.from_partitions(table, unlabeled="keep")
    for partitions in (table, ensemble, ensemble.compress()):
        tree = cluster_tree(partitions)
        assert tree.labels[5].tolist() == [-1, -1]
        assert sorted(tree.edges[:, 3]) == sorted(expected.edges[:, 3])
    np.testing.assert_array_equal(cluster_tree(table).labels, expected.labels)
    np.testing.assert_array_equal(cluster_tree(ensemble).labels, expected.labels)
