"""Codes, messages and warnings of labels at the ends of what each rule covers."""

from __future__ import annotations

import warnings

import narwhals.stable.v1 as nw
import numpy as np
import polars as pl
import pytest

from partita._input.coding import _pack, encode, encode_with, warn_of_other_columns
from partita._input.columns import (
    _unique,
    distinct_labels,
    match_columns,
    name_array,
    read_column,
)
from partita._input.containers import LabelTable, _series_values, label_columns
from partita._input.label_vector import code_labels
from partita._input.table_coding import code_dtype, encode_table
from partita.exceptions import InvalidEnsembleError, PartitaWarning


def warned(categories, names, n_samples):
    """Return the warnings about columns that are no labels."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_other_columns(categories, names, n_samples)
    assert all(issubclass(one.category, PartitaWarning) for one in caught)
    return [str(one.message) for one in caught]


HALF, WHOLE = np.array([0.5, 1.0]), np.array([1.0, 2.0])


def test_ten_samples_are_enough_for_a_warning():
    ids = np.arange(10)
    assert warned([HALF, ids[:9]], None, 9) == []
    (message,) = warned([WHOLE, ids], None, 10)
    assert message.startswith("Partition '1': all 10 samples have different labels.")
    (message,) = warned([HALF, ids[:9]], None, 10)
    assert message.startswith("Partition '0': numbers with decimals look like features")


def test_a_column_is_warned_of_once():
    (message,) = warned([np.arange(10) / 4], ["x"], 10)
    assert message.startswith("Partition 'x': numbers with decimals")


@pytest.mark.parametrize(
    ("n", "words"),
    [
        (1, "Partition 'a': "),
        (2, "Partitions 'a', 'b': "),
        (3, "Partitions 'a', 'b', 'c': "),
        (4, "Partitions 'a', 'b', 'c' and 1 more: "),
        (6, "Partitions 'a', 'b', 'c' and 3 more: "),
    ],
)
def test_names_in_a_warning(n, words):
    (message,) = warned([HALF] * n, list("abcdef"[:n]), 10)
    assert message.startswith(words)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ([], "got 0 partitions of 0 samples"),
        ([np.empty(0, int)] * 2, "got 2 partitions of 0 samples"),
    ],
)
def test_the_message_counts_partitions_and_samples(columns, words):
    with pytest.raises(InvalidEnsembleError, match=words):
        encode(columns, None, "missing")


@pytest.mark.parametrize("columns", [[np.array([0, 1])], LabelTable(np.array([[0], [1]]))])
def test_an_unknown_meaning_of_noise(columns):
    with pytest.raises(ValueError, match=r"noise must be one of .*, got 'none'"):
        encode(columns, None, "none")
    with pytest.raises(ValueError, match="noise must be one of"):
        encode_with([np.array([0])], [np.array([0])], "none")


def test_names_and_columns_must_be_as_many():
    with pytest.raises(ValueError, match="zip"):
        encode([np.array([0.5, 1]), np.array(["a", "b"])], ["one"], "missing")


def test_missing_codes_of_columns_of_several_types():
    coded = [np.array([0, 255, 3], np.uint8), np.array([65535, 255, 1], np.uint16)]
    table = _pack(coded)
    assert table.dtype == np.uint16
    assert table.tolist() == [[0, 65535], [65535, 255], [3, 1]]


@pytest.mark.parametrize("noise", ["missing", "cluster", "singletons"])
def test_new_rows_and_noise(noise):
    """A label that the ensemble does not have is counted; a missing one is not."""
    categories = [np.array([-1, 4]) if noise == "cluster" else np.array([4])]
    column = np.ma.masked_array([4, -1, 9, 4], [False, False, False, True])
    codes, n_unknown = encode_with([column], categories, noise)
    code_of_4, code_of_noise = (1, 0) if noise == "cluster" else (0, -1)
    assert codes[:, 0].tolist() == [code_of_4, code_of_noise, -1, -1]
    assert codes.dtype == np.int64
    assert n_unknown == 1


@pytest.mark.parametrize(("column", "n_unknown"), [([1, 4, 4], 1), ([1, 2, 4], 2), ([4, 9], 1)])
def test_unknown_labels_before_and_after_those_of_the_ensemble(column, n_unknown):
    assert encode_with([np.array(column)], [np.array([4])], "missing")[1] == n_unknown


def test_patterns_leave_out_earlier_results():
    names = ["a", "a_confidence", "a_margin", "a_runner_up", "b", "a_other"]
    assert match_columns(names, "a*") == ["a_other"]
    assert match_columns(names, "a") == ["a"]
    assert match_columns(names, "a_margin") == ["a_margin"]
    assert match_columns(names, "*") == ["b", "a_other"]
    assert match_columns(["a", "a_margin"], "*") == ["a", "a_margin"]
    assert match_columns(names, "A*") == []


@pytest.mark.parametrize("value", [2**53 - 1, 2**53, 2**53 + 2, 0.5])
def test_whole_floats_are_integers_where_floats_count_by_one(value):
    codes, labels = _unique(np.array([value, -1.0, value]))
    assert labels.dtype.kind == ("i" if value == 2**53 - 1 else "f")
    assert labels.tolist() == [-1, value]
    assert codes.tolist() == [1, 0, 1]
    assert _unique(np.array([-float(2**53), 0.0]))[1].dtype.kind == "f"


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64, np.float32, bool])
def test_codes_count_from_the_smallest_label(dtype):
    for values in ([1, 0, 1, 1], [0, 1, 0], [1]):
        codes, labels = _unique(np.array(values, dtype))
        assert codes.dtype == np.int64
        assert labels[codes].tolist() == values
        assert labels.tolist() == sorted(set(values))
    codes, labels = _unique(np.empty(0, dtype))
    assert (len(codes), len(labels)) == (0, 0)


@pytest.mark.parametrize("far", [1023, 1024 + 8 * 2, 10**6, 2**62])
def test_labels_far_apart(far):
    codes, labels = _unique(np.array([far, -5]))
    assert (codes.tolist(), labels.tolist()) == ([1, 0], [-5, far])


def test_floats_of_more_than_eight_bytes_are_refused():
    if np.dtype(np.longdouble).itemsize <= 8:
        pytest.skip("this system has no wider floats")
    with pytest.raises(InvalidEnsembleError, match=r"partition 'x' has labels of type"):
        read_column(np.array([1, 2], np.longdouble), "x")


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2], "i"),
        ([2**63 - 1], "i"),
        ([-(2**63) + 1, 3], "i"),
        ([2**63], "O"),
        ([-(2**63) - 1], "O"),
        ([0.5, 1.0], "f"),
        ([True, False], "b"),
        ([1, 0.5], "O"),
        ([True, 2], "O"),
        (["a", "b"], "O"),
        ([], "O"),
    ],
)
def test_names_are_an_array_of_their_type(values, kind):
    array = name_array(values)
    assert array.dtype.kind == kind
    assert array.tolist() == values


def test_warning_of_text_that_reads_like_missing_names_one_of_them():
    with pytest.warns(PartitaWarning, match=r"^Partition 'x' has a cluster named 'NaN'"):
        codes, labels = read_column(np.array(["nan", "b", "NaN", None], object), "x")
    assert codes.tolist() == [2, 1, 0, -1]
    assert labels.tolist() == ["NaN", "b", "nan"]


@pytest.mark.parametrize(
    ("n", "dtype"),
    [
        (255, np.uint8),
        (256, np.uint16),
        (65_535, np.uint16),
        (65_536, np.uint32),
        (2**32 - 1, np.uint32),
    ],
)
def test_the_largest_code_is_kept_for_missing_labels(n, dtype):
    assert code_dtype(n) is dtype


def test_more_clusters_than_codes():
    with pytest.raises(InvalidEnsembleError, match=f"has {2**32} clusters"):
        code_dtype(2**32)


@pytest.mark.parametrize("noise", ["missing", "cluster"])
@pytest.mark.parametrize(
    ("shift", "dtype"),
    [(shift, np.int32) for shift in (-300, -256, -255, -2, -1, 0, 1, 254, 255, 256, 65_535)]
    + [(shift, np.uint32) for shift in (0, 1, 254, 255, 256, 65_535)],
)
def test_tables_at_every_place(noise, shift, dtype):
    """Coded at once or left to the columns, the codes are the same."""
    span = 255 if shift == 1 else 3
    table = (np.arange(2 * span).reshape(-1, 1) % span + shift).astype(dtype)
    table = np.c_[table, table[::-1]]
    expected, labels = encode([*table.T], None, noise)
    at_once = encode_table(table, noise)
    assert at_once is not None
    np.testing.assert_array_equal(at_once[0], expected)
    for one, other in zip(at_once[1], labels, strict=True):
        assert one.tolist() == other.tolist()
    codes, categories = encode(LabelTable(table), None, noise)
    assert codes.dtype == expected.dtype
    np.testing.assert_array_equal(codes, expected)
    assert [c.tolist() for c in categories] == [c.tolist() for c in labels]


def test_a_range_that_is_too_wide_for_a_table():
    assert encode_table(np.array([[0], [65_535]]), "missing") is not None
    assert encode_table(np.array([[0], [65_536]]), "missing") is None


def test_noise_of_their_own_is_left_to_the_columns_only_if_there_is_noise():
    assert encode_table(np.array([[0, 5], [1, 5]]), "singletons") is not None
    assert encode_table(np.array([[0, 5], [1, -1]]), "singletons") is None
    assert encode_table(np.array([[-7, 0], [-2, 1]]), "singletons") is not None
    assert encode_table(np.array([[400, 0], [-1, 1]]), "singletons") is None


@pytest.mark.parametrize(
    "labels",
    [
        np.array([0, 2, 2]),  # 1 does not occur
        np.array([1, 1, 2]),
        np.array([0, -2, 1]),
        np.array([0, 1, 5]),
        np.array([-1, -1, 3]),
        np.array([0, 1], np.uint8),
        np.array([0.0, 1.0]),
    ],
)
def test_vectors_that_are_not_coded_yet(labels):
    codes, categories = code_labels(labels, noise="cluster")
    assert codes is not labels
    assert categories[codes].tolist() == labels.tolist()


@pytest.mark.parametrize(("noise", "is_kept"), [("missing", True), ("cluster", False)])
def test_a_coded_vector_with_noise(noise, is_kept):
    labels = np.array([1, -1, 0])
    codes, categories = code_labels(labels, 3, noise=noise)
    assert (codes is labels) == is_kept
    assert codes.tolist() == ([1, -1, 0] if is_kept else [2, 0, 1])
    assert categories.tolist() == ([0, 1] if is_kept else [-1, 0, 1])
    with pytest.raises(InvalidEnsembleError, match="labels no sample"):
        code_labels(np.array([-1, -1]))


def test_many_lists_are_suspicious_only_if_they_are_more_than_the_samples():
    def is_suspicious(lists):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            label_columns(lists)
        return bool(caught)

    assert is_suspicious([[0, 1]] * 5)
    assert is_suspicious([(0, 1)] * 5)
    assert not is_suspicious([[0, 1]] * 4)
    assert not is_suspicious([[0, 1, 0, 1, 0]] * 5)
    assert not is_suspicious([[0, 1]] * 4 + [np.array([0, 1])])
    assert is_suspicious([["a", 1], ["b", 2]])
    assert is_suspicious([["a", 1, None], ["b", 2, None]])
    assert not is_suspicious([["a", 1]])
    assert not is_suspicious([["a", 1], [2, "b"]])
    assert not is_suspicious([["a", 1], [2, 2]])
    assert not is_suspicious([["a", "b"], [1, 2]])
    assert not is_suspicious([["a", "b"], ["c", "d"]])


def test_as_many_columns_as_names_and_categories():
    one = np.arange(10)
    with pytest.raises(ValueError, match="zip"):
        encode_with([one, one], [one], "missing")
    with pytest.raises(ValueError, match="zip"):
        warn_of_other_columns([one, one], ["a"], 10)
    with pytest.raises(ValueError, match="zip"):
        warn_of_other_columns([HALF, HALF], ["a"], 10)


def test_a_table_passes_through():
    table = LabelTable(np.array([[0], [1]]))
    assert label_columns(table) == (table, None)


@pytest.mark.parametrize("name", ["obs", "obsm"])
def test_not_everything_with_observations_is_annotated_data(name):
    with pytest.raises(InvalidEnsembleError, match="Expected 2D array"):
        label_columns(type("Other", (), {name: None})())


def test_columns_of_frames_keep_their_integers():
    integers = _series_values(nw.from_native(pl.Series([4, None, 3]), series_only=True))
    assert (integers.dtype, integers.tolist()) == (np.int64, [4, None, 3])
    booleans = _series_values(nw.from_native(pl.Series([True, None]), series_only=True))
    assert (booleans.dtype, booleans.tolist()) == (bool, [True, None])
    floats = _series_values(nw.from_native(pl.Series([0.5, 2.0]), series_only=True))
    assert (floats.dtype, floats.tolist()) == (np.float64, [0.5, 2.0])
    wide = pl.Series([2**100, None], dtype=pl.Int128)
    values = _series_values(nw.from_native(wide, series_only=True))
    assert (values.dtype, values.tolist()) == (object, [2**100, None])


def test_vectors_that_only_numpy_can_read():
    class Vector:
        def __array__(self, dtype=None, copy=None):
            return np.array([3, 1, 3])

    columns, names = label_columns([Vector(), np.array([0, 1, 1])])
    assert [column.tolist() for column in columns] == [[3, 1, 3], [0, 1, 1]]
    assert names is None


@pytest.mark.parametrize("noise", ["missing", "cluster"])
@pytest.mark.parametrize("labels", [[1, 0], [0], [0, 0, 0], [2, 0, 1]])
def test_coded_vectors_are_returned_as_they_are(labels, noise):
    vector = np.array(labels)
    codes, categories = code_labels(vector, noise=noise)
    assert codes is vector
    assert categories.tolist() == list(range(max(labels) + 1))


def test_an_empty_vector_is_refused():
    with pytest.raises(InvalidEnsembleError, match="1 partitions of 0 samples"):
        code_labels(np.empty(0, np.int64))


def test_lists_of_other_lengths_are_never_transposed():
    with pytest.raises(InvalidEnsembleError, match="equal length, got 2 labels in vector 0 and 3"):
        label_columns([["a", 1], ["b", 2, 3]])
    with pytest.warns(PartitaWarning, match="5 partitions of 1 samples"):
        label_columns([[0]] * 5)


def test_distinct_labels():
    assert distinct_labels(np.array([3.0, -1.0, np.nan, 3.0]), "x") == [-1, 3]


@pytest.mark.parametrize("first", [0, 300])
@pytest.mark.parametrize("span", [255, 256, 257, 4097])
def test_tables_with_as_many_labels_as_places_are_numbered(first, span):
    """256 places fit in a byte; 4,096 rows are a block."""
    column = np.arange(span) + first
    codes, labels = encode_table(column[:, None], "cluster")
    assert codes[:, 0].tolist() == list(range(span))
    assert labels[0].tolist() == column.tolist()
