"""SpectralBandwidths: the paper's nine kernels, and where they fall apart."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import pdist
from sklearn.datasets import make_circles
from sklearn.metrics import adjusted_rand_score

from partita import config_context
from partita._linalg import eigh
from partita.exceptions import MemoryBudgetError
from partita.generators import SpectralBandwidths, spectral_bandwidths
from partita.generators.spectral_bandwidths import _is_connected, _leading_eigenvectors

X = np.random.default_rng(0).normal(size=(90, 3))


def test_published_bandwidths_are_the_default():
    generator = SpectralBandwidths(3, random_state=0).fit(X)
    assert tuple(generator.multipliers) == (0.01, 0.05, 0.1, 0.5, 1, 5, 10, 50, 100)
    assert generator.labels_.shape == (90, 9)
    assert generator.mean_distance_ == pytest.approx(pdist(X).mean())


def test_partitions_have_the_clusters_asked_for():
    clusters = SpectralBandwidths(4, multipliers=[0.3, 1.0, 3.0], random_state=0).fit(X).n_clusters_
    assert clusters.tolist() == [4, 4, 4]


def test_narrow_kernels_see_what_k_means_cannot():
    rings, truth = make_circles(300, factor=0.3, noise=0.03, random_state=0)
    labels = SpectralBandwidths(2, multipliers=[0.1, 10], random_state=0).fit_transform(rings)
    assert adjusted_rand_score(truth, labels[:, 0]) == 1
    assert adjusted_rand_score(truth, labels[:, 1]) < 0.1


def test_units_do_not_matter():
    expected = SpectralBandwidths(3, random_state=0).fit_transform(X)
    scaled = SpectralBandwidths(3, random_state=0).fit_transform(1024 * X)
    assert np.array_equal(scaled, expected)


def test_lanczos_and_the_direct_solver_span_the_same_space():
    kernel = np.exp(-pdist_matrix(X) / 2)
    degrees = kernel.sum(axis=1)
    M = kernel / np.sqrt(np.outer(degrees, degrees))
    vectors = _leading_eigenvectors(M, 4, np.random.default_rng(0))
    direct = np.linalg.eigh(M)[1][:, -4:]
    assert 20 * 4 < 90
    assert subspace_angles(vectors, direct).max() < 1e-6


def test_almost_equal_eigenvalues_are_left_to_the_direct_solver(monkeypatch):
    calls = []
    monkeypatch.setattr(
        spectral_bandwidths,
        "eigh",
        lambda M, **options: calls.append(options) or eigh(M, **options),
    )
    values = 1 - (np.arange(90) / 90) ** 4
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(90, 90)))[0]
    M = (basis * values) @ basis.T
    direct = np.linalg.eigh(M)[1][:, -4:]
    monkeypatch.setattr(spectral_bandwidths, "_is_connected", lambda M: True)
    vectors = _leading_eigenvectors(M, 4, np.random.default_rng(0))
    assert len(calls) == 1
    assert subspace_angles(vectors, direct).max() < 1e-6


@pytest.mark.parametrize("density", [0.01, 0.03, 0.06, 0.2])
def test_connected_graphs_are_recognized(density):
    rng = np.random.default_rng(0)
    results = []
    for _ in range(20):
        M = (rng.random((60, 60)) < density) * rng.random((60, 60))
        M = np.maximum(M, M.T)
        results.append(_is_connected(M))
        assert results[-1] == (connected_components(M, directed=False)[0] == 1)
    assert density < 0.2 or all(results)


def pdist_matrix(points):
    return ((points[:, None] - points) ** 2).sum(axis=2)


def test_unconnected_parts_are_told_apart():
    far = np.vstack([X[:40] * 0.01, X[40:80] * 0.01 + 1000])
    labels = SpectralBandwidths(2, multipliers=[0.01], random_state=0).fit_transform(far)
    assert adjusted_rand_score(np.repeat([0, 1], 40), labels[:, 0]) == 1


def test_constant_data_are_one_cluster():
    labels = SpectralBandwidths(2, multipliers=[1.0], random_state=0).fit_transform(
        np.ones((30, 2))
    )
    assert np.array_equal(labels, np.zeros((30, 1)))


def test_memory_is_asked_for_before_it_is_taken():
    with config_context(memory_budget=10_000), pytest.raises(MemoryBudgetError, match="90 samples"):
        SpectralBandwidths(2).fit(X)


@pytest.mark.parametrize("multipliers", [[], [0.0, 1.0], [-1.0], [[1.0], [2.0]]], ids=str)
def test_wrong_multipliers(multipliers):
    with pytest.raises(ValueError, match="multipliers"):
        SpectralBandwidths(2, multipliers=multipliers).fit(X)


def test_more_clusters_than_samples():
    with pytest.raises(ValueError, match=r"n_clusters=91.*n_samples=90"):
        SpectralBandwidths(91).fit(X)
