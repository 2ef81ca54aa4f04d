"""Results do not depend on threads, BLAS or hash seeds; degenerate problems are solved."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from partita import config_context
from partita._linalg import eigh, eigh_above, svd
from partita.datasets import make_partitions
from partita.registry import all_methods, prepare
from partita.solvers import (
    agglomerate,
    spectral_clustering,
    top_eigenvectors,
    transfer_cut,
    weighted_kmeans,
)

pytestmark = pytest.mark.filterwarnings("ignore::partita.exceptions.PartitaWarning")
TABLE = make_partitions(60, 8, 4, noise=0.25, random_state=2)[0]


@pytest.mark.parametrize("method", all_methods(), ids=lambda m: m.__name__)
def test_threads_of_partita_and_of_blas(method):
    estimator = prepare(method, 4, 0)
    names = estimator.get_params()
    estimator.set_params(**{k: v for k, v in {"n_init": 2, "max_iter": 30}.items() if k in names})
    results = []
    for threads in (1, 2, 4):
        with config_context(n_threads=threads), threadpool_limits(threads):
            results.append(clone(estimator).fit_predict(TABLE))
    np.testing.assert_array_equal(results[1], results[0])
    np.testing.assert_array_equal(results[2], results[0])


SCRIPT = """
import warnings; warnings.simplefilter("ignore")
from partita.datasets import make_partitions
from partita.registry import prepare
table = make_partitions(40, 6, 3, noise=0.3)[0].astype(str)
for key in ("ccgp", "eac", "sec", "voting", "mcla", "medianpartition"):
    print(key, prepare(key, 3, 0).fit_predict(table).tolist())
"""


def test_hash_seeds():
    outputs = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(outputs) == 1
    assert "ccgp" in outputs.pop()


def _block_diagonal(sizes):
    group = np.repeat(np.arange(len(sizes)), sizes)
    return (group[:, None] == group).astype(float), group


DEGENERATE = {
    "identity": np.eye(12),
    "zero": np.zeros((12, 12)),
    "all equal": np.ones((12, 12)),
    "equal blocks": _block_diagonal([3, 3, 3, 3])[0],
    "one giant block": _block_diagonal([10, 1, 1])[0],
    "complete bipartite": np.kron(np.array([[0.0, 1.0], [1.0, 0.0]]), np.ones((6, 6))),
    "cycle": np.roll(np.eye(12), 1, axis=1) + np.roll(np.eye(12), -1, axis=1),
}
every_spectrum = pytest.mark.parametrize("name", DEGENERATE)


@every_spectrum
def test_decompositions_of_degenerate_matrices(name):
    matrix = DEGENERATE[name]
    for k in (1, 3, 12):
        values, vectors = eigh(matrix, subset_by_index=(12 - k, 11))
        assert values.shape == (k,)
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(k), atol=1e-10)
        np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-10)
        values, vectors = top_eigenvectors(matrix, k)
        np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-10)
    U, sigma, Vt = svd(matrix)
    np.testing.assert_allclose(U * sigma @ Vt, matrix, atol=1e-10)


@every_spectrum
@pytest.mark.parametrize("share", [0.0, 1e-4, 0.5])
def test_large_eigenvalues_of_degenerate_matrices(name, share):
    matrix = DEGENERATE[name]
    all_values = np.linalg.eigvalsh(matrix)
    cut = max(share * np.abs(all_values).max(), 1e-12)
    values, vectors = eigh_above(matrix.copy(), share=share)
    # eigenvalues that are 0 up to rounding are above a share of 0
    assert share == 0 or len(values) == np.count_nonzero(np.abs(all_values) > cut)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(values)), atol=1e-10)
    expected = all_values[np.abs(all_values) > cut]
    np.testing.assert_allclose(values[np.abs(values) > cut], expected, atol=1e-12)
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-10)


@pytest.mark.parametrize("n_large", [0, 3, 15, 100, 200])
def test_few_and_many_large_eigenvalues(n_large):
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((200, 200)))[0]
    spectrum = rng.uniform(-1e-3, 1e-3, 200)
    spectrum[0] = -2.0
    spectrum[1 : n_large + 1] += np.where(np.arange(len(spectrum[1 : n_large + 1])) % 2, 1.0, -1.0)
    matrix = (Q * spectrum) @ Q.T
    values, vectors = eigh_above(np.asfortranarray(matrix), share=0.1)
    is_large = np.abs(spectrum) > 0.2
    np.testing.assert_allclose(values, np.sort(spectrum[is_large]), rtol=0, atol=1e-13)
    expected = (Q[:, is_large] * spectrum[is_large]) @ Q[:, is_large].T
    np.testing.assert_allclose((vectors * values) @ vectors.T, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("matrix", [np.zeros((0, 0)), np.eye(1), np.diag([1.0, -3.0])])
def test_large_eigenvalues_of_tiny_matrices(matrix):
    values, vectors = eigh_above(matrix, share=0.5)
    assert values.tolist() == ([-3.0] if len(matrix) == 2 else [1.0] * len(matrix))
    assert vectors.shape == (len(matrix), len(values))


@every_spectrum
def test_solvers_on_degenerate_matrices(name):
    matrix, weights = DEGENERATE[name], np.ones(12)
    for k in (1, 2, 11, 12):
        labels = spectral_clustering(matrix, weights, k, np.random.default_rng(0), n_init=1)
        assert labels.shape == (12,)
        assert labels.max() < k
        labels, inertia = transfer_cut(matrix, weights, k, np.random.default_rng(0), n_init=1)
        assert labels.max() < k
        assert np.isfinite(inertia)
        labels, _ = weighted_kmeans(matrix, weights, k, np.random.default_rng(0), n_init=1)
        assert labels.max() < k
        for linkage in ("average", "single", "complete"):
            distances = 1.0 - matrix
            np.fill_diagonal(distances, 0.0)
            labels = agglomerate(distances, linkage=linkage).cut(k)
            assert len(np.unique(labels)) == k


def test_blocks_of_equal_size_are_found():
    matrix, group = _block_diagonal([4, 4, 4])
    labels = spectral_clustering(matrix, np.ones(12), 3, np.random.default_rng(0))
    assert len(set(zip(labels.tolist(), group.tolist(), strict=True))) == 3
