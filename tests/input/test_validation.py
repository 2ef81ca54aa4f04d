"""What may be called a label, what is missing, and what is refused in which words."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings

from partita import EAC, Ensemble
from partita._input.checks import check_affinity, check_n_clusters, check_weights, random_generator
from partita._input.coding import encode, encode_with
from partita._input.containers import label_columns
from partita._input.table_coding import code_dtype
from partita.exceptions import InvalidEnsembleError, PartitaWarning
from strategies import label_values

NAN = float("nan")
REST = [0, 1, 1]  # a second partition, so that a missing label leaves no sample without one


def names_and_codes(column, **options):
    """Names of the first partition's clusters, and its codes with -1 for missing."""
    ensemble = Ensemble.from_partitions([column, list(range(len(column)))], **options)
    codes = ensemble.codes[:, 0].astype(int)
    return ensemble.categories[0].tolist(), np.where(
        codes == ensemble.missing_code, -1, codes
    ).tolist()


# -- every kind of label ---------------------------------------------------------------------

KINDS = {
    "integers": (np.array([7, -3, 7]), [-3, 7], [1, 0, 1]),
    "int8 at its ends": (np.array([-128, 127, 0], np.int8), [-128, 0, 127], [0, 2, 1]),
    "int64 at its ends": (np.array([2**63 - 1, -(2**63), 0]), [-(2**63), 0, 2**63 - 1], [2, 0, 1]),
    "uint64 at its end": (
        np.array([2**64 - 1, 2**64 - 2, 0], np.uint64),
        [0, 2**64 - 2, 2**64 - 1],
        [2, 1, 0],
    ),
    "uint64 close together": (
        np.array([2**63 + 5, 2**63 + 7, 2**63 + 5], np.uint64),
        [2**63 + 5, 2**63 + 7],
        [0, 1, 0],
    ),
    "booleans": (np.array([True, False, True]), [False, True], [1, 0, 1]),
    "floats": (np.array([0.5, NAN, 0.25]), [0.25, 0.5], [1, -1, 0]),
    "whole floats": (np.array([2.0, NAN, -1.0]), [2], [0, -1, -1]),
    "float16": (np.array([0.5, NAN, 0.25], np.float16), [0.25, 0.5], [1, -1, 0]),
    "signed zero": (np.array([0.0, -0.0, 1.0]), [0, 1], [0, 0, 1]),
    "strings": (np.array(["b", "a", "-1"]), ["a", "b"], [1, 0, -1]),
    "strings are not trimmed": (np.array([" 1", "1", "1 "]), [" 1", "1", "1 "], [0, 1, 2]),
    "bytes": (np.array([b"b", b"a", b"-1"]), ["a", "b"], [1, 0, -1]),
    "bytes that are no text": (
        np.array([b"\xff", b"\xfe", b"a"], object),
        [
            "a",
            b"\xfe".decode("utf-8", "surrogateescape"),
            b"\xff".decode("utf-8", "surrogateescape"),
        ],
        [2, 1, 0],
    ),
    "objects": (np.array(["b", None, NAN], object), ["b"], [0, -1, -1]),
    "NumPy scalars among objects": (
        np.array([np.int64(3), np.True_, np.float32("nan")], object),
        [True, 3],
        [1, 0, -1],
    ),
    "numbers and text are two things": (np.array([1, "1", "-1"], object), [1, "1"], [0, 1, -1]),
    "numbers before text": (["a", 2, -1], [2, "a"], [1, 0, -1]),
    "one, one and one": ([True, 1, 1.0], [True], [0, 0, 0]),
    "pandas NA and NaT": (np.array([pd.NA, pd.NaT, "x"], object), ["x"], [-1, -1, 0]),
    "masked": (np.ma.masked_array([5, 6, 7], [False, True, False]), [5, 7], [0, -1, 1]),
    "masked infinity": (
        np.ma.masked_array([np.inf, 6, 7], [True, False, False]),
        [6, 7],
        [-1, 0, 1],
    ),
    "masked text": (
        np.ma.masked_array(["x", "y", "z"], [True, False, False]),
        ["y", "z"],
        [-1, 0, 1],
    ),
    "range": (range(3), [0, 1, 2], [0, 1, 2]),
    "generator": ((x for x in "aba"), ["a", "b"], [0, 1, 0]),
    "pandas nullable integers": (pd.Series([4, None, 3], dtype="Int64"), [3, 4], [1, -1, 0]),
    "pandas booleans": (pd.Series([True, None, False], dtype="boolean"), [False, True], [1, -1, 0]),
    "pandas strings": (pd.Series(["b", None, "a"], dtype="string"), ["a", "b"], [1, -1, 0]),
    "pandas objects": (pd.Series(["b", None, 2], dtype=object), [2, "b"], [1, -1, 0]),
    "pandas categories of text": (
        pd.Series(pd.Categorical(["b", None, "a"])),
        ["a", "b"],
        [1, -1, 0],
    ),
    "pandas categories of numbers": (pd.Series(pd.Categorical([4, None, -1])), [4], [0, -1, -1]),
    "pandas floats": (pd.Series([0.5, None, 2]), [0.5, 2.0], [0, -1, 1]),
    "pandas sparse": (pd.Series(pd.arrays.SparseArray([1, 0, 0])), [0, 1], [1, 0, 0]),
    "polars integers": (pl.Series([4, None, 3]), [3, 4], [1, -1, 0]),
    "polars floats": (pl.Series([0.5, None, NAN]), [0.5], [0, -1, -1]),
    "polars strings": (pl.Series(["b", None, "a"]), ["a", "b"], [1, -1, 0]),
    "polars categories": (
        pl.Series(["b", None, "a"], dtype=pl.Categorical),
        ["a", "b"],
        [1, -1, 0],
    ),
    "polars enum": (pl.Series(["b", None, "a"], dtype=pl.Enum(["a", "b"])), ["a", "b"], [1, -1, 0]),
    "polars booleans": (pl.Series([True, None, False]), [False, True], [1, -1, 0]),
}
if hasattr(np.dtypes, "StringDType"):  # NumPy 2
    strings = np.array(["b", None, "a"], np.dtypes.StringDType(na_object=None))
    KINDS["NumPy's variable strings"] = (strings, ["a", "b"], [1, -1, 0])


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_labels(kind):
    column, names, codes = KINDS[kind]
    assert names_and_codes(list(column) if kind == "generator" else column) == (names, codes)


BIG = [2**53, 2**53 + 1, None]


@pytest.mark.parametrize(
    "column",
    [
        BIG,
        [2**53, 2**53 + 1, NAN],
        [2**200, 2**200 + 1, None],
        [2**63, 2**63 + 1, -1],
        [float(2**53), 2**53 + 1, None],
        np.array(BIG, object),
        pd.Series(BIG, dtype="Int64"),
        pl.Series(BIG, dtype=pl.Int64),
        pl.Series([2**64 - 1, 2**64 - 2, None], dtype=pl.UInt64),
        pd.Series([2**64 - 1, 2**64 - 2, None], dtype="UInt64"),
        pd.Series(pd.Categorical(BIG)),
    ],
    ids=str,
)
def test_large_labels_are_never_merged(column):
    names, codes = names_and_codes(column)
    assert len(set(names)) == 2
    assert sorted(codes) == [-1, 0, 1]


@pytest.mark.filterwarnings("ignore:.*samples have different labels")
@pytest.mark.filterwarnings("ignore:.*text is always a label")
@settings(max_examples=150, deadline=None)
@given(label_values())
@example(["NaN"])
def test_codes_are_pythons_own_idea_of_equality(values):
    names, codes = names_and_codes(values, noise="cluster")
    assert len(names) == len(set(values))
    assert [names[code] for code in codes] == values


@pytest.mark.filterwarnings("ignore:.*text is always a label")
@settings(max_examples=60, deadline=None)
@given(label_values())
@example(["NaN"])
def test_containers_agree(values):
    reference = names_and_codes(values, noise="cluster")
    objects = np.fromiter(values, object, len(values))
    assert names_and_codes(objects, noise="cluster") == reference
    assert names_and_codes(pd.Series(objects, dtype=object), noise="cluster") == reference


def test_text_that_reads_like_missing_is_a_label_and_says_so():
    with pytest.warns(PartitaWarning, match="cluster named 'nan'"):
        names, _ = names_and_codes(np.array(["a", NAN, "b"]))  # NumPy writes NaN as "nan" here
    assert names == ["a", "b", "nan"]


@pytest.mark.parametrize("noise", ["missing", "cluster", "singletons"])
@pytest.mark.parametrize("minus_one", [-1, -1.0, "-1", b"-1"])
def test_noise(noise, minus_one):
    names, codes = names_and_codes([3, minus_one, minus_one, None], noise=noise)
    expected = {
        "missing": ([3], [0, -1, -1, -1]),
        "singletons": ([3, None, None], [0, 1, 2, -1]),
    }
    if noise == "cluster":
        assert len(names) == 2
        assert codes[1] == codes[2] != codes[0]
        assert codes[3] == -1
    else:
        assert (names, codes) == expected[noise]


def test_a_sample_of_its_own_has_no_name_that_a_label_could_have():
    ensemble = Ensemble.from_partitions(np.array([["noise:0"], ["-1"]], object), noise="singletons")
    codes, unknown = ensemble.encode([["noise:0", "noise:1", "-1"]])
    assert codes[0, 0] == 0
    assert np.all(codes[1:, 0] == ensemble.missing_code)
    assert unknown == 1


# -- containers ------------------------------------------------------------------------------


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_frames(library):
    frame = library.DataFrame({"first": [1, 2, 1], "second": ["a", None, "a"]})
    columns, names = label_columns(frame)
    assert names == ["first", "second"]
    table, categories = encode(columns, names, "missing")
    assert table.tolist() == [[0, 0], [1, 255], [0, 0]]
    assert [c.tolist() for c in categories] == [[1, 2], ["a"]]


def test_frame_without_names_of_its_own():
    labels = np.array([[0, 1], [0, 2], [1, 2]])
    plain = Ensemble.from_partitions(labels)
    framed = Ensemble.from_partitions(pd.DataFrame(labels))
    np.testing.assert_array_equal(plain.codes, framed.codes)
    assert framed.partition_names.tolist() == ["0", "1"]
    np.testing.assert_array_equal(
        EAC(2).fit_predict(labels), EAC(2).fit_predict(pd.DataFrame(labels))
    )


def test_arrow_tables():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"a": pa.array([2**53, 2**53 + 1, None]), "b": pa.array(["x", "x", "y"])})
    ensemble = Ensemble.from_partitions(table)
    assert ensemble.codes.tolist() == [[0, 0], [1, 0], [255, 1]]


LAYOUTS = {
    "fortran": np.asfortranarray,
    "strided": lambda a: np.repeat(np.repeat(a, 2, axis=0), 3, axis=1)[::2, ::3],
    "reversed twice": lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
    "big endian": lambda a: a.astype(">i4"),
    "matrix": lambda a: a.view(np.matrix),
}


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout):
    labels = np.random.default_rng(0).integers(0, 4, (30, 5))
    expected = Ensemble.from_partitions(labels).codes
    np.testing.assert_array_equal(Ensemble.from_partitions(LAYOUTS[layout](labels)).codes, expected)


def test_memory_map_and_read_only(tmp_path):
    labels = np.random.default_rng(0).integers(0, 4, (30, 5))
    np.save(tmp_path / "labels.npy", labels)
    mapped = np.load(tmp_path / "labels.npy", mmap_mode="r")
    np.testing.assert_array_equal(
        Ensemble.from_partitions(mapped).codes, Ensemble.from_partitions(labels).codes
    )


# -- storage ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_clusters", "dtype"),
    [
        (1, np.uint8),
        (255, np.uint8),
        (256, np.uint16),
        (65_535, np.uint16),
        (65_536, np.uint32),
    ],
)
def test_narrowest_type_that_leaves_room_for_missing(n_clusters, dtype):
    assert code_dtype(n_clusters) is dtype
    column = np.arange(n_clusters + 1)
    column[-1] = -1
    narrow = np.zeros(n_clusters + 1, int)
    narrow[0] = -1
    ensemble = Ensemble.from_partitions([column, narrow])
    assert ensemble.codes.dtype == dtype
    assert ensemble.n_clusters.tolist() == [n_clusters, 1]
    assert np.flatnonzero(ensemble.codes[:, 0] == ensemble.missing_code).tolist() == [n_clusters]
    assert np.flatnonzero(ensemble.codes[:, 1] == ensemble.missing_code).tolist() == [0]
    np.testing.assert_array_equal(ensemble.codes[:-1, 0], np.arange(n_clusters))


def test_more_clusters_than_can_be_numbered():
    with pytest.raises(InvalidEnsembleError, match="32-bit codes"):
        code_dtype(2**32)


# -- what is refused -------------------------------------------------------------------------

REFUSED = {
    "empty list": ([], "at least one partition"),
    "empty vector": ([[]], "at least one sample|of 0 samples"),
    "no rows": (np.empty((0, 3)), r"0 sample\(s\)"),
    "no columns": (np.empty((3, 0)), r"0 feature\(s\)"),
    "empty frame": (pd.DataFrame(), "at least one partition"),
    "one-dimensional": (np.arange(3), "Expected 2D array.*reshape"),
    "series": (pd.Series([1, 2]), "Expected 2D array"),
    "three-dimensional": (np.zeros((2, 2, 2)), "Expected 2D array"),
    "a number": (3, "Expected 2D array"),
    "None": (None, "Expected 2D array"),
    "text": ("labels.csv", "type str. Read a file first: `partita.io.read_labels"),
    "path": (Path("labels.csv"), "Read a file first"),
    "a dictionary": ({"a": [1]}, "type dict. Pass `list"),
    "ragged": ([[1, 2], [1]], "equal length, got 2 labels in vector 0 and 1 in vector 1"),
    "list of numbers": ([1, 2], "type int as vector 0"),
    "list of words": (["ab", "cd"], "type str as vector 0"),
    "list with None": ([[1, 2], None], "type NoneType as vector 1"),
    "a set has no order": ([{1, 2}, [1, 2]], "type set as vector 0"),
    "list of matrices": ([np.zeros((2, 2))], "2 dimensions in vector 0|in row 0 of matrix 0"),
    "sample without any label": ([[1, None], [2, NAN]], "1 sample.*row 1.*unlabeled"),
    "column without any label": (np.array([[-1, 0], [-1, 1]]), "Partition '0' labels no sample"),
    "named column without any label": (
        pd.DataFrame({"a": [1, 2], "b": [NAN, NAN]}),
        "Partition 'b' labels no sample",
    ),
    "infinity": (np.array([[np.inf], [1]]), "infinity"),
    "minus infinity": (np.array([[-np.inf], [1]]), "infinity"),
    "infinity among objects": (np.array([[np.inf], ["a"]], object), "infinity"),
    "complex": (np.zeros((2, 2), complex), "Complex data not supported"),
    "dates": (np.zeros((2, 2), "M8[s]"), "labels of type datetime64"),
    "records": (np.zeros((2, 2), [("a", int)]), "expected integers, floats, strings or None"),
    "sparse": (sp.csr_matrix(np.eye(3)), "dense label matrix"),
    "lazy": (pl.DataFrame({"a": [1]}).lazy(), "lazy.*collect"),
    "two columns of one name": (
        pd.DataFrame([[1, 2], [1, 3]], columns=["a", "a"]),
        "(?s)unique column names.*Rename",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_a_sentence(case):
    labels, words = REFUSED[case]
    with pytest.raises(InvalidEnsembleError, match=words):
        Ensemble.from_partitions(labels)
    with pytest.raises(ValueError, match=words):
        EAC(2).fit(labels)


@pytest.mark.parametrize(
    "value",
    [object(), (1, 2), [1, 2], Decimal(1), pd.Timestamp("2024-01-01"), 1j],
    ids=lambda v: type(v).__name__,
)
def test_labels_of_another_type(value):
    with pytest.raises(TypeError, match="Partition '0': argument must be a string or a number"):
        Ensemble.from_partitions([[value, 1], [1, 2]])


def test_nested_columns_are_not_missing_labels():
    with pytest.raises(TypeError, match="Partition 'a': argument must be a string or a number"):
        Ensemble.from_partitions(pl.DataFrame({"a": [[1], [2]], "b": [1, 2]}))


OPTIONS = {
    "noise": ({"noise": "drop"}, ValueError, "noise must be one of"),
    "unlabeled": ({"unlabeled": "drop"}, ValueError, "unlabeled must be"),
    "too few weights": ({"weights": [1, 2]}, InvalidEnsembleError, r"shape \(3,\), got \(2,\)"),
    "matrix of weights": ({"weights": np.ones((3, 1))}, InvalidEnsembleError, "shape"),
    "weight of zero": ({"weights": [1, 0, 1]}, InvalidEnsembleError, "positive and finite"),
    "negative weight": ({"weights": [1, -1, 1]}, InvalidEnsembleError, "positive and finite"),
    "weight NaN": ({"weights": [1, NAN, 1]}, InvalidEnsembleError, "positive and finite"),
    "infinite weight": ({"weights": [1, np.inf, 1]}, InvalidEnsembleError, "positive and finite"),
    "subnormal weight": ({"weights": [1, 1e-310, 1]}, InvalidEnsembleError, "1e-310 at index 1"),
    "huge weight": (
        {"weights": [1, 2, 1e300]},
        InvalidEnsembleError,
        "1e-12 and 1e.12, got 1e.300",
    ),
    "weights in words": ({"weights": ["a", "b", "c"]}, InvalidEnsembleError, "must be numbers"),
    "complex weights": ({"weights": [1j, 1, 1]}, InvalidEnsembleError, "must be numbers"),
    "too few ids": ({"sample_ids": ["a"]}, InvalidEnsembleError, r"sample_ids.*\(3,\)"),
    "too many names": (
        {"partition_names": list("abc")},
        InvalidEnsembleError,
        "name 2 partitions",
    ),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_refused_options(case):
    options, error, words = OPTIONS[case]
    with pytest.raises(error, match=words):
        Ensemble.from_partitions([[0, 1, 1], REST], **options)


# -- numbers ---------------------------------------------------------------------------------


def test_weights():
    np.testing.assert_array_equal(check_weights(None, 3, "weights"), np.ones(3))
    assert check_weights([1, 2], 2, "weights").dtype == np.float64


@pytest.mark.parametrize("wrong", [0, -1, 4])
def test_number_of_clusters(wrong):
    assert check_n_clusters(np.int32(3), 3) == 3
    with pytest.raises(ValueError, match=f"n_clusters={wrong} must be between 1 and.*n_samples=3"):
        check_n_clusters(wrong, 3)
    with pytest.raises(ValueError, match="n_clusters"):
        EAC(wrong).fit(np.array([[0], [1], [1]]))


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (np.ones((2, 3)), r"shape \(2, 2\)"),
        (np.array([[1, NAN], [NAN, 1]]), "NaN or infinity"),
        (np.array([[1, 0.5], [0.2, 1]]), "symmetric"),
    ],
)
def test_affinity(matrix, words):
    with pytest.raises(ValueError, match=words):
        check_affinity(matrix, 2)


def test_random_generators():
    draw = [random_generator(seed).integers(2**40) for seed in (3, np.random.default_rng(3))]
    assert draw[0] == draw[1]
    old = [random_generator(np.random.RandomState(3)).integers(2**40) for _ in range(2)]
    assert old[0] == old[1]
    assert random_generator(None).integers(2**40) != random_generator(None).integers(2**40)


def test_new_rows_by_old_names():
    columns, _ = label_columns([["b", "a", "c"], [2**53, 2**53 + 1, 0]])
    _, categories = encode(columns, None, "missing")
    new, _ = label_columns([["c", "z", None, "-1"], [2**53 + 1, 5, 0, -1]])
    codes, unknown = encode_with(new, categories, "missing")
    assert codes.tolist() == [[2, 2], [-1, -1], [-1, 0], [-1, -1]]
    assert unknown == 2


def test_features_are_called_features():
    X = np.round(np.random.default_rng(0).normal(size=(30, 5)), 1)
    with pytest.warns(PartitaWarning, match=r"Partitions '0', '1', '2' and 2 more.*features"):
        Ensemble.from_partitions(X)


def test_a_column_of_names_is_called_one():
    labels = {"cell": [f"c{i}" for i in range(12)], "first": [0, 1] * 6, "second": [0, 0, 1] * 4}
    with pytest.warns(PartitaWarning, match=r"Partition 'cell'.*id_column"):
        Ensemble.from_partitions(pd.DataFrame(labels))
    numbers = np.column_stack([np.arange(12), labels["first"]])
    with pytest.warns(PartitaWarning, match="Partition '0'.*12 samples"):
        Ensemble.from_partitions(numbers)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([[0.0, 1.0], [np.nan, 2.0]] * 10),  # whole numbers, in a type that knows NaN
        np.array([[0.5, 1.5], [2.5, 0.5]]),  # too few to tell
        np.array([[2.0**60], [2.0**61]] * 10),
        np.arange(9)[:, None],
        np.full((20, 2), 1),
    ],
)
def test_no_warning_about_labels(labels, recwarn):
    Ensemble.from_partitions(labels)
    assert not recwarn.list


def test_no_warning_where_noise_is_asked_to_be_alone(recwarn):
    Ensemble.from_partitions(np.full((20, 1), -1), noise="singletons")
    assert not recwarn.list


def test_rows_in_a_list_of_lists_are_suspicious():
    rows = [[0, 1, 1]] * 6 + [[1, 0, 0]] * 6
    with pytest.warns(PartitaWarning, match=r"12 partitions of 3 samples.*numpy\.array"):
        assert Ensemble.from_partitions(rows).n_partitions == 12
    assert Ensemble.from_partitions(np.array(rows)).n_partitions == 3
    vectors = [np.array(row) for row in rows]
    assert Ensemble.from_partitions(vectors).n_partitions == 12


@pytest.mark.parametrize(
    "rows",
    [
        [[0, 5], [0, 5], [1, 6], [1, 6], [1, 6]],  # five samples of two partitions
        [["a", 1, 7], ["a", 1, 7], ["b", 2, 8]],  # text and numbers in every list
    ],
    ids=["long", "mixed"],
)
def test_lists_that_look_like_samples_are_not_transposed_in_silence(rows) -> None:
    with pytest.warns(PartitaWarning, match="each inner list is a partition"):
        ensemble = Ensemble.from_partitions(rows)
    assert ensemble.n_partitions == len(rows)
    assert Ensemble.from_partitions([np.asarray(row, object) for row in rows]).n_partitions == len(
        rows
    )  # no warning


def test_lists_of_partitions_pass_without_a_warning() -> None:
    lists = [["a", "a", "b", "b"], [1, 1, 2, None], [0, 0, 0, 1]]
    assert Ensemble.from_partitions(lists).n_partitions == 3
    mixed = [["a", 1, 1], ["b", "b", 2]]  # one partition may mix them
    assert Ensemble.from_partitions(mixed).n_partitions == 2


def test_series_of_the_same_samples_in_another_order_are_no_partitions():
    """Their positions would be other samples, without a word."""
    named = pd.Series([0, 0, 1], index=["a", "b", "c"])
    numbered = pd.Series([5, 6, 6])
    for first, second in [
        (named, named[::-1]),
        (named, named.set_axis(["a", "b", "d"])),
        (numbered, numbered[::-1]),
        (numbered.set_axis([0, 1, 5]), numbered.set_axis([0, 2, 5])),
    ]:
        with pytest.raises(InvalidEnsembleError, match=r"vector \d with another index than vector"):
            Ensemble.from_partitions([first, second])
        with pytest.raises(InvalidEnsembleError, match=r"vector \d with another index than vector"):
            Ensemble.from_partitions([numbered, [1, 2, 2], first, second])
    for first, second in [
        (named, named + 1),
        (named, numbered),  # the order is all that the second has
        (numbered.set_axis([3, 5, 9]), numbered),
        (named, np.array([0, 1, 1])),
        (pl.Series([0, 0, 1]), named),
    ]:
        assert Ensemble.from_partitions([first, second]).n_partitions == 2


@pytest.mark.parametrize("partitions", [{"a": [0, 1], "b": [1, 1]}, {0, 1}, None, 3, "abc"])
def test_what_is_no_table_is_named(partitions):
    with pytest.raises(InvalidEnsembleError, match=f"of type {type(partitions).__name__}"):
        Ensemble.from_partitions(partitions)
