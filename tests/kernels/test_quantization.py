"""Extremes and integer steps of tables, in both forms."""

from __future__ import annotations

import numpy as np
import pytest
from forms import call_both

from partita import _kernels
from partita._kernels.quantization import LANES, padded_width

pytestmark = pytest.mark.kernel


@pytest.mark.parametrize("n", [1, 16, 17, 100, 128, 129, 192, 1000])
def test_padded_width(n):
    width = padded_width(n)
    assert n <= width < n + 64
    assert width % LANES == 0
    assert padded_width(width) == width


@pytest.mark.parametrize("groups", [1, 5])
def test_table_extremes(groups):
    rng = np.random.default_rng(0)
    offsets = np.array([0, 3, 4, 9])
    lookup, previous = rng.normal(size=(2, 9, groups))
    extremes = tuple(np.zeros((4, 3, groups)))
    for share in ((0, 1), (1, 3)):
        _, (*_, extremes) = call_both(
            _kernels.quantization.table_extremes, lookup, previous, offsets, *share, extremes
        )
    change = lookup - previous
    for i in range(3):
        rows = slice(offsets[i], offsets[i + 1])
        expected = (
            lookup[rows].min(axis=0),
            lookup[rows].max(axis=0),
            change[rows].max(axis=0),
            change[rows].min(axis=0),
        )
        np.testing.assert_array_equal([extreme[i] for extreme in extremes], expected)


@pytest.mark.parametrize("dtype", [np.int8, np.int16])
def test_quantize(dtype):
    rng = np.random.default_rng(1)
    table, middle = rng.normal(size=(20, 5)), rng.normal(size=5)
    per_step = np.array([0.0, 1.0, 3.0, 10.0, 20.0])
    out = np.zeros((20, 16), dtype)
    for share in ((0, 7), (7, 20)):
        arguments = table, middle, per_step, *share, out
        _, (*_, out) = call_both(_kernels.quantization.quantize, *arguments)
    np.testing.assert_array_equal(out[:, :5], np.rint((table - middle) * per_step))
    assert not out[:, 5:].any()
