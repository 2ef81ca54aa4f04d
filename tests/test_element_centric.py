"""Element-centric similarity against the walks of its definition, and against CluSim 0.4."""

from __future__ import annotations

import numpy as np
import pytest

from partita import Ensemble, diagnose
from partita.datasets import make_partitions
from partita.metrics import element_centric_consistency, element_centric_similarity

A = [0, 0, 0, 1, 1, 2, 2, 2, 2, 3]
B = [0, 0, 1, 1, 1, 1, 2, 2, 3, 3]
C = [0] * 5 + [1] * 5
# clusim.sim.element_sim_elscore, the program of the paper's authors
BY_CLUSIM = {
    "ab": [2 / 3, 2 / 3, 0.25, 0.5, 0.5, 0.25, 0.5, 0.5, 0.25, 0.5],
    "ac": [0.6, 0.6, 0.6, 0.4, 0.4, 0.8, 0.8, 0.8, 0.8, 0.2],
    "bc": [0.4, 0.4, 0.6, 0.6, 0.6, 0.2, 0.4, 0.4, 0.4, 0.4],
}


def walks(labels, alpha):
    """Personalized PageRank in the graph whose components are the clusters, row by row."""
    labels = np.asarray(labels)
    step = (labels[:, None] == labels).astype(float)
    step /= step.sum(axis=1, keepdims=True)
    return (1 - alpha) * np.linalg.inv(np.eye(len(labels)) - alpha * step)


def similarity_slowly(first, second, alpha=0.9):
    distance = np.abs(walks(first, alpha) - walks(second, alpha)).sum(axis=1)
    return 1 - distance / (2 * alpha)


def consistency_slowly(table):
    """Average over pairs of partitions, each on the samples that both label."""
    values = []
    for i in range(table.shape[1]):
        for j in range(i):
            both = (table[:, i] >= 0) & (table[:, j] >= 0)
            value = np.full(len(table), np.nan)
            value[both] = similarity_slowly(table[both, i], table[both, j])
            values.append(value)
    labeled_twice = (table >= 0).sum(axis=1) > 1
    mean = np.full(len(table), np.nan)
    mean[labeled_twice] = np.nanmean(np.array(values)[:, labeled_twice], axis=0)
    return mean


@pytest.mark.parametrize(("pair", "first", "second"), [("ab", A, B), ("ac", A, C), ("bc", B, C)])
def test_equals_the_program_of_the_authors(pair, first, second):
    values = element_centric_similarity(first, second, average=None)
    np.testing.assert_allclose(values, BY_CLUSIM[pair], rtol=0, atol=1e-12)
    assert element_centric_similarity(first, second) == pytest.approx(np.mean(BY_CLUSIM[pair]))


@pytest.mark.parametrize("alpha", [0.3, 0.9])
def test_equals_the_walks_for_every_restart_probability(alpha):
    rng = np.random.default_rng(0)
    first, second = rng.integers(5, size=40), rng.integers(3, size=40)
    values = element_centric_similarity(first, second, average=None)
    np.testing.assert_allclose(values, similarity_slowly(first, second, alpha), atol=1e-12)


def test_many_clusters_take_the_sparse_table():
    rng = np.random.default_rng(1)
    first, second = rng.permutation(3000) // 2, rng.permutation(3000) // 2
    values = element_centric_similarity(first, second, average=None)
    partner = {x: set(np.flatnonzero(first == first[x])) for x in range(20)}
    for x in range(20):
        other = set(np.flatnonzero(second == second[x]))
        assert values[x] == len(partner[x] & other) / 2


def test_missing_labels_are_left_out():
    first, second = [0, 0, 1, 1, None, 1], ["a", "a", "a", "b", "b", None]
    values = element_centric_similarity(first, second, average=None)
    expected = similarity_slowly(first[:4], [0, 0, 0, 1])
    np.testing.assert_allclose(values[:4], expected, atol=1e-12)
    assert np.isnan(values[4:]).all()
    assert element_centric_similarity(first, second) == pytest.approx(expected.mean())
    assert np.isnan(element_centric_similarity([0, -1], [-1, 0]))


@pytest.mark.parametrize("missing_ratio", [0.0, 0.3])
def test_consistency_is_the_mean_over_pairs(missing_ratio):
    table = make_partitions(40, 6, 3, noise=0.3, missing_ratio=missing_ratio, random_state=2)[0]
    values = element_centric_consistency(table)
    np.testing.assert_allclose(values, consistency_slowly(table), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(diagnose(table, table[:, 0]).element_consistency, values)


def test_consistency_counts_weights_as_repeats():
    table = make_partitions(25, 5, 3, noise=0.4, random_state=3)[0]
    times = np.random.default_rng(0).integers(1, 4, 25)
    weighted = Ensemble.from_partitions(table, weights=times)
    expected = element_centric_consistency(np.repeat(table, times, axis=0))
    first = np.cumsum(times) - times
    np.testing.assert_allclose(element_centric_consistency(weighted), expected[first], atol=1e-12)
    diagnosis = diagnose(weighted, table[:, 0])
    assert diagnosis.mean_element_consistency == pytest.approx(expected.mean())
    assert diagnosis.to_dict()["mean_element_consistency"] == pytest.approx(expected.mean())


def test_a_sample_with_one_label_has_no_consistency():
    values = element_centric_consistency([[0, 0, 1, 1], [0, 0, 1, None]])
    np.testing.assert_array_equal(values, [1, 1, 1, np.nan])
    assert np.isnan(element_centric_consistency([[0, 1, 1]])).all()


def test_errors():
    with pytest.raises(ValueError, match="average must be"):
        element_centric_similarity([0, 1], [0, 1], average="max")
    with pytest.raises(ValueError, match="y has 2 entries and labels 3"):
        element_centric_similarity([0, 1], [0, 1, 1])
