"""Nearest-neighbor chains, in both forms."""

from __future__ import annotations

import numpy as np
import pytest
from forms import call_both

from partita import _kernels
from partita._kernels.chains import AVERAGE, COMPLETE, SINGLE
from partita._packages import is_installed

pytestmark = pytest.mark.kernel


def symmetric(n, seed, values, kind):
    upper = np.triu(np.random.default_rng(seed).choice(values, (n, n)), 1)
    return (upper + upper.T).astype(kind)


def outputs(n):
    return np.empty(n - 1, np.int64), np.empty(n - 1, np.int64), np.empty(n - 1)


def merge_both(size, linkage, matrix):
    _, (*_, left, right, height) = call_both(
        _kernels.chains.merge_nearest, size, linkage, matrix, *outputs(len(matrix)), scratch=(2,)
    )
    return left, right, height


@pytest.mark.parametrize("linkage", [AVERAGE, SINGLE, COMPLETE])
@pytest.mark.parametrize("kind", [np.uint32, np.int64, np.float64])
@pytest.mark.parametrize("n_values", [3, 100_000])
def test_forms_merge_alike(linkage, kind, n_values):
    """Few values: many ties. With 600 rows the matrix is compacted many times."""
    for n, seed in ((2, 0), (3, 1), (37, 2), (600, 3)):
        matrix = symmetric(n, seed, np.arange(1, n_values + 1), kind)
        left, right, height = merge_both(np.ones(n), linkage, matrix)
        assert np.all(left < right)
        assert sorted(right) == list(range(1, n)), "every row but the first joins another once"
        if linkage == SINGLE:  # the smallest entry is the first merge of a chain
            assert height.min() == matrix[np.triu_indices(n, 1)].min()


def test_forms_round_alike():
    """Weights that differ much, and distances of either sign: means of sums are rounded."""
    rng = np.random.default_rng(0)
    for n in (50, 400):
        size = 10.0 ** rng.uniform(-6, 6, n)
        matrix = symmetric(n, n, rng.normal(size=50), np.float64) * np.outer(size, size)
        merge_both(size, AVERAGE, matrix)


@pytest.mark.skipif(not is_installed("numba"), reason="the compiled form needs numba")
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_compiled_form_stays_inside_its_arrays(value):
    """Callers refuse such distances. Still no index may leave an array, and the chain must end."""
    matrix = symmetric(40, 0, np.arange(1, 9), np.float64)
    for entries in ((3, 7), (slice(None), slice(None))):
        matrix[entries] = matrix.T[entries] = value
        left, right, _ = results = outputs(40)
        _kernels.chains.merge_nearest.compiled(np.ones(40), AVERAGE, matrix.copy(), *results)
        for rows in (left, right):
            assert rows.min() >= 0
            assert rows.max() < 40
