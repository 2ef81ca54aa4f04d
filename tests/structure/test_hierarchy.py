"""The hierarchy on planted levels and on labels without structure, and its parts by definition."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from partita import Ensemble, generate
from partita.datasets import make_partitions
from partita.exceptions import PartitaWarning
from partita.metrics import adjusted_rand
from partita.structure import hierarchical_consensus
from partita.structure._bisection import LabelTable, bisect
from partita.structure._splitting import permutation_p_value


def nested(seed, noise, n=126, m=14):
    """Partitions of three clusters and partitions of their nine parts, with noise."""
    rng = np.random.default_rng(seed)
    coarse = np.repeat(np.arange(3), n // 3)
    fine = 3 * coarse + np.arange(n) % 3
    columns = []
    for base in [coarse, fine] * (m // 2):
        is_noise = rng.random(n) < noise
        columns.append(np.where(is_noise, rng.integers(base.max() + 1, size=n), base))
    return np.array(columns).T, coarse, fine


def table_of(labels):
    sizes = labels.max(axis=0) + 1
    offsets = np.cumsum(sizes) - sizes
    clusters = np.where(labels >= 0, labels + offsets, -1)
    return clusters, np.repeat(np.arange(labels.shape[1]), sizes)


def spread_slowly(labels):
    """Half the sum over partitions of the mean number of pairs that are apart."""
    spread = 0.0
    for column in labels.T:
        column = column[column >= 0]
        if len(column):
            spread += (column[:, None] != column).sum() / len(column)
    return spread


def explained_slowly(labels, side):
    within = spread_slowly(labels[side]) + spread_slowly(labels[~side])
    return 1 - within / spread_slowly(labels)


@pytest.mark.parametrize("noise", [0.0, 0.3])
@pytest.mark.parametrize("seed", [0, 1])
def test_both_planted_levels(seed, noise):
    labels, coarse, fine = nested(seed, noise)
    hierarchy = hierarchical_consensus(labels, random_state=0)
    assert [level.max() + 1 for level in hierarchy.levels] == [1, 3, 9]
    assert adjusted_rand(coarse, hierarchy.levels[1]) > 0.98
    assert adjusted_rand(fine, hierarchy.labels) > 0.95
    assert "levels of 1, 3, 9 clusters" in repr(hierarchy)


def test_flat_clusters_are_one_level():
    labels, y = make_partitions(200, 20, 4, noise=0.3, missing_ratio=0.2, random_state=1)
    hierarchy = hierarchical_consensus(labels, random_state=0)
    assert [level.max() + 1 for level in hierarchy.levels] == [1, 4]
    assert adjusted_rand(y, hierarchy.labels) > 0.95


def test_shuffled_labels_are_rarely_divided():
    n_divided = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        columns = [rng.permutation(np.arange(40) % k) for k in (2, 3, 3, 4, 5)]
        n_divided += len(hierarchical_consensus(columns, random_state=seed).levels) > 1
    assert n_divided <= 5  # the level is 0.05: 2 are expected


@pytest.mark.parametrize("missing", [False, True])
def test_explained_share_and_joined_pairs_are_those_of_the_definition(missing):
    labels = make_partitions(24, 5, 3, noise=0.4, missing_ratio=0.3 * missing, random_state=2)[0]
    division = bisect(LabelTable.of(*table_of(labels), np.ones(24)))
    assert division.explained == pytest.approx(explained_slowly(labels, division.side), abs=1e-12)
    for i, column in enumerate(labels.T):
        first, second = (column[s & (column >= 0)] for s in (division.side, ~division.side))
        expected = (first[:, None] == second).mean()
        assert division.joined[i] == pytest.approx(expected, abs=1e-12)


def test_division_is_the_best_of_all():
    for seed in range(6):
        labels = make_partitions(10, 6, 2, noise=0.1, random_state=seed)[0]
        best = max(
            explained_slowly(labels, np.array((False, *sides)))
            for sides in itertools.product([False, True], repeat=9)
            if any(sides)
        )
        assert bisect(LabelTable.of(*table_of(labels), np.ones(10))).explained == pytest.approx(
            best
        )


def test_weights_are_repeats():
    labels = make_partitions(20, 6, 3, noise=0.3, random_state=3)[0]
    times = np.random.default_rng(0).integers(1, 4, 20)
    repeated = bisect(
        LabelTable.of(*table_of(np.repeat(labels, times, axis=0)), np.ones(times.sum()))
    )
    weighted = bisect(LabelTable.of(*table_of(labels), times.astype(float)))
    assert weighted.explained == pytest.approx(repeated.explained, abs=1e-12)
    np.testing.assert_allclose(weighted.joined, repeated.joined, atol=1e-12)


def test_one_dividing_partition_is_no_evidence():
    clusters, partition = table_of(np.array([[0] * 10 + [1] * 10, [0] * 20]).T)
    assert permutation_p_value(clusters, partition, 19, np.random.default_rng(0)) == 1.0
    hierarchy = hierarchical_consensus([[0, 0, 1, 1, 1]] + [[0] * 5] * 3)
    assert len(hierarchy.levels) == 1
    assert "no division is significant" in repr(hierarchy)


def test_tree_and_levels_say_the_same():
    labels, _, _ = nested(0, 0.1)
    hierarchy = hierarchical_consensus(labels, random_state=0)
    frame = hierarchy.to_frame()
    assert list(frame["n_samples"]) == [record["n_samples"] for record in hierarchy.tree]
    for record in hierarchy.tree:
        inside = hierarchy.levels[record["level"]] == record["cluster"]
        assert inside.sum() == record["n_samples"]
        parts = [r for r in hierarchy.tree if r["parent"] == record["node"]]
        assert len(parts) == record["n_parts"]
        if not parts:
            assert len(np.unique(hierarchy.labels[inside])) == 1
            continue
        assert sum(part["n_samples"] for part in parts) == record["n_samples"]
        assert record["p_value"] <= 0.05
        finer = hierarchy.levels[record["level"] + 1][inside]
        apart = finer[:, None] != finer
        joined = (labels[inside][:, None] == labels[inside]).mean(axis=2)
        assert record["similarity"] == pytest.approx(joined[apart].mean(), abs=1e-12)


def test_result_does_not_depend_on_order_and_names():
    labels, _, _ = nested(1, 0.3, n=90, m=10)
    order = np.random.default_rng(0).permutation(90)
    plain = hierarchical_consensus(labels, random_state=0)
    shuffled = hierarchical_consensus(8 - labels[order][:, ::-1], random_state=0)
    assert len(plain.levels) == len(shuffled.levels)
    for one, other in zip(plain.levels, shuffled.levels, strict=True):
        assert adjusted_rand(one[order], other) == 1.0


def test_unlabeled_samples_and_large_clusters():
    labels = np.repeat([[0, 0, 0], [1, 1, 1]], 1500, axis=0)
    labels[0] = -1
    ensemble = Ensemble.from_partitions(labels, unlabeled="keep")
    hierarchy = hierarchical_consensus(ensemble, random_state=0)
    np.testing.assert_array_equal(np.unique(hierarchy.labels[1:1500]), [0])
    assert hierarchy.labels[0] == -1
    assert hierarchy.n_clusters == 2


def test_generated_partitions_are_warned_of():
    partitions = generate(np.random.default_rng(0).normal(size=(60, 2)), "random_k", n_partitions=5)
    with pytest.warns(PartitaWarning, match=r"generated from features \(random_k\)"):
        hierarchical_consensus(partitions, random_state=0)


def test_errors():
    with pytest.raises(ValueError, match="alpha must be a level"):
        hierarchical_consensus([[0, 1]], alpha=0)
    with pytest.raises(ValueError, match="n_null must be at least 2"):
        hierarchical_consensus([[0, 1]], n_null=1)
