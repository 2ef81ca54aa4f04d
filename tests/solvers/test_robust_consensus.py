"""The band of cleaned entries against Theorem 3 and against brute force."""

from __future__ import annotations

import numpy as np
import pytest

from partita.solvers.evidence import SoftMatrices, Votes, error_band
from partita.solvers.robust_consensus import remove_errors


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
