"""Sizes, tables and entropies against dictionaries and sums."""

from __future__ import annotations

import numpy as np
import pytest

from partita import _kernels

pytestmark = pytest.mark.kernel
MISSING = 255


@pytest.fixture
def case():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, (40, 4)).astype(np.uint8)
    labels[rng.random((40, 4)) < 0.2] = MISSING
    return labels, np.arange(5) * 3, rng.integers(1, 5, 40).astype(float)


def test_sizes_and_tables(case):
    labels, offsets, weights = case
    groups = np.random.default_rng(1).integers(-1, 2, 40)  # -1 is no group
    sizes, table = np.zeros(12), np.zeros((12, 2))
    for first, last in ((0, 1), (1, 4)):
        _kernels.contingency.cluster_sums(
            labels, np.uint8(MISSING), offsets.astype(np.int32), weights, first, last, sizes
        )
    _kernels.contingency.against(labels, MISSING, offsets, weights, groups, table)
    for i in range(4):
        for c in range(3):
            inside = labels[:, i] == c
            assert sizes[3 * i + c] == weights[inside].sum()
            for k in range(2):
                assert table[3 * i + c, k] == weights[inside & (groups == k)].sum()


def test_row_sums(case):
    labels, offsets, _ = case
    values, out = np.arange(12) ** 1.5, np.empty(40)
    for start in (0, 15):
        _kernels.contingency.row_sums(
            labels, np.uint8(MISSING), offsets.astype(np.int32), values, start, start + 25, out
        )
    for x, row in enumerate(labels):
        expected = sum(values[3 * i + c] for i, c in enumerate(row) if c != MISSING)
        assert out[x] == pytest.approx(expected)


def test_row_forms(case):
    labels, offsets, _ = case
    table, out = np.add.outer(np.arange(12) ** 1.5, np.arange(12) ** 1.5), np.empty(40)
    table *= np.cos(table)
    for start in (0, 15):
        _kernels.contingency.row_forms(labels, MISSING, offsets, table, start, start + 25, out)
    for x, row in enumerate(labels):
        clusters = [3 * i + c for i, c in enumerate(row) if c != MISSING]
        assert out[x] == pytest.approx(table[np.ix_(clusters, clusters)].sum())


@pytest.mark.parametrize("looked_up", [0, 3, 100])
def test_entropies(case, looked_up):
    """`looked_up` whole numbers have their logarithms in a table, more than there are or fewer."""
    labels, offsets, weights = case
    if looked_up:
        weights = np.ceil(3 * weights)
    numbers = np.arange(float(looked_up))
    numbers[1:] *= np.log2(numbers[1:])
    columns = np.ascontiguousarray(labels.T)
    out = np.zeros((4, 12))
    for i in range(4):
        _kernels.contingency.pair_entropies(columns, MISSING, offsets, weights, numbers, i, out)
    for i in range(4):
        for j in range(4):
            for c in range(3):
                if j == i:
                    assert out[j, 3 * i + c] == 0
                    continue
                joint = [weights[(labels[:, i] == c) & (labels[:, j] == d)].sum() for d in range(3)]
                q = np.array(joint)[np.array(joint) > 0] / sum(joint)
                assert out[j, 3 * i + c] == pytest.approx(-(q * np.log2(q)).sum(), abs=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_overlaps_of_rows(missing):
    rng = np.random.default_rng(6)
    n, m, k = 60, 5, 3
    labels = rng.integers(0, k, (n, m)).astype(np.uint8)
    labels[rng.random((n, m)) < missing] = 255
    offsets, values = np.arange(m + 1) * k, rng.random(n)
    expected = np.zeros((m * k, m * k))
    for x in range(n):
        clusters = [offsets[i] + labels[x, i] for i in range(m) if labels[x, i] != 255]
        for c in clusters:
            for d in clusters:
                expected[c, d] += values[x] * (d <= c)
    found = np.zeros_like(expected)
    for share in range(3):
        _kernels.contingency.overlaps(
            labels, np.uint8(255), offsets.astype(np.int32), values, share, 3, found
        )
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
