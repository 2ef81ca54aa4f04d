"""k-means runs that are made at once, compared with single runs of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score

from partita.exceptions import PartitaWarning
from partita.generators import LandmarkSpectral, RandomFeatures, RandomK, RandomRows
from partita.generators._batched_kmeans import _Runs, batched_kmeans

BLOBS, CLUSTERS = make_blobs(300, 3, centers=6, cluster_std=2.0, random_state=0)
X = (BLOBS - BLOBS.mean(axis=0)).astype(np.float32)


def generators(count, first=0):
    return [np.random.default_rng(first + i) for i in range(count)]


def random_weights(n_runs):
    rng = np.random.default_rng(1)
    return rng.integers(0, 3, (n_runs, len(X))).astype(np.float32)


def inertia(labels, weights):
    total = 0.0
    for k in np.unique(labels):
        rows, w = X[labels == k].astype(float), weights[labels == k].astype(float)
        if w.sum():
            total += w @ np.square(rows - w @ rows / w.sum()).sum(axis=1)
    return total


@pytest.mark.parametrize("k", [2, 6, 11])
def test_runs_are_as_good_as_those_of_scikit_learn(k):
    weights = np.repeat(random_weights(1), 80, axis=0)
    labels = batched_kmeans(X, weights, k, 50, generators(80))
    ours = [inertia(each, weights[0]) for each in labels]
    theirs = [
        KMeans(k, n_init=1, max_iter=50, random_state=i).fit(X, sample_weight=weights[0]).inertia_
        for i in range(80)
    ]
    error = np.sqrt((np.var(ours) + np.var(theirs)) / 80)
    assert abs(np.mean(ours) - np.mean(theirs)) < 3 * error
    assert np.min(ours) == pytest.approx(np.min(theirs), rel=0.01)


def test_a_run_does_not_depend_on_the_others():
    weights = random_weights(9)
    together = batched_kmeans(X, weights, 5, 50, generators(9))
    alone = batched_kmeans(X, weights[4:5], 5, 50, generators(1, first=4))
    assert_array_equal(together[4], alone[0])


def test_a_weight_is_a_number_of_copies():
    """One step of the iteration; the random numbers of a run on copies are others."""
    weights = random_weights(1)
    centers = _Runs(X, weights)._seeds(np.random.default_rng(0).random((1, 4, 3)))
    copies = np.repeat(X, weights[0].astype(int), axis=0)
    runs = np.zeros(1, np.int64)
    expected = _Runs(copies, np.ones((1, len(copies)), np.float32))._means(centers, runs)
    np.testing.assert_allclose(_Runs(X, weights)._means(centers, runs), expected, rtol=1e-5)


def test_an_empty_cluster_gets_the_farthest_row():
    runs = _Runs(X, np.ones((1, len(X)), np.float32))
    far = np.full((1, 1, 4), 1e3, np.float32)
    far[..., -1] = -0.5 * 3e6
    centers = np.concatenate([runs.as_centers[None, :1], far], axis=1)
    moved = runs._means(centers, np.zeros(1, np.int64))
    farthest = np.square(X - X[0]).sum(axis=1).argmax()
    assert_array_equal(moved[0, 1], runs.as_centers[farthest])


def test_fewer_distinct_rows_than_clusters():
    rows = np.repeat(np.eye(3, dtype=np.float32), 5, axis=0)
    labels = batched_kmeans(rows, np.ones((4, 15), np.float32), 6, 50, generators(4))
    for each in labels:
        assert adjusted_rand_score(np.repeat(np.arange(3), 5), each) == 1


@pytest.mark.parametrize(
    "generator",
    [
        RandomK(8),
        RandomRows(8, ratio=0.8),
        RandomRows(8, ratio=0.9, replacement=True),
        LandmarkSpectral(8),
    ],
)
@pytest.mark.filterwarnings("ignore:.* have no label in any")
def test_scanned_partitions_are_like_those_of_a_fit(generator):
    generator.set_params(random_state=0)
    numbers = (2, 6, 4)
    for k, labels in zip(numbers, generator.labels_for_each(BLOBS, numbers), strict=True):
        fitted = generator.set_params(k_min=k, k_max=k).fit_transform(BLOBS)
        assert labels.shape == fitted.shape
        assert labels.max() == k - 1
        # the same samples are clustered, and about as well
        assert_array_equal(labels == -1, fitted == -1)
        scores = [
            np.median([adjusted_rand_score(CLUSTERS[c >= 0], c[c >= 0]) for c in table.T])
            for table in (labels, fitted)
        ]
        assert scores[0] == pytest.approx(scores[1], abs=0.1)
    fewer = generator.set_params(n_partitions=3).labels_for_each(BLOBS, [4])[0]
    assert_array_equal(fewer, labels[:, :3])


def test_other_generators_make_one_fit_per_number():
    made = RandomFeatures(3, ratio=0.5, random_state=0)
    for k, labels in zip((2, 3), made.labels_for_each(load_iris().data, (2, 3)), strict=True):
        fitted = made.set_params(k_min=k, k_max=k).fit_transform(load_iris().data)
        assert_array_equal(labels, fitted)


def test_errors_are_those_of_a_fit():
    with pytest.raises(ValueError, match="fewer than k_min=400"):
        RandomK(2).labels_for_each(BLOBS, [3, 400])
    with pytest.raises(ValueError, match="n_partitions"):
        RandomRows(0).labels_for_each(BLOBS, [3])


def test_samples_without_any_label_are_reported():
    with pytest.warns(PartitaWarning, match="of 300 samples have no label in any of the 2"):
        RandomRows(2, ratio=0.3, random_state=0).labels_for_each(BLOBS, [3])
