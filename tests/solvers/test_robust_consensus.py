"""The band of cleaned entries against Theorem 3 and against brute force."""

from __future__ import annotations

import numpy as np
import pytest

from partita.solvers import robust_consensus
from partita.solvers.evidence import SoftMatrices, Votes, error_band
from partita.solvers.inverse_root import InverseRoot
from partita.solvers.robust_consensus import (
    RankTerm,
    divergence,
    remove_errors,
    update_consensus,
)


def theorem_3(c, s, lam):
    """The better of the two candidates (17) and (18)."""
    x1 = np.minimum((2 * lam * c - lam - 1 + np.sqrt((lam + 1) ** 2 - 2 * lam * s)) / (2 * lam), 0)
    x2 = np.maximum((lam - 2 * lam * c - 1 + np.sqrt((1 - lam) ** 2 + 2 * lam * s)) / (-2 * lam), 0)

    def f(x):
        with np.errstate(divide="ignore"):
            return -s * np.log(c - x) - (2 - s) * np.log(1 - c + x) + 2 * lam * np.abs(x)

    return np.where(f(x1) <= f(x2), x1, x2)


@pytest.mark.parametrize("lam", [0.1, 1.0, 3.0])
def test_clipping_to_the_band_is_theorem_3(lam):
    c, s = (
        grid.ravel() for grid in np.meshgrid(np.linspace(0, 1, 41), np.linspace(0.01, 1.99, 67))
    )
    low, not_low, high, not_high = error_band(s, lam)
    np.testing.assert_allclose(c - np.clip(c, low, high), theorem_3(c, s, lam), rtol=0, atol=1e-14)
    np.testing.assert_allclose(low + not_low, 1, rtol=0, atol=1e-15)
    np.testing.assert_allclose(high + not_high, 1, rtol=0, atol=1e-15)


@pytest.mark.parametrize("lam", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("c", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("s", [1e-6, 0.4, 1.0, 1.9, 2 - 1e-6])
def test_no_cleaned_entry_is_better(lam, c, s):
    y = np.concatenate([np.geomspace(1e-12, 0.5, 20_001), 1 - np.geomspace(1e-12, 0.5, 20_001)])

    def cost(y, not_y):
        return -s * np.log(y) - (2 - s) * np.log(not_y) + 2 * lam * np.abs(c - y)

    low, not_low, high, not_high = (float(end) for end in error_band(np.float64(s), lam))
    best = np.clip(c, low, high)
    not_best = not_high if best == high else not_low if best == low else 1 - best
    assert cost(best, not_best) <= cost(y, 1 - y).min() * (1 + 1e-9)


@pytest.mark.parametrize("lam", [1e-8, 1e8])
@pytest.mark.parametrize("s", [1e-12, 2 - 1e-12])
def test_band_keeps_its_digits_at_the_edges(lam, s):
    ends = error_band(np.float64(s), lam)
    assert all(0 < end < 1 or end == pytest.approx(1, abs=1e-11) for end in ends)
    if lam < 1:  # errors cost nothing: every entry is cleaned to the consensus
        np.testing.assert_allclose(ends, [s / 2, (2 - s) / 2, s / 2, (2 - s) / 2], rtol=1e-7)


def test_votes_and_matrices_are_the_same_evidence():
    labels = np.random.default_rng(0).integers(3, size=(30, 6))
    stack = np.stack([column[:, None] == column for column in labels.T])
    votes = Votes.of(stack.sum(axis=0, dtype=np.uint8), None, 6, np.ones(30))
    soft = SoftMatrices.of(list(stack))
    np.testing.assert_array_equal(votes.free, soft.free)
    np.testing.assert_allclose(votes.start(), soft.start(), rtol=1e-15)
    A = np.where(votes.free, np.random.default_rng(1).uniform(0.01, 0.99, (30, 30)), votes.start())
    (pull, cost), (soft_pull, soft_cost) = remove_errors(votes, A, 0.7), remove_errors(soft, A, 0.7)
    np.testing.assert_allclose(pull[votes.free], soft_pull[votes.free], rtol=1e-10)
    assert cost == pytest.approx(soft_cost, rel=1e-12)


def problem(n, *, everywhere):
    """Votes with some free pairs, a consensus with entries at the edges, and C."""
    rng = np.random.default_rng(0)
    joined = rng.integers(0, 8, (n, n)).astype(np.uint8)
    joined = np.minimum(joined, joined.T)
    seen = None if everywhere else np.maximum(joined, rng.integers(5, 8, (n, n)).astype(np.uint8))
    votes = Votes.of(joined, seen, 7, rng.integers(1, 5, n).astype(float))
    A = rng.random((n, n))
    A[0, 1], A[1, 0], A[2, 3] = 0.0, 1.0, 1e-300  # where logarithms and divisions are clipped
    votes.free[0, 1] = votes.free[1, 0] = votes.free[2, 3] = True
    return votes, A, rng.normal(0, 30, (n, n))


def entropy_and_pull(votes, A, C):
    eps = np.finfo(float).eps
    low, high = np.maximum(A, eps), np.maximum(1 - A, eps)
    terms = votes.seen * (A * np.log(low) + (1 - A) * np.log(high)) + A * C
    return np.where(votes.free, terms, 0.0)


@pytest.mark.parametrize("everywhere", [False, True])
@pytest.mark.parametrize("has_rank", [False, True])
def test_update_is_equation_11(everywhere, has_rank):
    votes, A, C = problem(140, everywhere=everywhere)
    S = InverseRoot.of((A + A.T) / 2, votes.weights, 1e-3) if has_rank else None
    out = A.copy()
    energy = update_consensus(votes, out, C, RankTerm(S, 2.0))
    D = np.zeros_like(A) if S is None else 2.0 * S.rows
    plus, minus = np.maximum(D, 0.0), np.maximum(-D, 0.0)
    if S is not None:
        minus[np.diag_indices_from(minus)] = 2.0 * S.surplus
    plus, minus = plus @ A, minus @ A
    m = votes.seen.astype(float)
    eps = np.finfo(float).eps
    low, high = np.maximum(A, eps), np.maximum(1 - A, eps)
    G = 2 * m / low + 2 * m / high + np.maximum(C, 0) / low + 2 * plus / low
    B = m * np.log(low) - 2 * m / high - m * np.log(high)
    H = np.maximum(-C, 0) * A + 2 * minus * A
    expected = np.minimum((-B + np.sqrt(B**2 + 4 * G * H)) / (2 * G), 1)
    np.testing.assert_allclose(out, np.where(votes.free, expected, A), rtol=1e-10)
    assert 0 <= out.min() <= out.max() <= 1
    terms = A * (plus - minus) + entropy_and_pull(votes, A, C)
    assert energy == pytest.approx(votes.weights @ terms @ votes.weights, rel=1e-10)


def test_divergence():
    votes, A, C = problem(140, everywhere=False)
    expected = votes.weights @ entropy_and_pull(votes, A, C) @ votes.weights
    assert divergence(votes, A, C) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("large", [1, 1000])
def test_products_follow_the_changes_of_the_consensus(monkeypatch, large):
    """Single precision for a large consensus, here from one row on: errors of 1e-7 of a change."""
    monkeypatch.setattr(robust_consensus, "_LARGE", large)
    votes, A, C = problem(140, everywhere=True)
    A = np.clip(A, 0.01, 0.99)
    S = InverseRoot.of((A + A.T) / 2, votes.weights, 1e-3)
    term, expected = RankTerm(S, 2.0), A.copy()
    for _ in range(4):
        update_consensus(votes, A, C, term)
        update_consensus(votes, expected, C, RankTerm(S, 2.0))
    tolerance = 1e-13 if large > len(A) else 1e-7
    difference = np.abs(A - expected).max()
    assert difference < tolerance
    assert (difference > 1e-13) == (large == 1)
