"""The gap in the spectrum of a graph of neighbors tells clusters from shapes without clusters."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons

from partita.consensus import EAC
from partita.generators import LandmarkSpectral, RandomRows
from partita.select_k import scan_k_features
from partita.select_k._decision import Decision
from partita.select_k._spectral_gap import is_gap, spectral_gaps

KS = range(2, 7)


def line(shape, seed, n=150, width=0.05):
    """Return points along a line, without clusters."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, {"ring": 2 * np.pi, "arc": 4.5, "sine": 7}.get(shape, 1), n)
    if shape == "sine":
        points = np.column_stack([x, np.sin(x)])
    elif shape == "spiral":
        turn = 0.5 + 2.5 * x
        points = turn[:, None] * np.column_stack([np.cos(2 * turn), np.sin(2 * turn)])
    else:
        points = np.column_stack([np.cos(x), np.sin(x)])
    return points + width * rng.normal(size=(n, 2))


@pytest.mark.parametrize("shape", ["ring", "arc", "sine", "spiral"])
def test_a_line_has_no_gap(shape):
    gaps = [spectral_gaps(line(shape, seed, 300), KS) for seed in range(5)]
    assert not is_gap(np.asarray(gaps)).any(), gaps


@pytest.mark.parametrize("n_features", [2, 3, 10])
def test_noise_has_no_gap(n_features):
    rng = np.random.default_rng(0)
    normal = rng.normal(size=(200, n_features))
    sphere = normal / np.linalg.norm(normal, axis=1, keepdims=True)
    for X in (normal, sphere, rng.uniform(size=(200, n_features)), np.exp(normal)):
        assert not is_gap(spectral_gaps(X, KS)).any()


@pytest.mark.parametrize("k", [2, 3, 5])
def test_separate_clusters_have_a_gap_at_their_number(k):
    X, _ = make_blobs(150, centers=20 * np.eye(5)[:k], cluster_std=1, random_state=0)
    gaps = spectral_gaps(X, KS)
    assert gaps[k - 2] > 1
    assert np.delete(gaps, k - 2).max() < 0.1


def test_the_gap_is_that_of_the_eigenvalues():
    """The definition, with a matrix of all pairs."""
    X, _ = make_moons(40, noise=0.1, random_state=0)
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    widths = np.sort(distances, axis=1)[:, 10] / 2
    is_tie = distances <= 2 * widths[:, None]
    np.fill_diagonal(is_tie, False)
    weights = np.exp(-(distances**2) / (2 * widths[:, None] * widths))
    graph = weights * is_tie + weights * is_tie.T
    roots = np.sqrt(graph.sum(axis=1))
    values = np.linalg.eigvalsh(np.eye(40) - graph / roots[:, None] / roots) + 0.03 / 40
    gaps = [np.log(values[k] / values[k - 1]) for k in (2, 3, 4)]
    np.testing.assert_allclose(spectral_gaps(X, [2, 3, 4]), gaps - np.log([4, 4, 3]), atol=1e-8)


def test_the_gap_knows_neither_scale_nor_order_nor_copies():
    X, _ = make_moons(120, noise=0.06, random_state=0)
    gaps = spectral_gaps(X, KS)
    np.testing.assert_allclose(spectral_gaps(1000 * X[::-1] - 5, KS), gaps, atol=1e-6)
    np.testing.assert_allclose(spectral_gaps(np.vstack([X, X[:40]]), KS), gaps, atol=1e-9)
    assert np.all(np.isfinite(spectral_gaps(np.zeros((5, 2)), KS)))
    assert np.all(np.isfinite(spectral_gaps(np.arange(4.0)[:, None], [2, 3])))
    far = np.vstack([X, [[1e9, 0]], [[1e9, 1e-9]]])
    assert np.all(np.isfinite(spectral_gaps(far, KS)))


def test_a_large_set_is_judged_by_some_of_its_samples():
    X, _ = make_blobs(4100, centers=[[0, 0], [20, 0], [0, 20]], random_state=0)
    assert np.argmax(spectral_gaps(X, KS)) == 1


def test_a_gap_is_needed_for_structure_and_weighs_the_gain():
    rng = np.random.default_rng(0)
    nulls, of_nulls = rng.normal(0.7, 0.05, (10, 3)), rng.normal(3.0, 0.1, (10, 3))
    observed, halves = np.array([0.8, 0.9, 0.9]), rng.normal(0.8, 0.02, (8, 3))
    evidence = np.array([5.0, 5.5, 5.6]), of_nulls

    def decide(gaps, n=10):
        settings = (nulls[:n], 10, (evidence[0], of_nulls[:n]), None, gaps)
        return Decision([2, 3, 4], observed, halves, *settings)

    assert decide(np.array([2.0, 0.2, 0.2])).best_k == 2
    assert decide(np.array([-1.0, -1.0, 0.5])).best_k == 4
    none = decide(np.array([-1.0, 0.05, -0.5]), n=4)
    assert none.best_k is None
    assert none.is_settled, "no null ensemble can change this"


SCAN = {"n_resamples": 2, "n_null": 6, "method": EAC(), "random_state": 0}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_single_thin_line_has_no_structure(seed):
    generator = LandmarkSpectral(n_partitions=8, n_jobs=1)
    for shape in ("arc", "sine"):
        scan = scan_k_features(line(shape, seed, 100), [2, 3], generator=generator, **SCAN)
        assert scan.best_k is None, f"{shape}\n{scan}"


def test_only_scans_of_graphs_have_the_curve():
    X, _ = make_blobs(60, centers=[[0, 0], [9, 0]], random_state=0)
    graph = LandmarkSpectral(n_partitions=4, n_jobs=1)
    scan = scan_k_features(X, [2, 3], generator=graph, **SCAN)
    np.testing.assert_array_equal(scan.curves["spectral_gap"], spectral_gaps(X, [2, 3]))
    assert "spectral_gap" not in scan.null_mean
    kmeans = RandomRows(n_partitions=12, ratio=0.8, n_jobs=1)
    assert "spectral_gap" not in scan_k_features(X, [2, 3], generator=kmeans, **SCAN).curves
