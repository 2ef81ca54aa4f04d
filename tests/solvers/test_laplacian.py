"""The low end of the Laplacian's spectrum on weighted rows against the one on all samples."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import eigh

from partita.solvers.laplacian import low_spectrum


def expected(S, weights, k, *, within_rows=True, tie=1e-9):
    """Sums of eigenvalues and squared distances on all samples, one sample per row compared."""
    of = np.repeat(np.arange(len(weights)), weights.astype(int))
    full = S[np.ix_(of, of)]
    values, vectors = eigh(np.diag(full.sum(axis=1)) - full)
    if not within_rows:  # drop what is not constant on equal samples, after untangling ties
        mean = np.equal.outer(of, of) / weights[of]
        shift = 1e3 * (np.eye(len(of)) - mean)
        values, vectors = eigh(np.diag(full.sum(axis=1)) - full + shift)
    below, tied = values < values[k - 1] - tie, np.abs(values - values[k - 1]) <= tie
    share = below + tied * (k - below.sum()) / tied.sum()
    projection = (vectors * share) @ vectors.T
    first = np.searchsorted(of, np.arange(len(weights)))
    P = projection[np.ix_(first, first)]
    distance = np.diag(P)[:, None] + np.diag(P) - 2 * P
    return values[:k].sum(), values[: k + 1].sum(), distance, tied.sum()


def distances(result):
    Y = result.embedding
    D = ((Y[:, None] - Y) ** 2).sum(axis=2) + result.lift[:, None] + result.lift
    np.fill_diagonal(D, 0.0)
    return D


def random_graph(seed, n=12, density=0.4, n_parts=1):
    rng = np.random.default_rng(seed)
    part = np.arange(n) % n_parts
    S = np.triu(rng.random((n, n)) * (rng.random((n, n)) < density), 1)
    S[part[:, None] != part] = 0.0
    S += np.triu((np.abs(np.subtract.outer(range(n), range(n))) == n_parts) * 0.2, 1)  # connected
    return np.minimum(S + S.T, 1.0) + np.eye(n), rng.integers(1, 5, n).astype(float)


def low(S, weights, k, **options):
    return low_spectrum(sp.csr_matrix(np.triu(S, 1)), weights, k, **options)


@pytest.mark.parametrize("within_rows", [True, False])
@pytest.mark.parametrize("k", [1, 3, 6, 11])
@pytest.mark.parametrize("n_parts", [1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_equals_all_samples(seed, n_parts, k, within_rows):
    S, weights = random_graph(seed, n_parts=n_parts)
    result = low(S, weights, k, within_rows=within_rows)
    assert result.n_components == n_parts
    if n_parts > k:
        assert result.sum_with_next == 0.0
        assert result.embedding.shape == (12, 0)
        return
    head, head_next, distance, _ = expected(S, weights, k, within_rows=within_rows)
    assert result.sum_smallest == pytest.approx(head, abs=1e-10)
    assert result.sum_with_next == pytest.approx(head_next, abs=1e-10)
    np.testing.assert_allclose(distances(result), distance, rtol=0, atol=1e-9)


@pytest.mark.parametrize("k", [3, 6, 11])
@pytest.mark.parametrize("seed", range(3))
def test_edges_between_equal_samples_of_any_weight(seed, k):
    S, weights = random_graph(seed)
    np.fill_diagonal(S, np.random.default_rng(seed).uniform(0, 0.2, len(S)))
    result = low(S, weights, k, equal_edges=S.diagonal())
    low_sum, next_sum, distance, _ = expected(S, weights, k)
    np.testing.assert_allclose(result.sum_smallest, low_sum, atol=1e-10)
    np.testing.assert_allclose(result.sum_with_next, next_sum, atol=1e-10)
    np.testing.assert_allclose(distances(result), distance, atol=1e-8)
    assert k < 6 or (result.lift > 0).any()


def test_multiple_eigenvalue_of_equal_samples():
    """Three samples, tied to little: their degree is an eigenvalue twice, and K cuts between."""
    S, weights = random_graph(0, density=0.9)
    S[0, 1:], S[1:, 0] = 0.0, 0.0
    S[0, 1] = S[1, 0] = 0.1
    weights[:] = 4
    weights[0] = 3
    values = [expected(S, weights, k)[3] for k in range(1, 6)]
    k = 1 + values.index(2)
    head, head_next, distance, tied = expected(S, weights, k)
    result = low(S, weights, k)
    assert tied == 2
    assert 0 < result.lift[0] < 2 / 3, "a part of the eigenspace"
    assert not result.lift[1:].any()
    assert result.sum_smallest == pytest.approx(head)
    assert result.sum_with_next == pytest.approx(head_next)
    np.testing.assert_allclose(distances(result), distance, rtol=0, atol=1e-9)


def test_multiple_eigenvalue_between_rows():
    """A complete graph: one eigenvalue n - 1 times, more often than was asked for."""
    n, k = 10, 4
    S = np.ones((n, n))
    result = low(S, np.ones(n), k)
    assert result.sum_smallest == pytest.approx(n * (k - 1))
    # of the n - 1 vectors that part the samples, K - 1 count: a share of the distance 2
    apart = 2 * (k - 1) / (n - 1)
    np.testing.assert_allclose(distances(result), apart * (1 - np.eye(n)), rtol=0, atol=1e-12)
    np.testing.assert_allclose(distances(result), expected(S, np.ones(n), k)[2], rtol=0, atol=1e-12)


def test_weights_need_not_be_whole():
    """A weight of 2.5 has one and a half vectors that part its samples; what is left is filled."""
    S = np.eye(3)
    S[0, 1] = S[1, 0] = S[1, 2] = S[2, 1] = 0.5
    weights = np.array([2.5, 0.5, 9.0])
    root = np.sqrt(weights)
    block = eigh(np.diag(S @ weights) - S * np.outer(root, root), eigvals_only=True)
    degree = S[0] @ weights
    assert block[1] < degree < block[2] < S[2] @ weights
    result = low(S, weights, 3)
    assert result.sum_smallest == pytest.approx(block[1] + degree)
    assert result.sum_with_next == pytest.approx(block[1] + 1.5 * degree + 0.5 * block[2])
    np.testing.assert_allclose(result.lift, [1 / 1.5 * (1 - 1 / 2.5), 0, 0])


def test_a_weak_link_is_not_a_component():
    """As many components as wanted: the embedding is theirs, however small the next eigenvalue."""
    S = np.eye(4)
    S[0, 1] = S[1, 0] = 1e-14
    S[2, 3] = S[3, 2] = 1.0
    result = low(S, np.array([2.0, 3.0, 1.0, 1.0]), 2)
    assert 0 < result.sum_with_next < 1e-12
    np.testing.assert_allclose(result.embedding**2, [[0.2, 0], [0.2, 0], [0, 0.5], [0, 0.5]])
