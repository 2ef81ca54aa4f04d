"""Codes of a table of numbers against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from partita import _kernels

pytestmark = pytest.mark.kernel


def test_extent_places_and_codes():
    values = np.random.default_rng(0).integers(-5, 9, (40, 3)) * np.array([1, 2, 3])
    low, high = np.empty(3, np.int64), np.empty(3, np.int64)
    _kernels.coding.extent(values, 10, 30, low, high)
    np.testing.assert_array_equal(low, values[10:30].min(axis=0))
    np.testing.assert_array_equal(high, values[10:30].max(axis=0))
    low, high = values.min(axis=0), values.max(axis=0)
    span = int((high - low).max()) + 1
    present, places = np.zeros((3, span), bool), np.empty(values.shape, np.uint8)
    for start, stop in ((0, 15), (15, 40)):
        assert _kernels.coding.shift(values, low, high, start, stop, places, present)
    np.testing.assert_array_equal(places, values - low)
    for i in range(3):
        assert np.flatnonzero(present[i]).tolist() == np.unique(values[:, i] - low[i]).tolist()
    for limits in ((low + 1, high), (low, high - 1)):  # one number too low, or too high
        nowhere = np.empty_like(places), np.zeros((3, span), bool)
        assert not _kernels.coding.shift(values, *limits, 0, 40, *nowhere)
    codes = np.random.default_rng(1).integers(0, 200, (3, span)).astype(np.uint8)
    out = np.empty(values.shape, np.uint8)
    for start, stop in ((0, 15), (15, 40)):
        _kernels.coding.recode(places, codes, start, stop, out)
    np.testing.assert_array_equal(out, codes[np.arange(3), values - low])
