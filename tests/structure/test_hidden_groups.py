"""Groups inside clusters that most partitions split off."""

from __future__ import annotations

import numpy as np
import pytest

from partita.structure import hidden_groups


def planted(n_fine: int, n_coarse: int, noise: float = 0.0) -> tuple[list[np.ndarray], np.ndarray]:
    rng = np.random.default_rng(0)
    fine = np.repeat([0, 1, 2], 30)
    partitions = []
    for labels in [fine] * n_fine + [np.minimum(fine, 1)] * n_coarse:
        moved = rng.random(90) < noise
        partitions.append(np.where(moved, rng.integers(0, 3, 90), labels))
    return partitions, fine


def test_a_group_that_most_partitions_split_off_is_named() -> None:
    partitions, fine = planted(7, 3)
    (group,) = hidden_groups(partitions, np.where(fine > 0, "b", "a"))
    assert group["cluster"] == "b"
    assert (group["n_samples"], group["share"]) == (30, 0.5)
    assert (group["n_partitions"], group["support"]) == (7, 0.7)
    assert len(set(fine[group["samples"]])) == 1


def test_a_group_that_few_partitions_split_off_is_not() -> None:
    partitions, fine = planted(4, 6)
    assert hidden_groups(partitions, fine > 0) == []


def test_nothing_is_hidden_in_the_clusters_themselves() -> None:
    partitions, fine = planted(10, 0, noise=0.05)
    assert hidden_groups(partitions, fine) == []


def test_finer_partitions_split_a_group_off_too() -> None:
    partitions, fine = planted(3, 2)
    finer = [fine * 3 + np.random.default_rng(i).integers(0, 3, 90) for i in range(5)]
    (group,) = hidden_groups(partitions + finer, fine > 0)
    assert group["support"] == 0.8


def test_purity_is_that_of_its_definition() -> None:
    from partita.structure._bisection import LabelTable
    from partita.structure._hidden import _purity

    clusters = np.array([[0, 3], [0, 3], [1, 3], [1, 4], [2, 4], [2, -1]])
    partition = np.array([0, 0, 0, 1, 1])
    side = np.array([True, True, True, False, False, False])
    purity = _purity(LabelTable.of(clusters, partition, np.ones(6)), side)
    # partition 0: base clusters with (2, 0), (1, 1) and (0, 2) samples of the two parts
    first = 1 - (2 / 12) / (18 / 36)
    # partition 1: (3, 0) and (0, 2)
    assert purity == pytest.approx([first, 1.0])


def test_missing_labels_and_small_clusters_take_no_part() -> None:
    partitions, fine = planted(6, 2)
    partitions[0] = np.where(np.arange(90) % 2, partitions[0], -1)
    (group,) = hidden_groups(partitions, np.where(fine > 0, 1, -1))
    assert group["n_samples"] == 30
    assert hidden_groups([[0, 0, 1, 1], [0, 0, 1, 1]], [0, 0, 0, 0]) == []
