"""Functions that only compiled kernels call."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("numba")

from partita._kernels._compiled import _lists, label_search
from partita._kernels._compiled._jit import jit

pytestmark = pytest.mark.kernel


@jit
def list_clusters(codes, x, missing_code, offsets, first, last, clusters, partitions):
    return _lists.list_clusters(codes, x, missing_code, offsets, first, last, clusters, partitions)


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


@jit
def two_smallest(order):
    return label_search._two_smallest(order)


@pytest.mark.parametrize("width", [16, 48, 112])
@pytest.mark.parametrize(
    "values",
    [
        [-3.0, -2.0, -1.0, 1.0, 2.0],
        [-1.0, -1.0, 0.0],
        [-0.0, 0.0],
        [0.0],
        [1.0, np.inf],
        [-1e30, 1e30, np.inf],
        [1e-40, -1e-40, 1e-45],
        [1.0, 1.0 + 2.0**-23, -1.0, -1.0 - 2.0**-23],
    ],
)
def test_two_smallest(values, width):
    rng = np.random.default_rng(width)
    for _ in range(20):
        numbers = np.full(width, 1e30, np.float32)
        taken = rng.permutation(width)[: width // 2]
        numbers[taken] = rng.choice(np.asarray(values, np.float32), width // 2)
        first, second = two_smallest(numbers.view(np.int32))
        np.testing.assert_array_equal(numbers[[first, second]], np.sort(numbers)[:2])
        is_tie = np.count_nonzero(numbers == numbers[first]) > 1
        assert first != second or is_tie
