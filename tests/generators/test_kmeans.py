"""The k-means behind the generators, beside scikit-learn's own."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

from partita.generators._kmeans import CentroidModel, _seed_centers, kmeans


def test_inertia_is_that_of_scikit_learns_starts():
    X = load_digits().data.astype(np.float32)
    X -= X.mean(axis=0)
    with threadpool_limits(1):
        ours = [kmeans(X, 30, 1, 50, np.random.default_rng(s)).inertia_ for s in range(8)]
        theirs = [KMeans(30, n_init=1, random_state=s).fit(X).inertia_ for s in range(8)]
    assert np.mean(ours) < 1.01 * np.mean(theirs)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_seeds_are_distinct_rows_spread_over_the_groups(form):
    groups = np.repeat(np.arange(12), 100)
    X = (100 * np.eye(12)[groups]).astype(np.float32)
    X += np.random.default_rng(0).normal(size=X.shape).astype(np.float32)
    seeds = _seed_centers(form(X), 12, np.random.default_rng(1))
    assert seeds.shape == (12, 12)
    assert set(seeds.argmax(axis=1).tolist()) == set(range(12))
    assert all((seed == X).all(axis=1).any() for seed in seeds)


def test_rare_rows_missed_by_the_seeding_sample_still_become_clusters():
    X = np.zeros((20_000, 2), np.float32)
    X[7], X[11] = (1, 0), (0, 1)
    run = kmeans(X, 3, 1, 50, np.random.default_rng(0))
    assert len(np.unique(run.labels_)) == 3


def test_nearest_center_in_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    X, centers = rng.normal(size=(57, 4)), rng.normal(size=(6, 4))
    X, centers = X.astype(np.float32), centers.astype(np.float32)
    expected = np.linalg.norm(X[:, None] - centers, axis=2).argmin(axis=1)
    assert_array_equal(CentroidModel(centers).predict(X), expected)
    monkeypatch.setattr("partita.generators._kmeans._SCORES", 60)
    assert_array_equal(CentroidModel(centers).predict(X), expected)
