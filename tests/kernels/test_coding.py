"""Coding of a table of numbers, in both forms."""

from __future__ import annotations

import numpy as np
import pytest
from forms import call_both

from partita import _kernels
from partita._packages import is_installed

pytestmark = pytest.mark.kernel

VALUES = np.random.default_rng(0).integers(-5, 9, (40, 3)) * np.array([1, 2, 3])
LOW, HIGH = VALUES.min(axis=0), VALUES.max(axis=0)
SPAN = int((HIGH - LOW).max()) + 1


def test_extent() -> None:
    low, high = np.empty(3, np.int64), np.empty(3, np.int64)
    _, (*_, low, high) = call_both(_kernels.coding.extent, VALUES, 10, 30, low, high)
    np.testing.assert_array_equal(low, VALUES[10:30].min(axis=0))
    np.testing.assert_array_equal(high, VALUES[10:30].max(axis=0))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_shift(dtype: type) -> None:
    places, present = np.zeros(VALUES.shape, dtype), np.zeros((3, SPAN), bool)
    for share in ((0, 15), (15, 40)):
        inside, (*_, places, present) = call_both(
            _kernels.coding.shift, VALUES, LOW, HIGH, *share, places, present
        )
        assert inside
    np.testing.assert_array_equal(places, VALUES - LOW)
    for i in range(3):
        assert np.flatnonzero(present[i]).tolist() == np.unique(VALUES[:, i] - LOW[i]).tolist()


@pytest.mark.parametrize("limits", [(LOW + 1, HIGH), (LOW, HIGH - 1)])
def test_shift_refuses_a_value_outside_the_limits(limits: tuple[np.ndarray, np.ndarray]) -> None:
    forms = [_kernels.coding.shift.definition]
    if is_installed("numba"):
        forms.append(_kernels.coding.shift.compiled)
    for form in forms:
        nowhere = np.empty(VALUES.shape, np.uint8), np.zeros((3, SPAN), bool)
        assert not form(VALUES, *limits, 0, 40, *nowhere)


def test_recode() -> None:
    codes = np.random.default_rng(1).integers(0, 200, (3, SPAN)).astype(np.uint8)
    places, out = (VALUES - LOW).astype(np.uint8), np.zeros(VALUES.shape, np.uint8)
    for share in ((0, 15), (15, 40)):
        _, (*_, out) = call_both(_kernels.coding.recode, places, codes, *share, out)
    np.testing.assert_array_equal(out, codes[np.arange(3), VALUES - LOW])
