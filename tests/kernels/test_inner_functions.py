"""Functions that only compiled kernels call: sums of table rows, and lists of labels."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("numba")

from partita._kernels._compiled import _lists, _sums
from partita._kernels._compiled._jit import jit

pytestmark = pytest.mark.kernel


@jit
def add_costs(table, rows, first, last, origin, step, factor, sums, costs):
    _sums.add_costs(table, rows, first, last, origin, step, factor, sums, costs)


@jit
def list_clusters(codes, x, missing_code, offsets, first, last, clusters, partitions):
    return _lists.list_clusters(codes, x, missing_code, offsets, first, last, clusters, partitions)


@pytest.mark.parametrize("dtype", [np.int8, np.int16])
@pytest.mark.parametrize("width", [16, 32, 48, 64, 80, 96, 112, 128, 192, 320])
def test_add_costs(dtype, width):
    rng = np.random.default_rng(width)
    table = rng.integers(-127, 128, (50, width)).astype(dtype)
    rows = rng.integers(0, 50, 70).astype(np.uint32)
    origin, step, begin = rng.normal(size=(3, width)).astype(np.float32)
    sums = np.empty(width, np.int16)
    for first, last in ((0, 64), (3, 4), (10, 31), (5, 5)):
        costs = begin.copy()
        add_costs(table, rows, first, last, origin, step, np.float32(0.7), sums, costs)
        q = table[rows[first:last]].sum(axis=0, dtype=np.int16).astype(np.float32)
        expected = begin + np.float32(0.7) * (np.float32(last - first) * origin + step * q)
        np.testing.assert_array_equal(costs, expected)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
@pytest.mark.parametrize("m", [1, 31, 100])
@pytest.mark.parametrize("share", [0.0, 0.2, 0.7, 1.0])
def test_list_clusters(dtype, m, share):
    rng = np.random.default_rng(m)
    missing = dtype(np.iinfo(dtype).max)
    labels = rng.integers(0, 7, (20, m)).astype(dtype)
    labels[rng.random((20, m)) >= share] = missing
    offsets = (7 * np.arange(m + 1)).astype(np.int32)
    for x in range(20):
        for first, last in ((0, m), (m // 3, m), (m // 3, m - m // 4)):
            clusters, partitions = np.full((2, m + _lists.PADDING), 5, np.uint32)
            n = list_clusters(labels, x, missing, offsets, first, last, clusters, partitions)
            labeled = first + np.flatnonzero(labels[x, first:last] != missing)
            np.testing.assert_array_equal(partitions[:n], labeled)
            np.testing.assert_array_equal(clusters[:n], offsets[labeled] + labels[x, labeled])
