"""Sizes, tables and entropies in both forms, and against dictionaries and sums."""

from __future__ import annotations

import numpy as np
import pytest
from forms import call_both

from partita import _kernels

pytestmark = pytest.mark.kernel
MISSING = np.uint8(255)


def table(seed, n=40, m=4, k=3, missing=0.2):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, k, (n, m)).astype(np.uint8)
    labels[rng.random((n, m)) < missing] = MISSING
    return labels, np.arange(m + 1) * k


@pytest.fixture(params=[0.0, 0.2], ids=["complete", "missing"])
def case(request):
    labels, offsets = table(0, missing=request.param)
    return labels, offsets, np.random.default_rng(2).integers(1, 5, 40).astype(float)


def test_sizes_and_tables(case):
    labels, offsets, weights = case
    groups = np.random.default_rng(1).integers(-1, 2, 40)  # -1 is no group
    sizes, counts = np.zeros(12), np.zeros((12, 2))
    of_table = labels, MISSING, offsets.astype(np.int32), weights
    for share in ((0, 1), (1, 4), (4, 4)):
        _, (*_, sizes) = call_both(_kernels.contingency.cluster_sums, *of_table, *share, sizes)
    _, (*_, counts) = call_both(
        _kernels.contingency.against, labels, MISSING, offsets, weights, groups, counts
    )
    for i in range(4):
        for c in range(3):
            inside = labels[:, i] == c
            assert sizes[3 * i + c] == weights[inside].sum()
            for k in range(2):
                assert counts[3 * i + c, k] == weights[inside & (groups == k)].sum()


def test_pair_table(case):
    labels, _, weights = case
    first, second = labels[:, 0], labels[:, 1]
    _, (*_, counts) = call_both(
        _kernels.contingency.pair_table, first, second, MISSING, weights, np.zeros((3, 3))
    )
    for k in range(3):
        for j in range(3):
            assert counts[k, j] == weights[(first == k) & (second == j)].sum()


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_fractions_are_added_in_the_same_order(missing):
    """The order shows where sums of fractions are rounded, also on top of earlier sums."""
    labels, offsets = table(3, n=2000, m=7, k=4, missing=missing)
    rng = np.random.default_rng(4)
    values, earlier, groups = rng.random(2000), rng.random((28, 3)), rng.integers(-1, 3, 2000)
    kernels, bounds = _kernels.contingency, offsets.astype(np.int32)
    of_table = labels, MISSING, bounds, values
    call_both(kernels.cluster_sums, *of_table, 2, 7, earlier[:, 0].copy())
    call_both(kernels.row_sums, labels, MISSING, bounds, rng.random(28), 5, 1900, np.ones(2000))
    call_both(kernels.against, *of_table[:2], offsets, values, groups, earlier)
    call_both(kernels.pair_table, labels[:, 0], labels[:, 1], MISSING, values, rng.random((4, 4)))
    call_both(kernels.overlaps, *of_table, 1, 3, rng.random((28, 28)))
    symmetric = np.add.outer(rng.random(28), rng.random(28))
    call_both(kernels.row_forms, *of_table[:2], offsets, symmetric, 5, 1900, np.ones(2000))


def test_n_labeled(case):
    labels = case[0]
    out = np.full(40, -1, np.int32)
    _, (*_, out) = call_both(_kernels.contingency.n_labeled, labels, MISSING, 5, 30, out)
    np.testing.assert_array_equal(out[5:30], (labels[5:30] != MISSING).sum(axis=1))
    assert (out[:5] == -1).all()
    assert (out[30:] == -1).all()


def test_row_sums(case):
    labels, offsets, _ = case
    values, out = np.arange(12) ** 1.5, np.full(40, np.nan)
    of_table = labels, MISSING, offsets.astype(np.int32), values
    for share in ((0, 15), (15, 40), (40, 40)):
        _, (*_, out) = call_both(_kernels.contingency.row_sums, *of_table, *share, out)
    for x, row in enumerate(labels):
        expected = sum(values[3 * i + c] for i, c in enumerate(row) if c != MISSING)
        assert out[x] == pytest.approx(expected)


def test_row_forms(case):
    labels, offsets, _ = case
    symmetric, out = np.add.outer(np.arange(12) ** 1.5, np.arange(12) ** 1.5), np.empty(40)
    symmetric *= np.cos(symmetric)
    for share in ((0, 15), (15, 40)):
        _, (*_, out) = call_both(
            _kernels.contingency.row_forms, labels, MISSING, offsets, symmetric, *share, out
        )
    for x, row in enumerate(labels):
        clusters = [3 * i + c for i, c in enumerate(row) if c != MISSING]
        assert out[x] == pytest.approx(symmetric[np.ix_(clusters, clusters)].sum())


@pytest.mark.parametrize("is_integer", [True, False])
def test_pair_sums(case, is_integer):
    """The compiled form looks up logarithms, so that it is for integers only."""
    labels, offsets, weights = case
    weights = weights if is_integer else weights / 3
    x_log_x = np.arange(weights.sum() + 1 if is_integer else 0, dtype=np.float64)
    x_log_x[1:] *= np.log2(x_log_x[1:])
    columns = np.ascontiguousarray(labels.T)
    totals, logs = np.zeros((2, 4, 12))
    for i in range(4):
        sums = columns, MISSING, offsets, weights, x_log_x, i, totals, logs
        if is_integer:
            _, (*_, totals, logs) = call_both(_kernels.contingency.pair_sums, *sums)
        else:
            _kernels.contingency.pair_sums(*sums)
    for i in range(4):
        for j in range(4):
            for c in range(3):
                if j == i:
                    assert totals[j, 3 * i + c] == 0
                    continue
                joint = [weights[(labels[:, i] == c) & (labels[:, j] == d)].sum() for d in range(3)]
                t = np.array(joint)[np.array(joint) > 0]
                assert totals[j, 3 * i + c] == pytest.approx(t.sum(), abs=1e-12)
                assert logs[j, 3 * i + c] == pytest.approx((t * np.log2(t)).sum(), abs=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_overlaps_of_rows(missing):
    n, m, k = 60, 5, 3
    labels, offsets = table(6, n, m, k, missing)
    values = np.random.default_rng(6).random(n)
    expected = np.zeros((m * k, m * k))
    for x in range(n):
        clusters = [offsets[i] + labels[x, i] for i in range(m) if labels[x, i] != MISSING]
        for c in clusters:
            for d in clusters:
                expected[c, d] += values[x] * (d <= c)
    overlaps, of_table = np.zeros_like(expected), (labels, MISSING, offsets.astype(np.int32))
    for share in range(3):
        _, (*_, overlaps) = call_both(
            _kernels.contingency.overlaps, *of_table, values, share, 3, overlaps
        )
    np.testing.assert_allclose(overlaps, expected, rtol=0, atol=1e-12)
