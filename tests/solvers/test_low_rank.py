"""Shrinkage against its definition, and the low-rank affinity against a published program."""

from __future__ import annotations

import numpy as np
import pytest

from partita.solvers.low_rank import (
    low_rank_affinity,
    shrink_eigenvalues,
    shrink_singular_values,
)


def shrink_by_svd(matrix, threshold):
    U, sigma, Vt = np.linalg.svd(matrix)
    return (U * np.maximum(sigma - threshold, 0)) @ Vt


def product(triplets):
    return (triplets.U * triplets.sigma) @ triplets.V.T


@pytest.fixture
def matrix():
    """Not symmetric, singular values 2⁰, 2⁻¹, ... 2⁻³⁹ times 8."""
    rng = np.random.default_rng(0)
    U, V = (np.linalg.qr(rng.standard_normal((40, 40)))[0] for _ in range(2))
    return 8.0 * (U * 0.5 ** np.arange(40)) @ V.T


@pytest.mark.parametrize("threshold", [100.0, 8.5, 7.9, 0.3, 1e-3, 1e-4, 1e-7, 1e-12])
def test_singular_values(matrix, threshold):
    result = shrink_singular_values(matrix, threshold)
    expected = shrink_by_svd(matrix, threshold)
    np.testing.assert_allclose(product(result), expected, rtol=0, atol=1e-10)
    assert len(result.sigma) == np.count_nonzero(8.0 * 0.5 ** np.arange(40) > threshold)


@pytest.mark.parametrize("nearest", [0.95, 0.995, 1.005, 1.05])
@pytest.mark.parametrize("threshold", [1e-4, 1e-5, 1e-6, 1e-7])
def test_singular_values_near_a_low_threshold(nearest, threshold):
    """Those above it are far above, but for one that is just below or above."""
    rng = np.random.default_rng(4)
    U, V = (np.linalg.qr(rng.standard_normal((30, 30)))[0] for _ in range(2))
    small = threshold * np.append(nearest, np.linspace(0.9, 0.1, 19))
    sigma = np.append(np.geomspace(8.0, 1e-2, 10), small)
    result = shrink_singular_values((U * sigma) @ V.T, threshold)
    expected = (U * np.maximum(sigma - threshold, 0)) @ V.T
    np.testing.assert_allclose(product(result), expected, rtol=0, atol=1e-10)
    assert len(result.sigma) == np.count_nonzero(sigma > threshold)


def test_singular_values_of_fewer_rows_than_columns(matrix):
    U, sigma, Vt = np.linalg.svd(matrix[:25])
    expected = (U * np.maximum(sigma - 0.3, 0)) @ Vt[:25]
    result = shrink_singular_values(matrix[:25], 0.3)
    np.testing.assert_allclose(product(result), expected, rtol=0, atol=1e-10)


def test_singular_values_with_a_threshold_each(matrix):
    thresholds = np.linspace(0.0, 1.0, 40)
    result = shrink_singular_values(matrix, thresholds)
    expected = shrink_by_svd(matrix, thresholds)
    np.testing.assert_allclose(product(result), expected, rtol=0, atol=1e-12)


def test_zero_matrix():
    result = shrink_singular_values(np.zeros((4, 4)), 0.1)
    assert len(result.sigma) == 0
    np.testing.assert_array_equal(product(result), np.zeros((4, 4)))


def test_affinity_of_a_symmetric_matrix_is_that_of_its_svd():
    rng = np.random.default_rng(1)
    M = rng.standard_normal((15, 15))
    M = M + M.T  # eigenvalues of both signs
    expected = low_rank_affinity(M)
    np.testing.assert_allclose(low_rank_affinity(M, symmetric=True), expected, rtol=0, atol=1e-12)
    assert np.linalg.eigvalsh(expected).min() > -1e-12
    assert expected.min() >= 0


@pytest.mark.parametrize(("noise", "expected"), [(7e-3, 1.0), (2e-2, 0.0)])
def test_directions_below_the_cut_do_not_count(noise, expected):
    """The second row leans on the first by 1e-3 and has `noise` of its own: σ₂ = noise²."""
    rows = np.array([[1.0, 0.0], [1e-3, noise]])
    assert low_rank_affinity(rows @ rows.T)[0, 1] == pytest.approx(expected, abs=1e-3)


def test_affinity_with_weights_is_that_of_repeated_rows():
    rng = np.random.default_rng(2)
    half = rng.standard_normal((6, 3))
    Z = half @ half.T
    r = np.array([1, 3, 2, 1, 4, 2])
    root = np.sqrt(r)
    repeated = np.repeat(np.repeat(Z, r, axis=0), r, axis=1)
    expected = low_rank_affinity(repeated)
    result = low_rank_affinity(Z * np.outer(root, root), symmetric=True)
    expanded = np.repeat(np.repeat(result, r, axis=0), r, axis=1)
    np.testing.assert_allclose(expanded, expected, rtol=0, atol=1e-10)


def test_a_row_of_zeros_is_like_itself_only():
    Z = np.zeros((3, 3))
    Z[:2, :2] = 1.0
    expected = [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    np.testing.assert_allclose(low_rank_affinity(Z, symmetric=True), expected, rtol=0, atol=1e-12)


@pytest.mark.shared
@pytest.mark.parametrize("file", ["drec_lambda1", "drec_lambda100"])
def test_affinity_of_a_published_program(oracle, file):
    output = oracle(file)
    np.testing.assert_allclose(low_rank_affinity(output["Z"]), output["L"], rtol=0, atol=1e-12)


def test_affinity_from_an_orthonormal_basis():
    """Z = Q C with orthonormal Q: the directions come from the small factor C."""
    rng = np.random.default_rng(3)
    Q = np.linalg.qr(rng.standard_normal((20, 6)))[0]
    C = rng.standard_normal((6, 20))
    expected = low_rank_affinity(Q @ C)
    np.testing.assert_allclose(low_rank_affinity(C, basis=Q), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("threshold", [100.0, 7.9, 0.3, 1e-4, 1e-12])
def test_eigenvalues(threshold):
    """Eigenvalues of both signs."""
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((40, 40)))[0]
    spectrum = 8.0 * (-0.5) ** np.arange(40)
    matrix = (Q * spectrum) @ Q.T
    values, vectors = shrink_eigenvalues(matrix, threshold)
    np.testing.assert_allclose(
        (vectors * values) @ vectors.T, shrink_by_svd(matrix, threshold), rtol=0, atol=1e-13
    )
    if threshold > 1e-10:
        assert len(values) == np.count_nonzero(np.abs(spectrum) > threshold)
