"""Modes of partitions on planted stories, and their parts by definition."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from partita import Ensemble, diagnose
from partita.datasets import make_partitions
from partita.metrics import adjusted_rand
from partita.structure import modes
from partita.structure._partition_groups import (
    group_partitions,
    joint_information,
    shuffle_within,
)


def noisy(labels, n_partitions, noise, rng):
    return [
        np.where(rng.random(len(labels)) < noise, rng.permutation(labels), labels)
        for _ in range(n_partitions)
    ]


def table_of(labels):
    sizes = labels.max(axis=0) + 1
    offsets = np.cumsum(sizes) - sizes
    clusters = np.where(labels >= 0, labels + offsets, -1)
    return clusters, np.repeat(np.arange(labels.shape[1]), sizes)


def entropy(labels):
    return mutual_info_score(labels, labels)


def separation_slowly(agreement, groups):
    """The definition, partition by partition."""
    m = len(agreement)
    distance = np.zeros((m, m))
    for i in range(m):
        for j in range(m):
            others = [k for k in range(m) if k not in (i, j)]
            first, second = agreement[i, others], agreement[j, others]
            cosine = first @ second / np.sqrt((first @ first + 0.01) * (second @ second + 0.01))
            distance[i, j] = 0.0 if i == j else 1 - cosine
    total = 0.0
    for i in np.flatnonzero(groups >= 0):
        means = {
            g: np.mean([distance[i, j] for j in np.flatnonzero(groups == g) if j != i])
            for g in range(groups.max() + 1)
        }
        own = means.pop(groups[i])
        total += min(means.values()) - own
    return total / m


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_two_crossing_stories(noise):
    rng = np.random.default_rng(0)
    first, second = rng.integers(3, size=120), rng.integers(3, size=120)
    junk = rng.integers(3, size=120)
    columns = [*noisy(second, 6, noise, rng), *noisy(first, 9, noise, rng), junk, junk * 0]
    result = modes(columns, random_state=0)
    assert result.n_modes == 2
    np.testing.assert_array_equal(result.mode_of, [1] * 6 + [0] * 9 + [-1, -1])
    assert adjusted_rand(first, result.labels[0]) > 0.85
    assert adjusted_rand(second, result.labels[1]) > 0.85
    (difference,) = result.differences
    moved = result.moved_samples()
    assert difference["n_moved"] == len(moved) == round(120 * difference["share_moved"])
    assert np.all(result.labels[0][moved] != result.labels[1][moved])
    assert difference["adjusted_rand"] == adjusted_rand(*result.labels)
    assert "2 modes of 9, 6 partitions" in repr(result)
    assert "2 partitions agree with no mode" in repr(result)


def test_stories_that_share_a_part():
    rng = np.random.default_rng(1)
    fine = np.repeat(np.arange(4), 40)
    first, second = np.array([0, 0, 1, 2])[fine], np.array([0, 1, 2, 2])[fine]
    columns = [*noisy(first, 8, 0.2, rng), *noisy(second, 7, 0.2, rng)]
    np.testing.assert_array_equal(modes(columns, random_state=0).mode_of, [0] * 8 + [1] * 7)


def test_one_story_at_several_resolutions_is_one_mode():
    n_divided = 0
    for seed in range(8):
        labels = make_partitions(
            90, 12, 4, noise=0.3, k_min=4, k_max=9, missing_ratio=0.1, random_state=seed
        )[0]
        result = modes(labels, random_state=0)
        n_divided += result.n_modes > 1
    assert n_divided <= 1  # the level is 0.05
    assert "One mode" in repr(result)
    assert len(result.labels) == 1
    assert result.differences == []


@pytest.mark.parametrize("missing_ratio", [0.0, 0.3])
def test_information_is_that_of_each_pair(missing_ratio):
    labels = make_partitions(40, 5, 3, noise=0.4, missing_ratio=missing_ratio, random_state=1)[0]
    information = joint_information(*table_of(labels))
    for i in range(5):
        for j in range(5):
            both = (labels[:, i] >= 0) & (labels[:, j] >= 0)
            first, second = labels[both, i], labels[both, j]
            expected = mutual_info_score(first, second) / min(entropy(first), entropy(second))
            assert information[i, j] == pytest.approx(expected, abs=1e-10)


def test_separation_is_that_of_the_definition():
    rng = np.random.default_rng(3)
    first, second = rng.integers(3, size=80), rng.integers(4, size=80)
    columns = np.array([*noisy(first, 4, 0.3, rng), *noisy(second, 3, 0.3, rng)]).T
    agreement = joint_information(*table_of(columns))
    groups, separation = group_partitions(agreement)
    np.testing.assert_array_equal(groups, [0] * 4 + [1] * 3)
    assert separation == pytest.approx(separation_slowly(agreement, groups), abs=1e-12)


def test_shuffling_keeps_the_table_with_the_groups():
    rng = np.random.default_rng(0)
    clusters, groups = rng.integers(4, size=(50, 3)), rng.integers(3, size=50)
    shuffled = shuffle_within(clusters, groups, rng)
    assert not np.array_equal(shuffled, clusters)
    for group in range(3):
        inside = groups == group
        np.testing.assert_array_equal(
            np.sort(shuffled[inside], axis=0), np.sort(clusters[inside], axis=0)
        )


def test_frame_and_diagnosis():
    rng = np.random.default_rng(0)
    first, second = rng.integers(3, size=90), rng.integers(3, size=90)
    columns = np.array([*noisy(first, 5, 0.1, rng), *noisy(second, 4, 0.1, rng)]).T
    ensemble = Ensemble.from_partitions(columns, partition_names=[f"p{i}" for i in range(9)])
    result = modes(ensemble, 3, random_state=0)
    frame = result.to_frame()
    assert list(frame["partition"]) == [f"p{i}" for i in range(9)]
    assert list(frame["mode"]) == result.mode_of.tolist()
    own = result.agreement[0, 1:5].mean()
    assert frame["within"][0] == pytest.approx(own)
    assert frame["between"][0] == pytest.approx(result.agreement[0, 5:].mean())
    diagnosis = diagnose(ensemble, first)
    np.testing.assert_array_equal(diagnosis.modes.mode_of, result.mode_of)
    assert diagnosis.to_dict()["n_modes"] == 2


def test_order_of_samples_does_not_matter():
    rng = np.random.default_rng(4)
    first, second = rng.integers(3, size=60), rng.integers(3, size=60)
    columns = np.array([*noisy(first, 5, 0.2, rng), *noisy(second, 4, 0.2, rng)]).T
    order = rng.permutation(60)
    plain, shuffled = modes(columns, random_state=0), modes(columns[order], random_state=0)
    np.testing.assert_array_equal(plain.mode_of, shuffled.mode_of)
    np.testing.assert_allclose(plain.agreement, shuffled.agreement, atol=1e-12)
    assert plain.p_value == shuffled.p_value


def test_few_partitions_are_one_mode():
    result = modes([[0, 0, 1, 1], [0, 1, 0, 1]], random_state=0)
    assert result.n_modes == 1
    np.testing.assert_array_equal(result.mode_of, [0, 0])


def test_errors():
    with pytest.raises(ValueError, match="alpha must be a level"):
        modes([[0, 1]], alpha=1)
    with pytest.raises(ValueError, match="compressed"):
        modes(Ensemble.from_partitions([[0, 1]]).compress())
