"""The update of the consensus matrix against equation (11) written out."""

from __future__ import annotations

import numpy as np
import pytest

from partita import _kernels

pytestmark = pytest.mark.kernel
EPS = np.finfo(float).eps


def problem(n=23, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.random((n, n))
    A[0, 1], A[1, 0], A[2, 3] = 0.0, 1.0, 1e-300  # the edges, where logs and divisions are clipped
    plus, minus = rng.random((2, n, n)) * 9
    C = rng.normal(0, 30, (n, n))
    seen = rng.integers(2, 9, (n, n)).astype(np.uint8)
    free = rng.random((n, n)) < 0.6
    free[0, 1] = free[1, 0] = free[2, 3] = True
    return A, plus, minus, C, seen, free, rng.integers(1, 5, n).astype(float)


def entropy_and_pull(A, C, seen, free):
    low, high = np.maximum(A, EPS), np.maximum(1 - A, EPS)
    return np.where(free, seen * (A * np.log(low) + (1 - A) * np.log(high)) + A * C, 0.0)


def update_slowly(A, plus, minus, C, seen, free):
    m = seen.astype(float)
    low, high = np.maximum(A, EPS), np.maximum(1 - A, EPS)
    G = 2 * m / low + 2 * m / high + np.maximum(C, 0) / low + 2 * plus / low
    B = m * np.log(low) - 2 * m / high - m * np.log(high)
    H = np.maximum(-C, 0) * A + 2 * minus * A
    return np.where(free, np.minimum((-B + np.sqrt(B**2 + 4 * G * H)) / (2 * G), 1), A)


@pytest.mark.parametrize("everywhere", [False, True])
def test_update(everywhere):
    A, plus, minus, C, seen, free, r = problem()
    if everywhere:  # one number for all pairs, as without missing labels
        seen = np.broadcast_to(np.uint8(7), seen.shape)
    n = len(A)
    out, energy = np.full_like(A, np.nan), np.zeros(n)
    for first, last in ((0, 10), (10, n)):
        for start in range(0, last - first, 4):
            products, stop = (plus[first:last], minus[first:last]), min(start + 4, last - first)
            _kernels.consensus_update.update_rows(
                A, products, C, (seen, free, r), first, start, stop, out, energy
            )
    np.testing.assert_allclose(out, update_slowly(A, plus, minus, C, seen, free), rtol=1e-12)
    assert 0 <= out.min() <= out.max() <= 1
    terms = A * (plus - minus) + entropy_and_pull(A, C, seen, free)
    np.testing.assert_allclose(energy, r * (terms @ r), rtol=1e-12)


def test_divergence():
    A, _, _, C, seen, free, r = problem(seed=1)
    energy = np.zeros(len(A))
    _kernels.consensus_update.divergence_rows(A, C, (seen, free, r), 0, 9, energy)
    _kernels.consensus_update.divergence_rows(A, C, (seen, free, r), 9, len(A), energy)
    np.testing.assert_allclose(energy, r * (entropy_and_pull(A, C, seen, free) @ r), rtol=1e-12)
