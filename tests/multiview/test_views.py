"""Views in, matrices of the present samples out: containers, ids, partial views."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from partita.multiview import read_views

FIRST = np.arange(12, dtype=float).reshape(4, 3)
SECOND = np.arange(8, dtype=float).reshape(4, 2) + 100
PARTIAL = [0, 1, 3]
MASK = np.array([True, True, False, True])


def with_nan(matrix, rows):
    matrix = matrix.copy()
    matrix[rows] = np.nan
    return matrix


def test_a_list_of_complete_views():
    views = read_views([FIRST, sp.csc_array(SECOND)])
    assert views.names == ("view1", "view2")
    assert views.n_samples == 4
    assert views.n_views == 2
    assert views.is_complete
    assert views.sample_ids is None
    assert views.matrices[0] is FIRST
    assert views.matrices[1].format == "csr"
    np.testing.assert_array_equal(views.matrices[1].toarray(), SECOND)


@pytest.mark.parametrize(
    ("second", "present"),
    [
        (with_nan(SECOND, 2), None),
        (np.ma.masked_array(SECOND, ~np.repeat(MASK[:, None], 2, axis=1)), None),
        (SECOND, {"b": MASK}),
        (with_nan(SECOND, 2), {"b": MASK}),
        (SECOND[PARTIAL], {"b": MASK}),
        (SECOND[PARTIAL], {"b": PARTIAL}),
        (SECOND[[3, 0, 1]], {"b": [3, 0, 1]}),
        (SECOND[[3, 0, 1]], [None, [3, 0, 1]]),
        (sp.csr_array(SECOND[PARTIAL]), {"b": PARTIAL}),
        (sp.csr_array(with_nan(SECOND, 2)), None),
    ],
    ids=[
        "nan",
        "masked array",
        "mask",
        "mask and nan",
        "mask of present rows",
        "positions",
        "permuted positions",
        "list",
        "sparse",
        "sparse nan",
    ],
)
def test_every_form_of_a_partial_view_is_the_same(second, present):
    views = read_views({"a": FIRST, "b": second}, present=present)
    np.testing.assert_array_equal(views.present, np.column_stack([np.ones(4, bool), MASK]))
    matrix = views.matrices[1]
    np.testing.assert_array_equal(
        matrix.toarray() if sp.issparse(matrix) else matrix, SECOND[PARTIAL]
    )
    assert not views.is_complete


def test_values_of_a_view_are_expanded_to_all_samples():
    views = read_views([FIRST, SECOND[PARTIAL]], present=[None, PARTIAL])
    np.testing.assert_array_equal(views.expand(1, np.array([7, 8, 9]), -1), [7, 8, -1, 9])


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_data_frames_with_an_id_column(library):
    module = pytest.importorskip(library)
    make = module.table if library == "pyarrow" else module.DataFrame
    first = make({"id": ["p", "q", "r"], "x": [1, 2, 3], "y": [0.5, None, 1.5]})
    second = make({"z": [True, False, True], "id": ["s", "r", "q"]})
    with pytest.raises(ValueError, match=r"'view1': 1 row.s. are NaN in some .* first sample 'q'"):
        read_views([first, second], id_column="id")
    first = make({"id": ["p", "q", "r"], "x": [1, None, 3], "y": [0.5, None, 1.5]})
    views = read_views([first, second], id_column="id")
    assert views.sample_ids.tolist() == ["p", "q", "r", "s"]
    np.testing.assert_array_equal(views.present[:, 0], [True, False, True, False])
    np.testing.assert_array_equal(views.present[:, 1], [False, True, True, True])
    np.testing.assert_array_equal(views.matrices[0], [[1, 0.5], [3, 1.5]])
    np.testing.assert_array_equal(views.matrices[1], [[1], [0], [1]])


def test_the_index_of_pandas_has_the_ids():
    pandas = pytest.importorskip("pandas")
    first = pandas.DataFrame(FIRST, index=list("abcd"))
    second = pandas.DataFrame(SECOND, index=list("dbca")).drop("c")
    views = read_views([first, second])
    assert views.sample_ids.tolist() == list("abcd")
    np.testing.assert_array_equal(views.matrices[1], second.loc[["a", "b", "d"]])
    in_order = read_views([first, second], sample_ids=list("dcba"))
    np.testing.assert_array_equal(in_order.matrices[0], first.loc[list("dcba")])
    with pytest.raises(ValueError, match=r"has 1 sample.s. that sample_ids does not have.*'d'"):
        read_views([first, second], sample_ids=list("abc"))


def test_rows_of_a_frame_with_the_default_index_are_matched_by_it():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(SECOND)
    views = read_views([FIRST, frame[MASK], frame])
    np.testing.assert_array_equal(views.present[:, 1], MASK)
    assert views.sample_ids is None
    with pytest.raises(ValueError, match=r"different numbers of rows .*'view1': 4, 'view2': 3"):
        read_views([FIRST, frame[MASK].reset_index(drop=True)])
    with pytest.raises(ValueError, match="'view2' has ids and view 'view1' has none"):
        read_views([FIRST, frame.set_index(pandas.Index([4, 5, 6, 9]))[MASK]])


def test_a_view_without_ids_beside_complete_views_with_the_same_ids():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(FIRST, index=list("abcd"))
    views = read_views([frame, SECOND[PARTIAL]], present=[None, MASK])
    assert views.sample_ids.tolist() == list("abcd")
    np.testing.assert_array_equal(views.present[:, 1], MASK)
    by_id = read_views([frame, SECOND[[3, 0]]], present=[None, ["d", "a"]])
    np.testing.assert_array_equal(by_id.matrices[1], SECOND[[0, 3]])


def test_layers_of_an_anndata():
    anndata = pytest.importorskip("anndata")
    data = anndata.AnnData(FIRST, layers={"scaled": FIRST / 2}, obsm={"X_pca": SECOND})
    data.obs_names = list("abcd")
    views = read_views(data, layer=["X", "scaled", "X_pca"])
    assert views.names == ("X", "scaled", "X_pca")
    assert views.sample_ids.tolist() == list("abcd")
    np.testing.assert_array_equal(views.matrices[1], FIRST / 2)
    np.testing.assert_array_equal(views.matrices[2], SECOND)
    assert read_views(data).names == ("X",)
    two = read_views({"rna": data, "other": data[[3, 1]]}, layer={"other": "X_pca"})
    np.testing.assert_array_equal(two.matrices[1], SECOND[[1, 3]])
    with pytest.raises(ValueError, match=r"no layer or obsm 'nope'; layers: .'scaled'."):
        read_views([data], layer="nope")
    del data.X
    with pytest.raises(ValueError, match="X of the AnnData is None"):
        read_views([data])


def test_modalities_of_a_mudata():
    anndata = pytest.importorskip("anndata")
    rna, atac = anndata.AnnData(FIRST), anndata.AnnData(SECOND[:2])
    rna.obs_names, atac.obs_names = list("abcd"), list("ea")
    data = SimpleNamespace(mod={"rna": rna, "atac": atac}, obs_names=list("eabcd"))
    views = read_views(data)
    assert views.names == ("rna", "atac")
    assert views.sample_ids.tolist() == list("eabcd")
    np.testing.assert_array_equal(views.present[:, 1], [True, True, False, False, False])


def test_a_sample_in_no_view_is_named():
    with pytest.raises(ValueError, match=r"1 sample.s. are in no view: 2. "):
        read_views([with_nan(FIRST, 2), SECOND], present={"view2": MASK})
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(FIRST, index=list("abcd"))
    with pytest.raises(ValueError, match=r"2 sample.s. are in no view: 'c', 'e'. "):
        read_views([frame], present=[MASK], sample_ids=list("abcde"))
    with pytest.raises(ValueError, match=r"1 sample.s. are in no view: 'c'. "):
        read_views([frame, frame], present=[MASK, MASK])


@pytest.mark.parametrize(
    ("views", "options", "error", "message"),
    [
        (FIRST, {}, TypeError, "Expected a list or dict of views.*got ndarray"),
        ([], {}, ValueError, "at least one view"),
        ([FIRST[0]], {}, ValueError, "'view1' must be a matrix"),
        ([np.empty((3, 0))], {}, ValueError, "no feature"),
        ([FIRST, [["a"]] * 4], {}, ValueError, "'view2': could not convert string to float"),
        ([FIRST + np.inf], {}, ValueError, "contains infinity"),
        ([FIRST, SECOND[:3]], {}, ValueError, "different numbers of rows"),
        ([FIRST], {"present": {"b": MASK}}, ValueError, "present names 'b'; the views are"),
        ([FIRST], {"present": [MASK, MASK]}, ValueError, "present must have 1 entries"),
        ([FIRST], {"present": [[MASK]]}, ValueError, "must be a vector"),
        ([FIRST], {"present": "all"}, TypeError, "list or a dict by view, got 'all'"),
        ([FIRST], {"present": [[0, 1]]}, ValueError, "each of its 4 rows, got 2"),
        ([FIRST], {"present": [[0, 1, 1, 2]]}, ValueError, "has the sample 1 twice"),
        ([FIRST], {"present": [[0, 1, -1, 2]]}, ValueError, "the position -1"),
        ([FIRST], {"present": [MASK[:3]]}, ValueError, "mask of view 'view1' has 3 entries"),
        ([FIRST], {"present": [~MASK & MASK]}, ValueError, "'view1' has no sample"),
        ([FIRST, SECOND], {"present": [None, [0, 1, 2, 7]]}, ValueError, "position 7, .* 4 sam"),
        ([FIRST], {"sample_ids": "abc"}, ValueError, "'view1': 4, 'sample_ids': 3"),
        ([FIRST], {"sample_ids": "abca"}, ValueError, "sample_ids has the sample 'a' twice"),
    ],
)
def test_refused_in_words(views, options, error, message):
    with pytest.raises(error, match=message):
        read_views(views, **options)


def test_refused_data_frames():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": ["p", "q"], "x": [1.0, 2.0]})
    with pytest.raises(ValueError, match=r"column 'id' has type String.*pass it as id_column"):
        read_views([frame])
    with pytest.raises(ValueError, match="has no column id_column='name'; it has"):
        read_views([frame], id_column="name")
    for missing in (None, float("nan")):
        with pytest.raises(ValueError, match="View 'view1' has no id in row 1"):
            read_views([frame.assign(id=["p", missing])], id_column="id")
    other = frame.assign(id=[1, 2])
    with pytest.raises(
        ValueError, match=r"'view1' has no sample in common.*'p', another view has 1"
    ):
        read_views([frame, other], id_column="id")
