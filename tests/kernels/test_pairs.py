"""The kernels on listed pairs: both forms, and whole matrices."""

from __future__ import annotations

import numpy as np
import pytest
from forms import call_both

from partita._kernels import pairs as kernels
from partita.datasets import make_partitions
from partita.ensemble import Ensemble
from partita.matrices.pairs import joined_pairs

pytestmark = pytest.mark.kernel


@pytest.fixture(params=[0.0, 0.3], ids=["complete", "missing"])
def ensemble(request):
    labels, _ = make_partitions(14, 6, 4, noise=0.4, missing_ratio=request.param)
    return Ensemble.from_partitions(labels).compress()


@pytest.mark.parametrize("size", [1, 7])
def test_blocks_of_pairs_do_not_matter(ensemble, monkeypatch, size):
    pairs, rng = joined_pairs(ensemble), np.random.default_rng(2)
    n, m = ensemble.codes.shape
    record = ensemble.codes, ensemble.missing_code, rng.uniform(1, 9, m)
    penalty = rng.random((n, 3)), rng.random(n), 0.7, 1.5
    W = rng.uniform(0.3, 1, len(pairs))
    results = []
    for block in (size, 1 << 14):
        monkeypatch.setattr(kernels, "_PAIRS", block)
        S, d = np.zeros(len(pairs)), np.zeros((n, m))
        kernels.complete(record, pairs.pattern, penalty, np.ones(n), W, 0, n, S, d)
        results.append((S, d))
    np.testing.assert_array_equal(results[0][0], results[1][0])
    np.testing.assert_array_equal(results[0][1], results[1][1])


@pytest.fixture
def votes(ensemble):
    """Who joins and who sees each pair, shape (m, n, n), and the blow-up to all partitions."""
    columns, known = ensemble.codes.T, ensemble.observed.T
    sees = known[:, :, None] & known[:, None]
    joins = (columns[:, :, None] == columns[:, None]) & sees
    return joins, sees, ensemble.n_partitions / np.maximum(sees.sum(axis=0), 1)


def test_lists_the_pairs_that_some_partition_joins(ensemble, votes):
    joins, _, _ = votes
    row, partner = np.nonzero(np.triu(joins.any(axis=0), 1))
    found = joined_pairs(ensemble)
    np.testing.assert_array_equal(found.partner, partner)
    np.testing.assert_array_equal(
        found.start_of, np.concatenate([[0], np.cumsum(np.bincount(row, minlength=found.n_rows))])
    )


def test_blocks_of_rows_do_not_matter(ensemble):
    labels, n = ensemble.codes, ensemble.n_rows
    missing = labels.dtype.type(ensemble.missing_code)
    whole = joined_pairs(ensemble)
    count, partner = np.zeros(n, np.int64), np.zeros_like(whole.partner)
    for start, stop in ((0, 5), (5, n)):
        _, (*_, count) = call_both(kernels.count_partners, labels, missing, start, stop, count)
        _, (*_, partner) = call_both(
            kernels.list_partners, labels, missing, whole.start_of, start, stop, partner
        )
    np.testing.assert_array_equal(count, np.diff(whole.start_of))
    np.testing.assert_array_equal(partner, whole.partner)


def test_pace(ensemble, votes):
    joins, sees, blow_up = votes
    rng = np.random.default_rng(0)
    pairs = joined_pairs(ensemble)
    strength, S, age = rng.uniform(1, 9, ensemble.n_partitions), rng.random(len(pairs)), 6.0
    W = np.zeros(len(pairs))
    record = ensemble.codes, ensemble.codes.dtype.type(ensemble.missing_code), strength
    for share in ((0, 5), (5, 5), (5, pairs.n_rows)):
        _, (*_, W) = call_both(kernels.pace, record, pairs.pattern, age, S, *share, W)
    full = pairs.dense(S, diagonal=1.0, elsewhere=0.0)
    loss = blow_up * (sees * strength[:, None, None] * (full - joins) ** 2).sum(axis=0)
    unanimous = joins.sum(axis=0) == sees.sum(axis=0)
    expected = np.where(unanimous, 1, np.minimum(age / (2 * np.maximum(loss, 1e-300)), 1))
    row, partner = np.nonzero(np.triu(joins.any(axis=0), 1))
    assert 0 < np.count_nonzero(W < 1) < len(W)
    np.testing.assert_allclose(W, expected[row, partner], rtol=1e-12)


def test_complete(ensemble, votes):
    joins, sees, blow_up = votes
    rng = np.random.default_rng(1)
    pairs = joined_pairs(ensemble)
    n, m = ensemble.codes.shape
    strength, W = rng.uniform(1, 9, m), rng.uniform(0.3, 1, len(pairs))
    Y, lift, weights = rng.random((n, 3)), rng.random(n), rng.uniform(1, 5, n)
    rho, gamma = 0.7, 1.5
    S, d = np.zeros(len(pairs)), np.zeros((n, m))
    record = ensemble.codes, ensemble.codes.dtype.type(ensemble.missing_code), strength
    penalty = Y, lift, rho, gamma
    for share in ((0, 5), (5, n)):
        _, (*_, S, d) = call_both(
            kernels.complete, record, pairs.pattern, penalty, weights, W, *share, S, d
        )
    full_W = pairs.dense(W, diagonal=1.0, elsewhere=1.0)
    total = blow_up * (sees * strength[:, None, None]).sum(axis=0)
    total[total == 0] = 1
    distance = ((Y[:, None] - Y) ** 2).sum(axis=2) + lift[:, None] + lift
    pulled = blow_up * (joins * strength[:, None, None]).sum(axis=0)
    C = (pulled - rho * distance / (2 * full_W**2)) / total
    expected = np.where(np.sqrt(gamma / (total * full_W**2)) > C, 0, np.minimum(C, 1))
    expected[joins.sum(axis=0) == sees.sum(axis=0)] = 1
    expected[~joins.any(axis=0)] = 0
    row, partner = np.nonzero(np.triu(joins.any(axis=0), 1))
    assert 0 < np.count_nonzero(S) < len(S)
    np.testing.assert_allclose(S, expected[row, partner], rtol=1e-12, atol=1e-14)
    cost = sees * np.outer(weights, weights) * (full_W * (expected - joins)) ** 2
    np.testing.assert_allclose(d, np.triu(cost, 1).sum(axis=2).T, rtol=1e-12, atol=1e-14)


def test_a_pair_on_the_threshold_stays():
    """14 of 20 votes at theta 0.3, r 0.9: S and threshold are equal, whatever the rounding."""
    m = 20
    labels = np.array([[0] * m, [0] * 14 + [1] * 6], np.uint8)
    start_of, partner = np.array([0, 1, 1]), np.array([1], np.int32)
    strength = 1.0 / np.full(m, 1.0 / m)
    for order in (slice(None), slice(None, None, -1)):
        S, W, d = np.array([14 / m]), np.zeros(1), np.zeros((2, m))
        age = 2 * (0.1**2 * 0.9 + 0.9**2 * 0.1) * m**2
        record, pattern = (
            (np.ascontiguousarray(labels[:, order]), np.uint8(255), strength),
            (start_of, partner),
        )
        penalty = np.zeros((2, 1)), np.zeros(2), 1.0, (m * 0.3) ** 2
        _, (*_, W) = call_both(kernels.pace, record, pattern, age, S, 0, 2, W)
        _, (*_, S, d) = call_both(
            kernels.complete, record, pattern, penalty, np.ones(2), W, 0, 2, S, d
        )
        assert S[0] == pytest.approx(0.7)
