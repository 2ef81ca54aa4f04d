"""Comparison of the two forms of a kernel: its definition in NumPy and its compiled form."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from partita._kernels._dispatch import Kernel
from partita._packages import is_installed


def call_both(
    kernel: Kernel, *arguments: Any, scratch: tuple[int, ...] = ()
) -> tuple[Any, tuple[Any, ...]]:
    """Call both forms on copies of the arguments, and require equal results to the last bit.

    Return the result of the definition and its arguments after the call. The compiled form is left
    out where numba is not installed. `scratch` has the numbers of the arguments that a kernel only
    uses as memory: what they have afterward is not compared.
    """
    ours = copy.deepcopy(arguments)
    result = kernel.definition(*ours)
    if is_installed("numba"):
        theirs = copy.deepcopy(arguments)
        assert_identical(kernel.compiled(*theirs), result)
        for number, (one, other) in enumerate(zip(theirs, ours, strict=True)):
            if number not in scratch:
                assert_identical(one, other)
    return result, ours


def assert_identical(one: Any, other: Any) -> None:
    """Require equal values of equal types; zeros of different sign and all NaN are equal."""
    if isinstance(one, tuple | list):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            assert_identical(a, b)
    elif isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    else:
        assert one == other
