"""A table of whole numbers is coded as its columns are, one by one."""

from __future__ import annotations

import numpy as np
import pytest

from partita import Ensemble
from partita._input.coding import encode
from partita._input.table_coding import encode_table
from partita.exceptions import InvalidEnsembleError


def both(table, noise):
    return encode_table(table, noise), encode([*table.T], None, noise)


@pytest.mark.parametrize("noise", ["missing", "cluster"])
@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint8, np.uint16])
def test_codes_and_labels(dtype, noise):
    rng = np.random.default_rng(3)
    low = -1 if np.dtype(dtype).kind == "i" else 0
    table = (rng.integers(low, 6, (9000, 5)) * np.array([1, 1, 7, 1, 3])).astype(dtype)
    (codes, labels), (expected, expected_labels) = both(table, noise)
    assert codes.dtype == expected.dtype
    np.testing.assert_array_equal(codes, expected)
    for values, expected in zip(labels, expected_labels, strict=True):
        assert values.dtype == expected.dtype
        np.testing.assert_array_equal(values, expected)


def test_many_clusters_take_a_wider_type():
    table = np.stack([np.arange(3000), np.arange(3000) // 1000], axis=1)
    (codes, _), (expected, _) = both(table, "missing")
    assert codes.dtype == expected.dtype == np.uint16
    np.testing.assert_array_equal(codes, expected)


@pytest.mark.parametrize(
    "column",
    [
        np.array([2**63 - 1, 2**63 - 1, 0]),
        np.array([2**63 - 1, 2**63 - 6, 2**63 - 1]),
        np.array([5, -(2**63), 5]),
        np.array([2**64 - 1, 3, 3], np.uint64),
    ],
)
def test_numbers_at_the_ends_of_their_type(column):
    """No difference of two of them may overflow on the way to a place in a table."""
    table = np.stack([np.array([0, 60_000, 1], column.dtype), column], axis=1)
    ensemble = Ensemble.from_partitions(table)
    for codes, names, given in zip(ensemble.codes.T, ensemble.categories, table.T, strict=True):
        np.testing.assert_array_equal(names[codes], given)


@pytest.mark.parametrize(
    ("table", "noise"),
    [
        (np.array([[0.0], [1.0]]), "missing"),
        (np.array([[0], [2**40]]), "missing"),
        (np.array([[-(2**63)], [2**63 - 1]]), "missing"),
        (np.array([[0], [-1]]), "singletons"),
        (np.array([[0, -1], [1, -1]]), "missing"),
        (np.ma.masked_array([[0], [1]], [[False], [True]]), "missing"),
        (np.array([["a"], ["b"]]), "missing"),
    ],
)
def test_what_it_leaves_to_the_columns(table, noise):
    assert encode_table(table, noise) is None


def test_an_empty_column_is_still_refused():
    from partita import Ensemble

    with pytest.raises(InvalidEnsembleError, match="labels no sample"):
        Ensemble.from_partitions(np.array([[0, -1], [1, -1]]))
