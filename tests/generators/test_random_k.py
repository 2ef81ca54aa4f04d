"""RandomK: the range of K_i and what happens at its edges."""

from __future__ import annotations

import warnings
from math import isqrt

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from partita.exceptions import PartitaWarning
from partita.generators import RandomK


@pytest.fixture(scope="module")
def noise():
    return np.random.default_rng(0).normal(size=(200, 5))


@pytest.mark.parametrize(
    ("given", "low", "high"),
    [
        ({}, 2, 14),
        ({"n_clusters": 5}, 5, 14),
        ({"n_clusters": 5, "k_min": 3}, 3, 14),
        ({"k_max": 4}, 2, 4),
        ({"n_clusters": 20}, 20, 20),
        ({"k_min": 7, "k_max": 9}, 7, 9),
        ({"k_max": 1}, 1, 1),
    ],
    ids=str,
)
def test_range_of_k(noise, given, low, high):
    assert isqrt(len(noise)) == 14
    clusters = RandomK(100, random_state=0, max_iter=3, **given).fit(noise).n_clusters_
    assert set(clusters.tolist()) == set(range(low, high + 1))


def test_k_is_uniform(noise):
    clusters = RandomK(200, k_min=2, k_max=5, max_iter=1, random_state=0).fit(noise).n_clusters_
    counts = np.bincount(clusters, minlength=6)[2:]
    assert counts.sum() == 200
    # four values, 50 expected each, standard deviation 6.1
    assert np.all(np.abs(counts - 50) < 25)


def test_impossible_ranges(noise):
    with pytest.raises(ValueError, match=r"k_min=9 must not exceed k_max=4"):
        RandomK(2, k_min=9, k_max=4).fit(noise)
    with pytest.raises(ValueError, match=r"n_samples=200 rows, fewer than k_min=300"):
        RandomK(2, n_clusters=300).fit(noise)


def test_repeated_rows_give_fewer_clusters_and_no_made_up_ones():
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0]], 30, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        generator = RandomK(10, k_min=6, k_max=9, random_state=0).fit(X)
    assert_array_equal(generator.n_clusters_, 3)
    for column in generator.labels_.T:
        assert adjusted_rand_score(np.repeat([0, 1, 2], 30), column) == 1


def test_constant_data_are_one_cluster():
    assert_array_equal(RandomK(3, random_state=0).fit_transform(np.ones((20, 2))), 0)


@pytest.mark.parametrize("factor", [1e-30, 1e30, 2.0**-7])
def test_units_do_not_matter(noise, factor):
    expected = RandomK(5, random_state=0).fit_transform(noise)
    scaled = RandomK(5, random_state=0).fit_transform(noise * factor)
    assert np.mean(scaled == expected) > 0.99


def test_a_large_offset_costs_no_digits():
    X = load_iris().data
    expected = RandomK(5, k_min=3, k_max=3, random_state=0).fit_transform(X)
    moved = RandomK(5, k_min=3, k_max=3, random_state=0).fit_transform(X + 1e9)
    assert np.mean(moved == expected) > 0.99


def test_n_init_keeps_the_best_start(noise):
    def inertia(generator):
        prepared = generator.fit(noise)._preparation.apply(noise)
        return np.mean(
            [
                ((prepared - model.centers[column]) ** 2).sum()
                for model, column in zip(generator.models_, generator.labels_.T, strict=True)
            ]
        )

    single = inertia(RandomK(20, k_min=8, k_max=8, random_state=0))
    many = inertia(RandomK(20, k_min=8, k_max=8, n_init=8, random_state=0))
    assert many < single * 0.99


def test_max_iter_is_obeyed(noise):
    assert RandomK(5, k_min=8, max_iter=2, random_state=0).fit(noise).n_iter_ == 2
    assert RandomK(5, k_min=8, random_state=0).fit(noise).n_iter_ > 2


def test_rows_without_direction_stay_unlabeled():
    X = np.vstack([np.zeros((2, 3)), np.eye(3).repeat(10, axis=0)])
    with pytest.warns(PartitaWarning, match="2 of 32 rows are all zero"):
        generator = RandomK(4, metric="cosine", random_state=0).fit(X)
    assert_array_equal(generator.labels_[:2], -1)
    assert generator.labels_[2:].min() == 0
    assert_array_equal(generator.transform(np.zeros((1, 3))), -1)


def test_well_separated_groups_are_found():
    truth = np.repeat(np.arange(5), 30)
    X = 10 * np.eye(5)[truth] + np.random.default_rng(0).normal(size=(150, 5))
    labels = RandomK(10, k_min=5, k_max=5, n_init=5, random_state=0).fit_transform(X)
    assert min(adjusted_rand_score(truth, column) for column in labels.T) == 1
