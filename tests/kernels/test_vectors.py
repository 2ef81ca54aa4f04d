"""LLVM intrinsics against their definitions in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("numba", reason="numba is not installed")

from partita._kernels._compiled import _vectors as vectors
from partita._kernels._compiled._jit import jit

pytestmark = pytest.mark.kernel


@jit
def add_costs(table, rows, first, last, origin, step, factor, costs):
    vectors.add_costs(table, rows, first, last, origin, step, factor, costs)


@jit
def two_smallest(values):
    return vectors.two_smallest(values)


@jit
def list_clusters(codes, x, missing_code, offsets, first, last, clusters, partitions):
    return vectors.list_clusters(codes, x, missing_code, offsets, first, last, clusters, partitions)


@pytest.mark.parametrize("dtype", [np.int8, np.int16])
@pytest.mark.parametrize("width", [16, 32, 48, 64, 80, 96, 112, 128, 192, 320])
def test_add_costs(dtype, width):
    rng = np.random.default_rng(width)
    table = rng.integers(-127, 128, (50, width)).astype(dtype)
    rows = rng.integers(0, 50, 70).astype(np.int32)
    origin, step, start = rng.normal(size=(3, width)).astype(np.float32)
    for first, last in ((0, 64), (3, 4), (10, 31), (5, 5)):
        costs, expected = start.copy(), start.copy()
        add_costs(table, rows, first, last, origin, step, np.float32(0.7), costs)
        vectors.add_costs(table, rows, first, last, origin, step, np.float32(0.7), expected)
        np.testing.assert_allclose(costs, expected, rtol=1e-6, atol=1e-3)


@pytest.mark.parametrize("width", [16, 32, 112, 192])
def test_two_smallest(width):
    rng = np.random.default_rng(width)
    for place in range(width):
        values = rng.normal(size=width).astype(np.float32)
        values[place] = -10.0
        values[rng.integers(0, width)] -= 4.0
        found, smallest, second = two_smallest(values)
        ordered = np.sort(values)
        assert (values[found], smallest, second) == (ordered[0], ordered[0], ordered[1])


def test_two_smallest_of_equals_and_of_none():
    values = np.full(32, 3.0, np.float32)
    _, smallest, second = two_smallest(values)
    assert (smallest, second) == (3.0, 3.0)
    values[:] = np.inf
    values[21] = 0.0
    assert two_smallest(values) == (21, 0.0, np.inf)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
@pytest.mark.parametrize("m", [1, 31, 32, 33, 64, 100])
@pytest.mark.parametrize("share", [0.0, 0.2, 0.7, 1.0])
def test_list_clusters(dtype, m, share):
    rng = np.random.default_rng(m)
    missing = dtype(np.iinfo(dtype).max)
    labels = rng.integers(0, 7, (20, m)).astype(dtype)
    labels[rng.random((20, m)) >= share] = missing
    offsets = (7 * np.arange(m + 1)).astype(np.int32)
    for x in range(20):
        for first, last in ((0, m), (m // 3, m), (m // 3, m - m // 4)):
            found = [np.full(m + vectors.PADDING, -5, np.int32) for _ in range(2)]
            n = list_clusters(labels, x, missing, offsets, first, last, *found)
            there = first + np.flatnonzero(labels[x, first:last] != missing)
            assert n == len(there)
            np.testing.assert_array_equal(found[0][:n], offsets[there] + labels[x, there])
            np.testing.assert_array_equal(found[1][:n], there)


def test_arrays_that_are_not_contiguous_are_refused():
    """Their entries would be read at wrong addresses."""
    if not hasattr(list_clusters, "signatures"):
        pytest.skip("numba is disabled")
    labels = np.zeros((6, 4), np.uint8)[:, ::2]
    found = [np.empty(2 + vectors.PADDING, np.int32) for _ in range(2)]
    with pytest.raises(vectors.TypingError, match="contiguous"):
        list_clusters(labels, 0, np.uint8(255), np.arange(3, dtype=np.int32), 0, 2, *found)
