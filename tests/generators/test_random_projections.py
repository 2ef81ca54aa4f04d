"""RandomProjections: shapes, variance, and that distances survive."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.metrics import adjusted_rand_score

from partita.generators import RandomProjections

TRUTH = np.repeat(np.arange(4), 25)
X = 20 * np.eye(60)[TRUTH] + np.random.default_rng(0).normal(size=(100, 60))


@pytest.mark.parametrize(("n_components", "q"), [(None, 8), (3, 3), (60, 60), (100, 100)])
def test_shape_of_the_projection(n_components, q):
    generator = RandomProjections(2, n_components=n_components, random_state=0).fit(X)
    assert all(model.features.shape == (60, q) for model in generator.models_)
    assert all(model.centers.shape[1] == q for model in generator.models_)


def test_one_feature():
    assert RandomProjections(2, random_state=0).fit(X[:, :1]).models_[0].features.shape == (1, 1)


def test_squared_distances_are_kept_in_expectation():
    generator = RandomProjections(60, n_components=10, max_iter=1, random_state=0).fit(X)
    difference = X[0] - X[-1]
    seen = [np.sum((difference @ model.features) ** 2) for model in generator.models_]
    # chi-squared with 600 degrees of freedom: relative standard deviation 0.058
    assert np.mean(seen) == pytest.approx(np.sum(difference**2), rel=0.25)


def test_separated_groups_survive():
    generator = RandomProjections(
        10, n_components=30, k_min=4, k_max=4, n_init=5, random_state=0
    ).fit(X)
    scores = [adjusted_rand_score(TRUTH, column) for column in generator.labels_.T]
    assert np.median(scores) == 1
    assert_array_equal(generator.transform(X), generator.labels_)
