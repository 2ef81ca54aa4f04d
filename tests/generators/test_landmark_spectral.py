"""LandmarkSpectral: the graph and its cut against dense calculations, shapes and edges."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from partita import CCGP, config_context
from partita.exceptions import PartitaWarning
from partita.generators import LandmarkSpectral, RandomK, _graph_vectors, _landmark_graph
from partita.generators._graph_vectors import LeadingVectors, graph_components
from partita.generators._landmark_graph import LandmarkGraph, nearest_landmarks, tie

NOISE = np.random.default_rng(0).normal(size=(90, 3)).astype(np.float32)


def spirals(n_arm=100):
    """Return three spirals, wound into each other."""
    rng = np.random.default_rng(0)
    angle = np.linspace(0.5, 3.0, n_arm) * np.pi
    arms = [angle + 2 * np.pi * arm / 3 for arm in range(3)]
    X = np.vstack([np.column_stack([angle * np.cos(a), angle * np.sin(a)]) for a in arms])
    return X + rng.normal(0, 0.08, X.shape), np.repeat(np.arange(3), n_arm)


@pytest.mark.parametrize("p", [1, 5, 8, 30])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_nearest_landmarks_are_the_nearest(p, form):
    indices, distances = nearest_landmarks(form(NOISE), form(NOISE[:p]), min(p, 4))
    table = cdist(NOISE.astype(float), NOISE[:p].astype(float))
    assert_array_equal(indices, np.argsort(table, axis=1)[:, :4])
    assert_allclose(distances, np.sort(table, axis=1)[:, :4], atol=1e-7)


def test_small_distances_far_from_the_origin_keep_their_digits():
    X = (np.arange(8)[:, None] * np.float32(2.0**-20) + np.float32(1)).astype(np.float32)
    distances = nearest_landmarks(X, X, 2)[1]
    assert_allclose(distances[:, 1], 2.0**-20, rtol=1e-2)


def test_embedding_is_that_of_the_dense_bipartite_cut():
    """The generalized eigenproblem of all samples and landmarks, without a transfer cut."""
    n, p, r, k = 90, 30, 5, 4
    indices, distances = nearest_landmarks(NOISE, NOISE[:p], r)
    graph = LandmarkGraph.of(indices, distances, p, k)
    embedding = graph.ties.embed(graph.project(k))

    table = cdist(NOISE.astype(float), NOISE[:p].astype(float))
    is_tied = np.argsort(np.argsort(table, axis=1), axis=1) < r
    s = np.array([table[i, is_tied[i]].mean() for i in range(n)])
    t = np.array([table[is_tied[:, j], j].mean() for j in range(p)])
    B = np.where(is_tied, np.exp(-(table**2) / (2 * np.outer(s, t))), 0)
    A = np.block([[np.zeros((n, n)), B], [B.T, np.zeros((p, p))]])
    values, vectors = scipy.linalg.eigh(A, np.diag(A.sum(axis=1)))
    rows = vectors[:n, -k:] * values[-k:]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    assert values[-k - 1] < values[-k] - 1e-3
    assert_allclose(embedding @ embedding.T, rows @ rows.T, atol=2e-5)


@pytest.mark.parametrize("sparse", [0, 1000])  # Lanczos on the graph, or on its shifted inverse
def test_lanczos_and_the_direct_solver_span_the_same_space(monkeypatch, sparse):
    far = np.vstack([NOISE, NOISE + 100]).astype(np.float32)  # two components
    indices, distances = nearest_landmarks(far, far, 6)
    graph = LandmarkGraph.of(indices, distances, 180, 8)
    assert graph.n_components == 2
    # the components are copies, so that every eigenvalue is there twice: both or none
    direct = graph.project(8)
    monkeypatch.setattr(_graph_vectors, "_DENSE", 10)
    monkeypatch.setattr(_graph_vectors, "_SPARSE", sparse)
    graph = LandmarkGraph.of(indices, distances, 180, 8)
    lanczos = graph.project(8)
    angles = scipy.linalg.subspace_angles(direct.astype(float), lanczos.astype(float))
    assert angles.max() < 1e-3


@pytest.mark.parametrize("sparse", [0, 1000])
def test_lanczos_without_convergence_is_replaced(monkeypatch, sparse):
    indices, distances = nearest_landmarks(NOISE, NOISE, 6)
    graph = LandmarkGraph.of(indices, distances, 90, 5)
    direct = graph.project(5)
    monkeypatch.setattr(_graph_vectors, "_DENSE", 10)
    monkeypatch.setattr(_graph_vectors, "_SPARSE", sparse)
    monkeypatch.setattr(_graph_vectors, "_lanczos", lambda *_: None)
    graph = LandmarkGraph.of(indices, distances, 90, 5)
    assert_array_equal(graph.project(5), direct)


def test_thin_clusters_need_few_steps(monkeypatch):
    """Eigenvalues of a long chain crowd at 1, where Lanczos on the graph itself ends unfinished."""
    angle = np.linspace(0, 6, 900)
    X = np.column_stack([np.cos(angle), np.sin(angle)]).astype(np.float32)
    indices, distances = nearest_landmarks(X, X, 5)

    def vectors():
        return LandmarkGraph.of(indices, distances, len(X), 6).vectors

    lanczos = _graph_vectors._lanczos
    graph = vectors()
    assert lanczos(graph._matrix.dot, graph._first, 5) is None
    fast = graph.leading(6)
    monkeypatch.setattr(_graph_vectors, "_lanczos", lambda *_: None)
    angles = scipy.linalg.subspace_angles(fast, vectors().leading(6))
    assert angles.max() < 1e-6


def test_more_components_than_vectors():
    matrix = sp.csr_matrix(np.eye(5))
    vectors = LeadingVectors(matrix, np.full(5, 2.0), graph_components(matrix), 3)
    assert_allclose(vectors.leading(3), np.eye(5))


def test_thin_shapes_are_followed():
    X, y = spirals()
    scores = {}
    for generator in (LandmarkSpectral, RandomK):
        partitions = generator(20, n_clusters=3, random_state=0).fit_transform(X)
        labels = CCGP(3, random_state=0).fit_predict(partitions)
        scores[generator] = adjusted_rand_score(y, labels)
    assert scores[LandmarkSpectral] > 0.6
    assert scores[RandomK] < 0.2


def test_moons_with_fewer_landmarks_than_samples():
    X, y = make_moons(800, noise=0.05, random_state=0)
    generator = LandmarkSpectral(5, k_min=2, k_max=2, n_landmarks=200, random_state=0).fit(X)
    scores = [adjusted_rand_score(y, column) for column in generator.labels_.T]
    assert np.median(scores) > 0.9


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_transform_repeats_the_training_labels(metric, form):
    X = form(np.abs(make_blobs(5000, 6, centers=5, cluster_std=3.0, random_state=0)[0]))
    generator = LandmarkSpectral(3, n_clusters=5, n_landmarks=100, metric=metric, random_state=0)
    assert_array_equal(generator.fit_transform(X), generator.transform(X))


def test_new_samples_get_the_label_of_their_group():
    X, y = make_blobs(300, 4, centers=4, cluster_std=0.3, random_state=0)
    generator = LandmarkSpectral(5, k_min=4, k_max=4, random_state=0).fit(X[:200])
    labels = generator.transform(X[200:])
    for old, new in zip(generator.labels_.T, labels.T, strict=True):
        joined = adjusted_rand_score(y, np.concatenate([old, new]))
        assert joined == adjusted_rand_score(y[:200], old) == 1


def test_a_new_sample_far_from_everything_gets_a_label():
    generator = LandmarkSpectral(3, n_clusters=3, random_state=0).fit(NOISE)
    assert generator.transform(np.full((1, 3), 1e6)).min() >= 0


def test_blocks_and_threads_do_not_change_the_labels(monkeypatch):
    X = make_blobs(700, 5, centers=6, random_state=1)[0]
    generator = LandmarkSpectral(6, n_clusters=6, n_landmarks=150, random_state=0)
    expected = generator.fit_transform(X)
    for n_threads in (1, 2):
        with config_context(n_threads=n_threads):
            assert_array_equal(generator.fit_transform(X), expected)
    monkeypatch.setattr(_landmark_graph, "_BLOCK", 64)
    assert_array_equal(generator.fit_transform(X), expected)


@pytest.mark.parametrize(
    ("parameters", "low", "high"),
    [
        ({}, 2, 9),
        ({"n_clusters": 3}, 3, 9),
        ({"n_clusters": 2, "k_max": 3}, 2, 3),
        ({"k_min": 4, "k_max": 4}, 4, 4),
    ],
    ids=str,
)
def test_range_of_k(parameters, low, high):
    clusters = LandmarkSpectral(60, random_state=0, **parameters).fit(NOISE).n_clusters_
    assert set(clusters.tolist()) == set(range(low, high + 1))


def test_repeated_rows_give_fewer_clusters():
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0]], 30, axis=0)
    generator = LandmarkSpectral(6, k_min=5, k_max=9, random_state=0).fit(X)
    assert_array_equal(generator.n_clusters_, 3)
    for column in generator.labels_.T:
        assert adjusted_rand_score(np.repeat([0, 1, 2], 30), column) == 1


@pytest.mark.parametrize("n", [2, 3, 7])
def test_few_samples(n):
    generator = LandmarkSpectral(4, n_clusters=2, random_state=0).fit(NOISE[:n])
    assert generator.labels_.min() == 0
    assert_array_equal(generator.transform(NOISE[:n]), generator.labels_)


def test_constant_data_are_one_cluster():
    assert_array_equal(LandmarkSpectral(3, random_state=0).fit_transform(np.ones((20, 2))), 0)


def test_groups_far_apart_are_never_joined_while_there_are_clusters_enough():
    centers = 1e4 * np.arange(12)[:, None]
    X = (centers[:, None] + NOISE[:20]).reshape(-1, 3)
    y = np.repeat(np.arange(12), 20)
    labels = LandmarkSpectral(4, k_min=12, k_max=12, random_state=0).fit_transform(X)
    assert min(adjusted_rand_score(y, column) for column in labels.T) == 1
    # With fewer clusters than groups, every group is still in one piece.
    labels = LandmarkSpectral(4, k_min=5, k_max=5, random_state=0).fit_transform(X)
    for column in labels.T:
        assert all(len(set(column[y == group])) == 1 for group in range(12))


def test_weights_that_underflow_leave_a_vector():
    ties = tie(np.array([[0, 1]]), np.array([[1e6, 2e6]]), np.array([1e-3, 1e-3]))
    assert ties.scales[0] == 0
    assert_allclose(ties.weights[0], [1, 0])
    assert_allclose(ties.embed(np.eye(2, dtype=np.float32)), [[1, 0]])


def test_rows_without_direction_stay_unlabeled():
    X = np.vstack([np.zeros((2, 3)), np.abs(NOISE)])
    generator = LandmarkSpectral(4, metric="cosine", random_state=0)
    with pytest.warns(PartitaWarning, match="2 of 92 rows are all zero"):
        generator.fit(X)
    assert_array_equal(generator.labels_[:2], -1)
    assert generator.labels_[2:].min() == 0
    assert_array_equal(generator.transform(X), generator.labels_)
    with pytest.warns(PartitaWarning, match="5 of 5 rows are all zero"):
        nothing = generator.fit(np.zeros((5, 3)))
    assert_array_equal(nothing.labels_, -1)
    assert_array_equal(nothing.transform(X), -1)


def test_landmarks_are_kept_once():
    generator = LandmarkSpectral(20, n_clusters=3, n_landmarks=80, random_state=0).fit(NOISE)
    assert len(generator._rows) <= 90
    assert {len(model.landmarks) for model in generator.models_} == {80}


@pytest.mark.parametrize("wrong", [(0, 3), (5, 4), (3,), (2.5, 4)], ids=str)
def test_wrong_neighbors(wrong):
    with pytest.raises(ValueError, match="n_neighbors must be a pair"):
        LandmarkSpectral(2, n_neighbors=wrong).fit(NOISE)


def test_more_clusters_than_samples():
    with pytest.raises(ValueError, match=r"n_samples=90 rows, fewer than k_min=91"):
        LandmarkSpectral(2, n_clusters=91).fit(NOISE)


def test_more_clusters_than_landmarks_are_refused() -> None:
    with pytest.raises(ValueError, match=r"n_landmarks=5 must be at least .*, 20 to 20"):
        LandmarkSpectral(2, n_clusters=20, n_landmarks=5).fit(NOISE)
    with pytest.raises(ValueError, match="n_landmarks=5 must be at least"):
        LandmarkSpectral(2, k_min=2, k_max=6, n_landmarks=5).fit(NOISE)


def test_the_largest_number_of_clusters_is_at_most_that_of_landmarks() -> None:
    generator = LandmarkSpectral(20, n_clusters=4, n_landmarks=5, random_state=0).fit(NOISE)
    assert generator.n_clusters_.max() == 5
