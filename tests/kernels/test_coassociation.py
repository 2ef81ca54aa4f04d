"""Counting and weighing pairs against the obvious loops over partitions."""

from __future__ import annotations

import numpy as np
import pytest

from partita import _kernels

pytestmark = pytest.mark.kernel


def counted_slowly(labels, missing):
    counts = np.zeros((len(labels), len(labels)), int)
    for column in labels.T:
        known = column != missing
        counts += (column[:, None] == column) & known[:, None] & known
    return counts


@pytest.mark.parametrize(
    ("n", "m", "dtype"), [(5, 3, np.uint8), (300, 9, np.uint8), (65, 300, np.uint16)]
)
def test_counts(n, m, dtype):
    # 300 rows cross a tile border, 300 partitions overflow a byte
    rng = np.random.default_rng(n)
    missing = np.iinfo(dtype).max
    labels = rng.integers(0, 4, (n, m)).astype(dtype)
    labels[rng.random((n, m)) < 0.1] = missing
    labels[:2] = 0  # two rows that agree everywhere
    out = np.empty((n, n), np.uint16)
    columns = np.ascontiguousarray(labels.T)
    for start in range(0, n, 256):
        _kernels.coassociation.count_rows(columns, missing, start, min(start + 256, n), out)
    np.testing.assert_array_equal(out, counted_slowly(labels, missing))
    assert out[0, 1] == m


@pytest.mark.parametrize("n", [7, 270])
def test_weights(n):
    rng = np.random.default_rng(n)
    m, k, missing = 5, 3, 255
    labels = rng.integers(0, k, (n, m)).astype(np.uint8)
    labels[rng.random((n, m)) < 0.2] = missing
    value = rng.random(m * k)
    expected = np.zeros((n, n))
    for i, column in enumerate(labels.T):
        for c in range(k):
            inside = column == c
            expected[np.ix_(inside, inside)] += value[i * k + c]
    out = np.empty((n, n))
    offsets = np.arange(m + 1) * k
    columns = np.ascontiguousarray(labels.T)
    for start in range(0, n, 256):
        _kernels.coassociation.weigh_rows(
            columns, missing, offsets, value, start, min(start + 256, n), out
        )
    np.testing.assert_allclose(out, expected, rtol=0, atol=1e-14)
