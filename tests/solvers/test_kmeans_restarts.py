"""All restarts of k-means at once find what scikit-learn's find one after the other."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from partita.solvers import kmeans_restarts
from partita.solvers.kmeans import weighted_kmeans
from partita.solvers.kmeans_restarts import batched_kmeans
from partita.solvers.spectral import normalize_rows


def directions(rng, n, k, spread):
    """Return unit vectors around k random directions, and the direction of each."""
    y = rng.integers(k, size=n)
    return normalize_rows(np.eye(k)[y] + spread * rng.normal(size=(n, k))), y


@pytest.mark.parametrize("k", [2, 5, 12])
def test_clear_clusters_are_found(k):
    rng = np.random.default_rng(k)
    X, y = directions(rng, 300, k, 0.1)
    labels, inertia = batched_kmeans(X, np.ones(300), k, rng)
    assert adjusted_rand_score(y, labels) == 1.0
    assert inertia == pytest.approx(weighted_kmeans(X, np.ones(300), k, rng)[1], rel=1e-4)


@pytest.mark.parametrize("k", [3, 8])
def test_inertia_of_noise_is_near_that_of_full_restarts(k):
    rng = np.random.default_rng(0)
    X, w = normalize_rows(rng.normal(size=(500, k))), rng.integers(1, 4, 500).astype(float)
    ours = np.mean([batched_kmeans(X, w, k, rng)[1] * w.mean() for _ in range(5)])
    theirs = np.mean([weighted_kmeans(X, w, k, rng)[1] for _ in range(5)])
    assert ours < 1.02 * theirs


@pytest.mark.parametrize("k", [2, 6, 12])
def test_many_points_choose_their_restart_by_a_sample(monkeypatch, k):
    rng = np.random.default_rng(k)
    X, _ = directions(rng, 6000, k, 0.6)
    w = rng.pareto(2.0, 6000) + 0.1
    by_sample = [batched_kmeans(X, w, k, np.random.default_rng(s))[1] for s in range(4)]
    monkeypatch.setattr(kmeans_restarts, "_SAMPLED", 6000)
    by_all = [batched_kmeans(X, w, k, np.random.default_rng(s))[1] for s in range(4)]
    assert by_sample != by_all  # the sample was used
    assert np.mean(by_sample) < 1.005 * np.mean(by_all)


def test_a_sample_holds_no_point_without_weight():
    rng = np.random.default_rng(0)
    X = normalize_rows(rng.normal(size=(5000, 3)))
    w = (np.arange(5000) % 5 == 0).astype(float)
    some = kmeans_restarts._sample(kmeans_restarts._Points(X, w), X, w, 2000, rng)
    chosen = {row.tobytes() for row in X[w > 0].astype(np.float32)}
    assert {row.tobytes() for row in np.ascontiguousarray(some.columns[:3].T)} <= chosen
    assert some.n <= 1000


def test_inertia_belongs_to_the_labels():
    rng = np.random.default_rng(0)
    X, w = normalize_rows(rng.normal(size=(200, 4))), rng.uniform(0.5, 2, 200)
    labels, inertia = batched_kmeans(X, w, 4, rng)
    centers = [np.average(X[labels == k], axis=0, weights=w[labels == k]) for k in range(4)]
    squares = ((X - np.asarray(centers)[labels]) ** 2).sum(axis=1)
    assert inertia == pytest.approx((w * squares).sum() / w.mean(), rel=1e-3)


def test_a_weight_is_a_number_of_equal_points():
    rng = np.random.default_rng(1)
    X, _ = directions(rng, 80, 3, 0.4)
    w = rng.integers(1, 5, 80)
    labels, _ = batched_kmeans(X, w.astype(float), 3, rng)
    repeated, _ = batched_kmeans(np.repeat(X, w, axis=0), np.ones(w.sum()), 3, rng)
    assert adjusted_rand_score(np.repeat(labels, w), repeated) == 1.0


def test_fewer_distinct_points_give_fewer_clusters():
    X = np.repeat(np.eye(3), 10, axis=0)
    labels, inertia = batched_kmeans(X, np.ones(30), 5, np.random.default_rng(0))
    np.testing.assert_array_equal(labels.reshape(3, 10), np.repeat(labels[::10, None], 10, axis=1))
    assert len(np.unique(labels)) == 3
    assert inertia == pytest.approx(0.0, abs=1e-4)


def test_empty_clusters_move_to_the_farthest_points():
    points = kmeans_restarts._Points(np.eye(4), np.ones(4))
    centers = points.as_centers(np.array([[0, 0, 1, 2]]))
    counts = np.array([[1, 0, 1, 1]], np.float32)
    kmeans_restarts._relocate(points, centers, counts, points.sums(centers).scores)
    np.testing.assert_array_equal(centers[0, 1], points.as_centers(np.array(3)))


def test_blocks_of_points_change_no_sum(monkeypatch):
    rng = np.random.default_rng(0)
    points = kmeans_restarts._Points(normalize_rows(rng.normal(size=(500, 3))), np.ones(500))
    centers = points.as_centers(rng.integers(500, size=(4, 3)))
    whole = points.sums(centers)
    monkeypatch.setattr(kmeans_restarts, "_CACHED", 64 * 12)
    blocks = points.sums(centers)
    np.testing.assert_allclose(blocks.vectors, whole.vectors, rtol=1e-5, atol=1e-4)
    np.testing.assert_array_equal(blocks.scores, whole.scores)


@pytest.mark.parametrize("n", [1, 31, 32, 33, 500])
def test_a_draw_searches_the_cumulative_sum_of_its_row(n):
    rng = np.random.default_rng(n)
    masses = rng.random((4, n)).astype(np.float32) * rng.integers(2, size=(4, n))
    masses[:, n // 2] = 1
    uniform = rng.random((4, 50))
    uniform[:, 0] = 0  # the first index with a mass
    cumulative = np.cumsum(masses, axis=1, dtype=np.float64)
    expected = [
        np.searchsorted(row, u * row[-1], "right")
        for row, u in zip(cumulative, uniform, strict=True)
    ]
    np.testing.assert_array_equal(kmeans_restarts._draw(masses, uniform), expected)


def test_the_order_of_memory_changes_nothing():
    rng = np.random.default_rng(2)
    X, w = directions(rng, 4000, 3, 0.5)[0], rng.integers(1, 4, 4000).astype(float)
    rows, columns = (
        batched_kmeans(array, w, 3, np.random.default_rng(0))
        for array in (np.ascontiguousarray(X), np.asfortranarray(X))
    )
    np.testing.assert_array_equal(rows[0], columns[0])
    assert rows[1] == columns[1]
