"""Clusters are numbered by first appearance, whatever their size, type and place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita import _numbering
from partita._numbering import number_by_appearance, number_chunks, order_of_appearance


def expected_numbers(labels):
    """Number the labels one by one, as the definition says."""
    numbers: dict[int, int] = {}
    result = [-1 if v == -1 else numbers.setdefault(v, len(numbers)) for v in labels]
    return result, len(numbers)


@pytest.mark.parametrize("few", [0, 3, 1024])
@given(labels=st.lists(st.integers(-1, 6), max_size=12))
def test_numbers_are_those_of_the_definition(few, labels):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_numbering, "_FEW", few)  # by sorting, by either way, by a table
        numbers, n_clusters = number_by_appearance(np.array(labels, np.int64))
    assert (numbers.tolist(), n_clusters) == expected_numbers(labels)
    assert numbers.dtype == np.int64


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.uint64])
def test_types_of_labels(dtype):
    numbers, n_clusters = number_by_appearance(np.array([7, 7, 0, 100, 0], dtype))
    assert numbers.tolist() == [0, 0, 1, 2, 1]
    assert n_clusters == 3


def test_floats_are_numbered_too():
    numbers, n_clusters = number_by_appearance(np.array([2.5, -1.0, 2.25, 2.5]))
    assert numbers.tolist() == [0, -1, 1, 0]
    assert n_clusters == 2


@pytest.mark.parametrize("largest", [1023, 1024, 2**40])
def test_labels_on_both_sides_of_the_table(largest):
    labels = np.array([largest, 5, -1, largest, 0])
    numbers, n_clusters = number_by_appearance(labels)
    assert numbers.tolist() == [0, 1, -1, 0, 2]
    assert n_clusters == 3


@given(labels=st.lists(st.integers(-1, 4), max_size=10), n_more=st.integers(0, 3))
def test_order_of_appearance(labels, n_more):
    n_labels = max(labels, default=-1) + 1 + n_more
    used = list(dict.fromkeys(v for v in labels if v >= 0))
    unused = [v for v in range(n_labels) if v not in used]
    order = order_of_appearance(np.array(labels, np.int64), n_labels)
    assert order.tolist() == used + unused


@given(chunks=st.lists(st.lists(st.integers(-1, 6), min_size=1, max_size=5), min_size=1))
def test_chunks_are_numbered_like_all_rows(chunks):
    rows = [value for chunk in chunks for value in chunk]
    labels, numbers = number_chunks(lambda: map(np.array, chunks), len(rows))
    expected, n_clusters = expected_numbers(rows)
    assert labels.tolist() == expected
    assert labels.dtype == np.int64
    for group in range(max(rows) + 1):
        place = rows.index(group) if group in rows else None
        assert numbers[group] == (-1 if place is None else expected[place])
    assert len(numbers) == max(rows) + 1
    assert numbers.max(initial=-1) + 1 == n_clusters
