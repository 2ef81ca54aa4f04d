"""Counting and weighing pairs: both forms, and the obvious loops over partitions."""

from __future__ import annotations

import numpy as np
import pytest
from forms import call_both

from partita import _kernels

pytestmark = pytest.mark.kernel
BLOCK = 256


def table(n, m, k, dtype=np.uint8, missing_ratio=0.1):
    rng = np.random.default_rng(n)
    missing_code = dtype(np.iinfo(dtype).max)
    labels = rng.integers(0, k, (n, m)).astype(dtype)
    labels[rng.random((n, m)) < missing_ratio] = missing_code
    return labels, np.ascontiguousarray(labels.T), missing_code


def blocks(kernel, *arguments, out):
    """Call both forms for all blocks of rows; return what they fill."""
    for start in range(0, len(out), BLOCK):
        bounds = start, min(start + BLOCK, len(out))
        _, (*_, out) = call_both(kernel, *arguments, *bounds, out)
    return out


def count_slowly(labels, missing_code):
    counts = np.zeros((len(labels), len(labels)), int)
    for column in labels.T:
        is_labeled = column != missing_code
        counts += (column[:, None] == column) & is_labeled[:, None] & is_labeled
    return counts


# 300 rows cross a tile border, 300 partitions overflow a byte, one row has no other
SHAPES = [(5, 3, np.uint8), (300, 9, np.uint8), (65, 300, np.uint16), (1, 2, np.uint8)]


@pytest.mark.parametrize(("n", "m", "dtype"), SHAPES)
def test_counts(n, m, dtype):
    labels, columns, missing_code = table(n, m, 4, dtype)
    out = np.zeros((n, n), np.uint16)
    values = np.arange(m + 1, dtype=np.uint16)
    out = blocks(_kernels.coassociation.count_rows, columns, missing_code, values, out=out)
    np.testing.assert_array_equal(out, count_slowly(labels, missing_code))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_shares(dtype):
    labels, columns, missing_code = table(70, 7, 2, missing_ratio=0.0)
    values = (np.arange(8) / 7).astype(dtype)
    out = np.zeros((70, 70), dtype)
    out = blocks(_kernels.coassociation.count_rows, columns, missing_code, values, out=out)
    np.testing.assert_array_equal(out, (count_slowly(labels, missing_code) / 7).astype(dtype))
    assert np.all(out.diagonal() == 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "m"), [(5, 3), (300, 9)])
def test_division(n, m, dtype):
    labels, columns, missing_code = table(n, m, 4, missing_ratio=0.5)
    sums = np.random.default_rng(0).random((n, n)).astype(dtype)
    out = blocks(_kernels.coassociation.divide_rows, columns, missing_code, out=sums.copy())
    counts = count_slowly(labels, missing_code)
    assert np.any(counts == 0)
    np.testing.assert_array_equal(out, (sums / np.maximum(counts, 1)).astype(dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 7, 270])
def test_weights(n, dtype):
    m, k = 5, 3
    labels, columns, missing_code = table(n, m, k, missing_ratio=0.2)
    value, offsets = np.random.default_rng(n).random(m * k), np.arange(m + 1) * k
    expected = np.zeros((n, n))
    for i, column in enumerate(labels.T):
        for c in range(k):
            inside = column == c
            expected[np.ix_(inside, inside)] += value[i * k + c]
    out = np.zeros((n, n), dtype)
    kernel = _kernels.coassociation.weigh_rows
    out = blocks(kernel, columns, missing_code, offsets, value, 3.0, out=out)
    np.testing.assert_array_equal(out, (expected / 3.0).astype(dtype))
