"""The k-means behind the generators, beside scikit-learn's own."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

from partita._sklearn_compat import run_kmeans
from partita.generators import RandomK, _kmeans
from partita.generators._kmeans import CentroidModel, _seed_centers, kmeans


def test_inertia_is_that_of_scikit_learns_starts():
    X = load_digits().data.astype(np.float32)
    X -= X.mean(axis=0)
    with threadpool_limits(1):
        ours = [kmeans(X, 30, 1, 50, np.random.default_rng(s)).inertia for s in range(8)]
        theirs = [KMeans(30, n_init=1, random_state=s).fit(X).inertia_ for s in range(8)]
    assert np.mean(ours) < 1.01 * np.mean(theirs)


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sp.csr_matrix])
@pytest.mark.parametrize(("k", "max_iter"), [(1, 50), (7, 50), (7, 2)])
def test_a_run_is_that_of_scikit_learns_estimator(form, k, max_iter):
    """Equal to the last bit: only the checks of the estimator are left out."""
    X = form(load_digits().data[:300].astype(np.float32))
    before, centers = X.copy(), load_digits().data[:k].astype(np.float32)
    ours = run_kmeans(X, centers, max_iter)
    with threadpool_limits(1):
        theirs = KMeans(k, init=centers, n_init=1, max_iter=max_iter).fit(X)
    assert_array_equal(ours.centers, theirs.cluster_centers_)
    assert (ours.inertia, ours.n_iter) == (theirs.inertia_, theirs.n_iter_)
    assert (before != X).sum() == 0


@pytest.fixture(scope="module")
def many_rows():
    """Return rows of 12 overlapping groups, enough for iterations on a sample."""
    rng = np.random.default_rng(0)
    groups = rng.integers(12, size=20_000)
    return (3 * rng.normal(size=(12, 6))[groups] + rng.normal(size=(20_000, 6))).astype(np.float32)


@pytest.fixture
def work(monkeypatch):
    """Record the number of rows and the allowed iterations of every call of scikit-learn."""
    calls = []
    iterate = _kmeans.run_kmeans

    def record(X, centers, max_iter):
        calls.append((X.shape[0], max_iter))
        return iterate(X, centers, max_iter)

    monkeypatch.setattr(_kmeans, "run_kmeans", record)
    return calls


def test_inertia_after_iterations_on_a_sample_is_that_of_scikit_learn(many_rows):
    with threadpool_limits(1):
        ours = [kmeans(many_rows, 12, 1, 50, np.random.default_rng(s)).inertia for s in range(12)]
        theirs = [KMeans(12, n_init=1, random_state=s).fit(many_rows).inertia_ for s in range(12)]
    assert np.mean(ours) < 1.01 * np.mean(theirs)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_most_iterations_of_many_rows_run_on_a_sample(many_rows, work, form):
    run = kmeans(form(many_rows), 12, 1, 50, np.random.default_rng(0))
    assert work == [(5000, 40), (20_000, 10)]
    assert 10 < run.n_iter <= 50


@pytest.mark.parametrize(
    ("n_rows", "max_iter", "expected"),
    [
        (19_999, 50, [(19_999, 50)]),
        (20_000, 7, [(5000, 5), (20_000, 2)]),
        (20_000, 1, [(20_000, 1)]),
    ],
)
def test_iterations_never_exceed_max_iter(many_rows, work, n_rows, max_iter, expected):
    run = kmeans(many_rows[:n_rows], 12, 1, max_iter, np.random.default_rng(0))
    assert work == expected
    assert run.n_iter <= max_iter


def test_labels_of_many_rows_do_not_depend_on_n_jobs(many_rows):
    one, two = (
        RandomK(4, k_min=5, k_max=20, n_jobs=jobs, random_state=0).fit_transform(many_rows)
        for jobs in (1, 2)
    )
    assert_array_equal(one, two)


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
    assert len(np.unique(CentroidModel(run.centers).nearest(X))) == 3


def test_nearest_center_in_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    X, centers = rng.normal(size=(57, 4)), rng.normal(size=(6, 4))
    X, centers = X.astype(np.float32), centers.astype(np.float32)
    expected = np.linalg.norm(X[:, None] - centers, axis=2).argmin(axis=1)
    assert_array_equal(CentroidModel(centers).predict(X), expected)
    monkeypatch.setattr("partita.generators._kmeans._SCORES", 60)
    assert_array_equal(CentroidModel(centers).predict(X), expected)
