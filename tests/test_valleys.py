"""A cut through a thin shape has no valley of density; the gap between clusters is one."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from partita.consensus import CCGP, EAC
from partita.exceptions import NoStructureError, PartitaWarning
from partita.generators import LandmarkSpectral, RandomRows
from partita.select_k import scan_k_features
from partita.select_k._choice import choose_number, suggested_number
from partita.select_k._valleys import cuts_between, has_valley


def line(shape, seed, n=150, width=0.03):
    """Return points along a line, without clusters."""
    rng = np.random.default_rng(seed)
    x = rng.random(n)
    if shape == "helix":
        angle = 6 * np.pi * x
        points = np.column_stack([np.cos(angle), np.sin(angle), 0.3 * angle])
    elif shape == "corner":
        points = 3 * np.column_stack([np.maximum(x - 0.5, 0), np.maximum(0.5 - x, 0)])
    elif shape == "spiral":
        turn = 0.5 + 2.5 * x
        points = turn[:, None] * np.column_stack([np.cos(2 * turn), np.sin(2 * turn)])
    else:
        angle = {"ring": 2, "arc": 1.3}[shape] * np.pi * x
        points = np.column_stack([np.cos(angle), np.sin(angle)])
    return points + width * rng.normal(size=points.shape)


def pieces(X, k):
    return KMeans(k, n_init=2, random_state=0).fit_predict(X).astype(np.int64)


def slow_cuts(X, labels):
    """The definition, sample by sample."""
    k = labels.max() + 1
    centers = [X[labels == j].mean(axis=0) for j in range(k)]
    cuts = {}
    for i, j in combinations(range(k), 2):
        middle, radius = (centers[i] + centers[j]) / 2, np.linalg.norm(centers[i] - centers[j]) / 2
        if any(np.linalg.norm(centers[c] - middle) < radius for c in set(range(k)) - {i, j}):
            continue
        sides = []
        for own, other in ((i, j), (j, i)):
            cluster = sorted(X[labels == own], key=lambda x: np.linalg.norm(x - centers[other]))
            sides.append(np.mean(cluster[: max(3, int(np.ceil(len(cluster) / 4)))], axis=0))
        border, both, close = np.mean(sides, axis=0), [], []
        across = inside = 0.0
        for own in (i, j):
            path = centers[own] - border
            along = [(x - border) @ path / (path @ path) for x in X[labels == own]]
            away = [
                np.linalg.norm(x - border - t * path) ** 2
                for x, t in zip(X[labels == own], along, strict=True)
            ]
            near = [
                (o / (path @ path), abs(t)) for o, t in zip(away, along, strict=True) if abs(t) <= 1
            ]
            half = np.median([o for o, _ in near])
            both += [-np.cos(np.pi * t) for _, t in near]
            close += [-np.cos(np.pi * t) for o, t in near if o <= half * (1 + 1e-12)]
            across += sum(o for o, _ in near)
            inside += sum((1 - t) ** 2 for _, t in near)
        cuts[j, i] = (sum(both), len(both), sum(close), len(close), across, inside)
    return cuts


def values(cut):
    return cut.rise, cut.size, cut.close_rise, cut.close_size, cut.across, cut.along


@pytest.mark.parametrize(("n_features", "k"), [(2, 2), (2, 5), (4, 4), (10, 3)])
def test_the_cuts_are_those_of_the_definition(n_features, k):
    X, _ = make_blobs(90, n_features, centers=k, cluster_std=4, random_state=1)
    labels = pieces(X, k)
    cuts, slow = cuts_between(X, labels), slow_cuts(X, labels)
    assert cuts.keys() == slow.keys()
    assert len(cuts) >= k - 1
    for pair, cut in cuts.items():
        np.testing.assert_allclose(values(cut), slow[pair], rtol=1e-9)
        every, close = (r / np.sqrt(n / 2) for r, n in (slow[pair][:2], slow[pair][2:4]))
        score = min(every, close) if slow[pair][0] < 0.9 * slow[pair][1] else np.inf
        np.testing.assert_allclose([cut.contrast, cut.score], [every, score])


def test_a_cut_by_hand():
    """The border is at 0 and the centers at ±3: samples at t = 1/3, and at the centers beyond."""
    X = np.array([[-5.0, 0], [-1, 0], [-3, 0], [-3, 0], [5, 1], [1, 1], [3, 1], [3, 1]]) - [0, 0.5]
    X = np.repeat(X, 6, axis=0)  # a quarter of each cluster, its nearest samples, is at ±1
    (cut,) = cuts_between(X, np.arange(48) // 24).values()
    path = 9 + 0.25  # squared
    inner = (3 + 0.25) / path  # the border is at 0, the samples at ±1 are 0.5 away from it
    np.testing.assert_allclose(cut.rise, 24 - 12 * np.cos(np.pi * inner))
    assert cut.size == 36
    np.testing.assert_allclose(cut.across, 12 * ((1 + 0.25) / path - inner**2))
    np.testing.assert_allclose(cut.along, 12 * (1 - inner) ** 2)
    assert cut.thickness == cut.across / cut.along
    assert (cut + cut).contrast == pytest.approx(2**0.5 * cut.contrast)


def test_even_lines_seem_to_have_a_valley_as_often_as_stated():
    """Two halves of an even line, cut in the middle."""
    rng = np.random.default_rng(0)
    passes = []
    for _ in range(400):
        x = rng.uniform(-1, 1, 200)
        X = np.column_stack([x, 0.02 * rng.normal(size=200)])
        passes.append(has_valley(X, (x > 0).astype(np.int64)))
    assert np.mean(passes) < 0.04  # three standard errors above two of a hundred


@pytest.mark.parametrize("shape", ["ring", "arc", "spiral", "helix", "corner"])
def test_pieces_of_a_line_have_no_valley(shape):
    passes = []
    for seed in range(10):
        X = line(shape, seed)
        # three turns of a helix need more pieces: each is less than half a turn
        passes += [has_valley(X, pieces(X, k)) for k in ((8, 9) if shape == "helix" else (6, 7))]
    assert np.mean(passes) <= 0.1


@pytest.mark.parametrize("n_features", [2, 5, 20])
@pytest.mark.parametrize("k", [2, 3, 6])
def test_clusters_have_valleys(n_features, k):
    rng = np.random.default_rng(0)
    centers = 6 * np.eye(20)[:k, :n_features] if k <= n_features else 5 * rng.normal(size=(k, 2))
    X, _ = make_blobs(150, n_features, centers=centers, random_state=0)
    assert has_valley(X, pieces(X, k))


@pytest.mark.parametrize(("n_features", "apart"), [(2, 4.5), (3, 3.5), (5, 4.0)])
def test_valleys_of_small_round_clusters_are_clear_together(n_features, apart):
    alone, together = [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        centers = np.zeros((4, n_features))
        centers[:, :2] = apart * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
        X = np.repeat(centers, 15, axis=0) + rng.normal(size=(60, n_features))
        labels = pieces(X, 4)
        scores = sorted(cut.score for cut in cuts_between(X, labels).values())
        alone.append(scores[2] > norm.isf(0.02 / 3))
        together.append(has_valley(X, labels))
    assert np.mean(together) > 0.7 > 0.5 > np.mean(alone)


@pytest.mark.parametrize("size", [4, 8])
def test_clear_gaps_between_few_samples_are_valleys(size):
    """Twelve bars along one line: normal scores of so few samples are below the bound."""
    bar = np.linspace(-1, 1, size)
    X = np.concatenate([np.column_stack([bar + 20 * j, 0.01 * bar]) for j in range(12)])
    labels = np.repeat(np.arange(12), size)
    contrasts = [cut.contrast for cut in cuts_between(X, labels).values()]
    assert len(contrasts) == 11
    assert max(contrasts) < norm.isf(0.02 / 11) or size > 4
    assert has_valley(X, labels)


def test_one_valley_is_enough_and_a_gap_between_turns_is_none():
    X, y = make_blobs(200, centers=[[0, 0], [12, 0]], random_state=0)
    halves = 2 * y + (X[:, 1] > 0)  # both clusters are cut in two
    assert has_valley(X, halves)
    angle = np.linspace(0, 4 * np.pi, 400, endpoint=False)
    turns = np.column_stack([np.cos(angle), np.sin(angle), 0.5 * angle])
    labels = (angle // (np.pi / 2)).astype(np.int64)
    assert max(cut.score for cut in cuts_between(turns, labels).values()) > 4, "between the turns"
    assert not has_valley(turns, labels)


@given(seed=st.integers(0, 1000), k=st.integers(2, 6), scale=st.sampled_from([1e-3, 1.0, 1e4]))
def test_the_cuts_know_neither_scale_nor_order_nor_names(seed, k, scale):
    rng = np.random.default_rng(seed)
    X, labels = rng.normal(size=(60, 3)), rng.permutation(np.arange(60) % k)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    order, names = rng.permutation(60), rng.permutation(k)
    again = cuts_between(scale * (X @ turn + 1)[order], names[labels[order]])
    cuts = cuts_between(X, labels)
    assert {frozenset(names[[*pair]].tolist()) for pair in cuts} == set(map(frozenset, again))
    for pair, cut in cuts.items():
        moved = again[tuple(sorted(names[[*pair]].tolist(), reverse=True))]
        np.testing.assert_allclose(values(moved), values(cut), rtol=1e-6, atol=1e-6)


@given(seed=st.integers(0, 1000), k=st.integers(1, 8))
def test_equal_samples_small_clusters_and_missing_labels_are_no_failure(seed, k):
    rng = np.random.default_rng(seed)
    X, labels = rng.integers(1, 3, size=(12, 2)).astype(np.float64), rng.integers(-1, k, 12)
    labels[0] = 0
    for cut in cuts_between(X, labels).values():
        assert np.isfinite(values(cut)).all()
        assert abs(cut.rise) <= cut.size <= 12
        assert 0 <= cut.close_size <= cut.size
    assert isinstance(has_valley(X, labels), bool)
    assert not has_valley(np.zeros((12, 2)), labels)
    assert not has_valley(X, np.zeros(12, np.int64))


SCAN = {"n_resamples": 2, "n_null": 6, "method": EAC(), "random_state": 0}
KMEANS = {"generator": RandomRows(n_partitions=12, ratio=0.8, n_jobs=1)}


@pytest.fixture(scope="module")
def rejected():
    return scan_k_features(line("arc", 1, 200), range(2, 7), **SCAN, **KMEANS)


def test_a_number_without_a_valley_is_rejected_and_named(rejected):
    assert rejected.best_k is None
    assert rejected.rejected_k in rejected.k
    reason = f"K = {rejected.rejected_k} does better than the null, but no valley"
    assert rejected.reason.startswith(reason)
    assert f"No structure found: {rejected.reason}." in str(rejected)
    assert reason in rejected._repr_html_()
    assert rejected.tied_k == []


def test_messages_say_why_there_is_no_number(rejected):
    with pytest.raises(NoStructureError, match="no valley of density separates its clusters"):
        suggested_number(rejected, "noise")
    with pytest.warns(PartitaWarning, match="no valley of density separates its clusters"):
        assert choose_number(None, CCGP(), lambda: rejected) == (1, rejected)


def test_clusters_and_graph_cuts_are_not_rejected():
    X, _ = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    scan = scan_k_features(X, range(2, 5), **SCAN, **KMEANS)
    assert (scan.best_k, scan.rejected_k, scan.reason) == (3, None, "")
    graph = LandmarkSpectral(n_partitions=8, n_jobs=1)
    scan = scan_k_features(line("arc", 1, 200), range(2, 5), generator=graph, **SCAN)
    assert scan.rejected_k is None
