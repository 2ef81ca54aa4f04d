"""The frozen table of partitions: making one, reducing it, taking it apart, disk."""

from __future__ import annotations

import copy
import json
import pickle

import anndata
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from partita import EAC, SEC, Ensemble
from partita.datasets import make_partitions
from partita.ensemble import LabelLayout, as_ensemble
from partita.exceptions import InvalidEnsembleError
from strategies import label_tables, label_values, weights_of

NAN = float("nan")


def original(ensemble):
    """The label of every row in every partition, None where there is none."""
    return [
        [
            None if code == ensemble.missing_code else ensemble.categories[i].tolist()[code]
            for i, code in enumerate(row)
        ]
        for row in ensemble.codes
    ]


# -- making one ------------------------------------------------------------------------------


def test_shape_and_words():
    ensemble = Ensemble.from_partitions(np.array([[0, 5, 7], [1, 5, -1], [2, 5, 8]]))
    assert (len(ensemble), ensemble.n_rows, ensemble.n_partitions) == (3, 3, 3)
    assert ensemble.n_clusters.tolist() == [3, 1, 2]
    assert ensemble.offsets.tolist() == [0, 3, 4, 6]
    assert ensemble.n_base_clusters == 6
    assert ensemble.n_missing == 1
    assert ensemble.observed.tolist() == [[True] * 3, [True, True, False], [True] * 3]
    assert repr(ensemble) == (
        "Ensemble(3 samples, 3 partitions, 1 to 3 clusters each, 1 label missing)"
    )


def test_a_matrix_a_list_of_vectors_and_a_frame_are_one_ensemble():
    labels = make_partitions(20, 4, missing_ratio=0.2)[0]
    frame = pd.DataFrame(labels, columns=list("abcd"))
    made = [
        Ensemble.from_partitions(labels),
        Ensemble.from_partitions(tuple(labels.T)),
        Ensemble.from_partitions(column for column in labels.T),
        Ensemble.from_frame(frame),
        Ensemble.from_frame(pl.from_dict({c: frame[c].to_numpy() for c in frame})),
    ]
    for ensemble in made[1:]:
        np.testing.assert_array_equal(ensemble.codes, made[0].codes)
        assert original(ensemble) == original(made[0])


def test_one_sample_one_partition():
    ensemble = Ensemble.from_partitions(np.array([["only"]]))
    core = ensemble.compress()
    assert core.n_rows == 1
    assert EAC(1).fit_predict(ensemble).tolist() == [0]


def test_unlabeled_samples_can_be_kept():
    labels = np.array([[-1, -1], [0, 1], [-1, 1]])
    ensemble = Ensemble.from_partitions(labels, unlabeled="keep")
    core = ensemble.compress()
    assert core.n_samples == 3
    assert core.n_rows == 2
    assert core.inverse[0] == -1
    assert core.weights.sum() == 2
    with pytest.raises(InvalidEnsembleError, match="labels no sample"):
        Ensemble.from_partitions(np.full((2, 2), -1), unlabeled="keep")


FRAMES = {
    "pandas": lambda data: pd.DataFrame(data),
    "polars": lambda data: pl.DataFrame(data),
}


@pytest.mark.parametrize("library", FRAMES)
def test_columns_and_ids_of_a_frame(library):
    frame = FRAMES[library](
        {"cell": ["x", "y", "z"], "leiden_1": [0, 1, 1], "leiden_2": [0, 0, 1], "batch": [1, 2, 3]}
    )
    ensemble = Ensemble.from_frame(frame, id_column="cell", columns="leiden_*")
    assert ensemble.sample_ids.tolist() == ["x", "y", "z"]
    assert ensemble.partition_names.tolist() == ["leiden_1", "leiden_2"]
    chosen = Ensemble.from_frame(frame, columns=["batch", "leiden_1"])
    assert chosen.partition_names.tolist() == ["batch", "leiden_1"]
    assert chosen.n_clusters.tolist() == [3, 2]
    everything = Ensemble.from_frame(frame, id_column="cell")
    assert everything.n_partitions == 3
    for wrong in ({"columns": "louvain_*"}, {"columns": ["nope"]}, {"id_column": "nope"}):
        with pytest.raises(InvalidEnsembleError, match="No such column"):
            Ensemble.from_frame(frame, **wrong)


def test_ids_of_a_pandas_index_and_columns_named_by_numbers():
    frame = pd.DataFrame([[1, 2], [1, 3]], index=["s1", "s2"])
    ensemble = Ensemble.from_frame(frame)
    assert ensemble.sample_ids.tolist() == ["s1", "s2"]
    assert ensemble.partition_names.tolist() == ["0", "1"]
    assert Ensemble.from_frame(frame, columns=[1]).categories[0].tolist() == [2, 3]
    assert Ensemble.from_frame(frame, sample_ids=[8, 9]).sample_ids.tolist() == [8, 9]


@pytest.mark.parametrize("wrong", [np.zeros((2, 2)), [[1, 2]], None, "frame"], ids=repr)
def test_from_frame_wants_a_frame(wrong):
    with pytest.raises(InvalidEnsembleError, match="Expected a data frame, got"):
        Ensemble.from_frame(wrong)


def test_ids_are_not_converted():
    ids = Ensemble.from_partitions([[0, 1]], sample_ids=[1, "a"]).sample_ids
    assert ids.tolist() == [1, "a"]


def test_anndata():
    observations = pd.DataFrame(
        {
            "leiden_0.5": pd.Categorical(["0", "1", None]),
            "leiden_1": pd.Categorical(["a", "b", "a"]),
        },
        index=["c1", "c2", "c3"],
    )
    adata = anndata.AnnData(np.zeros((3, 2), np.float32), obs=observations)
    ensemble = Ensemble.from_anndata(adata, "leiden_*")
    assert ensemble.sample_ids.tolist() == ["c1", "c2", "c3"]
    assert original(ensemble) == [["0", "a"], ["1", "b"], [None, "a"]]


def test_an_ensemble_passes_through():
    ensemble = Ensemble.from_partitions([[0, 1]])
    assert as_ensemble(ensemble) is ensemble


# -- frozen ----------------------------------------------------------------------------------


def test_the_users_arrays_stay_the_users():
    labels = np.array([[0, 1], [1, 1], [0, 2]], np.uint8)
    weights, ids, names = np.array([1.0, 2.0, 3.0]), np.array(["a", "b", "c"]), ["p", "q"]
    ensemble = Ensemble.from_partitions(
        labels, weights=weights, sample_ids=ids, partition_names=names
    )
    before = original(ensemble)
    labels[:], weights[:], ids[:] = 9, 9, "z"
    assert original(ensemble) == before
    assert ensemble.weights.tolist() == [1, 2, 3]
    assert ensemble.sample_ids.tolist() == ["a", "b", "c"]


def test_arrays_given_to_the_constructor_stay_writeable():
    labels, weights = np.array([[0], [1]], np.uint8), np.ones(2)
    Ensemble(labels, LabelLayout.of([np.array([3, 4])]), weights)
    labels[0, 0] = 1
    weights[0] = 2.0


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))]
)
@pytest.mark.parametrize("compressed", [False, True])
def test_read_only_copies_too(again, compressed):
    ensemble = Ensemble.from_partitions(
        [["a", "b", None], [1, 1, 2]], sample_ids=[1, 2, 3], provenance={"by": "hand"}
    )
    ensemble = ensemble.compress() if compressed else ensemble
    assert ensemble.observed.any()  # cached
    for each in (ensemble, again(ensemble)):
        for name in ("codes", "weights", "partition_order", "sample_ids"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(each, name)[0] = 0
        with pytest.raises(ValueError, match="read-only"):
            each.categories[0][0] = "z"
        with pytest.raises(AttributeError):
            each.codes = None
        assert original(each) == original(ensemble)
        assert each.provenance == {"by": "hand"}


# -- reduction -------------------------------------------------------------------------------


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_compress_equals_numpy_unique(data):
    labels = data.draw(label_tables())
    weights = data.draw(weights_of(len(labels)))
    ensemble = Ensemble.from_partitions(labels, weights=weights)
    core = ensemble.compress()
    rows, inverse = np.unique(labels, axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)
    assert core.n_rows == len(rows)
    assert core.n_samples == len(labels)
    # the same samples are together
    assert len(set(zip(core.inverse.tolist(), inverse.tolist(), strict=True))) == len(rows)
    expected = np.bincount(inverse, ensemble.weights)
    np.testing.assert_allclose(core.weights[core.inverse], expected[inverse], rtol=1e-13)
    # and the rows say what they said
    back = np.array(original(core), object)[core.inverse][:, np.argsort(core.partition_order)]
    np.testing.assert_array_equal(back, np.where(labels < 0, None, labels))
    assert core.n_clusters.sum() == ensemble.n_clusters.sum()


@settings(max_examples=40, deadline=None)
@given(label_tables())
def test_compressed_labels_are_numbered_by_appearance(labels):
    core = Ensemble.from_partitions(labels).compress()
    for column in core.codes.T:
        seen = column[column != core.missing_code]
        _, first = np.unique(seen, return_index=True)
        assert np.all(np.diff(first) > 0)
    assert len(np.unique(core.codes, axis=0)) == core.n_rows


def test_compressing_twice_is_compressing_once():
    core = Ensemble.from_partitions(make_partitions()[0]).compress()
    assert core.is_compressed
    assert core.compress() is core


def test_equal_rows_are_one():
    core = Ensemble.from_partitions(np.full((50, 3), 4)).compress()
    assert core.n_rows == 1
    assert core.weights.tolist() == [50]
    assert core.inverse.tolist() == [0] * 50


def test_more_partitions_than_a_byte_counts():
    labels = np.random.default_rng(0).integers(0, 2, (12, 700))
    core = Ensemble.from_partitions(labels).compress()
    assert core.n_rows == 12
    assert len(EAC(3).fit_predict(core)) == 12


def test_as_many_rows_as_sorting_leaves():
    labels = np.random.default_rng(0).integers(0, 30, (20_000, 3)).astype(np.uint8)
    core = Ensemble.from_partitions(labels).compress()
    assert core.n_rows == len(np.unique(labels, axis=0)) < 20_000


# -- back to samples -------------------------------------------------------------------------


def test_expand():
    core = Ensemble.from_partitions(
        np.array([[0, 0], [-1, -1], [1, 0], [0, 0]]), unlabeled="keep"
    ).compress()
    position = core.inverse[[0, 2]]
    values = np.zeros(2, np.int64)
    values[position] = [10, 20]
    assert core.expand(values).tolist() == [10, -1, 20, 10]
    assert core.expand(values.astype(float), NAN)[[0, 2, 3]].tolist() == [10, 20, 10]
    assert np.isnan(core.expand(values.astype(float), NAN)[1])
    assert core.expand(values.astype(np.uint8)).tolist() == [10, -1, 20, 10]
    assert core.expand(np.stack([values, values], axis=1), 0).shape == (4, 2)
    for wrong in (3, 1):
        with pytest.raises(ValueError, match=f"each of 2 rows, got {wrong}"):
            core.expand(np.zeros(wrong))
    plain = Ensemble.from_partitions([[0, 1]])
    assert plain.expand([5, 6]).tolist() == [5, 6]


# -- subsets ---------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_subset_is_the_subset_of_the_table(data):
    labels = data.draw(label_tables(min_samples=2))
    n, m = labels.shape
    rows = data.draw(st.lists(st.integers(-n, n - 1), min_size=1, max_size=2 * n))
    columns = data.draw(st.lists(st.integers(-m, m - 1), min_size=1, max_size=2 * m))
    part = labels[np.ix_(rows, columns)]
    ensemble = Ensemble.from_partitions(
        labels, weights=np.arange(n) + 1, sample_ids=np.arange(n) * 10, noise="missing"
    )
    if (part < 0).all(axis=0).any():
        with pytest.raises(InvalidEnsembleError, match="labels no sample"):
            ensemble.subset(samples=rows, partitions=columns)
        return
    chosen = ensemble.subset(samples=rows, partitions=columns)
    np.testing.assert_array_equal(
        np.array(original(chosen), object), np.where(part < 0, None, part)
    )
    assert chosen.weights.tolist() == (np.arange(n) + 1)[rows].tolist()
    assert chosen.sample_ids.tolist() == (np.arange(n) * 10)[rows].tolist()


def test_subset_by_mask_slice_and_number():
    ensemble = Ensemble.from_partitions(
        [["a", "b", "c"], [1, 2, 1]], partition_names=["first", "second"]
    )
    assert original(ensemble.subset(samples=[True, False, True])) == [["a", 1], ["c", 1]]
    assert original(ensemble.subset(samples=slice(1, None))) == [["b", 2], ["c", 1]]
    one = ensemble.subset(partitions=1)
    assert original(one) == [[1], [2], [1]]
    assert one.partition_names.tolist() == ["second"]
    with pytest.raises(IndexError):
        ensemble.subset(samples=[7])
    with pytest.raises(InvalidEnsembleError, match="at least one"):
        ensemble.subset(samples=[])
    with pytest.raises(InvalidEnsembleError, match="before compressing"):
        ensemble.compress().subset(samples=[0])


# -- new rows --------------------------------------------------------------------------------


def test_encode_new_rows_by_the_names_of_the_ensemble():
    labels = [["b", "a", "c", "a"], [10, 20, None, 10]]
    for ensemble in (Ensemble.from_partitions(labels), Ensemble.from_partitions(labels).compress()):
        codes, unknown = ensemble.encode([["a", "zebra", None], [20, 10, 99]])
        assert unknown == 2
        columns = np.argsort(ensemble.partition_order)
        named = [
            [
                None if row[i] == ensemble.missing_code else ensemble.categories[i].tolist()[row[i]]
                for i in columns
            ]
            for row in codes
        ]
        assert named == [["a", 20], [None, 10], [None, None]]
        assert codes.dtype == ensemble.codes.dtype
        with pytest.raises(InvalidEnsembleError, match=r"1 features .*, but 2 were fitted"):
            ensemble.encode([["a"]])
        with pytest.raises(ValueError, match="noise"):
            ensemble.encode([["a"], [10]], noise="drop")


def test_encode_a_frame_with_its_columns_in_another_order():
    frame = pd.DataFrame({"p": [1, 2, 1], "q": [2, 1, 1]})
    for ensemble in (Ensemble.from_frame(frame), Ensemble.from_frame(frame).compress()):
        assert ensemble.encode(frame)[1] == 0
        with pytest.raises(InvalidEnsembleError, match=r"Expected the columns \['p', 'q'\], got"):
            ensemble.encode(frame[["q", "p"]])


# -- disk ------------------------------------------------------------------------------------


def assert_same(loaded, ensemble):
    for name in ("codes", "weights", "inverse", "partition_order"):
        expected = getattr(ensemble, name)
        if expected is None:
            assert getattr(loaded, name) is None
        else:
            np.testing.assert_array_equal(getattr(loaded, name), expected)
            assert getattr(loaded, name).dtype == expected.dtype
    assert [c.tolist() for c in loaded.categories] == [c.tolist() for c in ensemble.categories]
    for name in ("sample_ids", "partition_names"):
        expected = getattr(ensemble, name)
        result = getattr(loaded, name)
        assert (None if result is None else result.tolist()) == (
            None if expected is None else expected.tolist()
        )


@pytest.mark.filterwarnings("ignore:.*text is always a label")
@settings(max_examples=60, deadline=None)
@given(values=label_values(), compressed=st.booleans())
@example(values=["NaN"], compressed=False)
def test_disk_keeps_every_kind_of_label(tmp_path_factory, values, compressed):
    path = tmp_path_factory.mktemp("disk") / "ensemble.npz"
    ensemble = Ensemble.from_partitions([values, list(range(len(values)))], noise="singletons")
    ensemble = ensemble.compress() if compressed else ensemble
    ensemble.save(path)
    loaded = Ensemble.load(path)
    assert_same(loaded, ensemble)
    table = [values, list(range(len(values)))]
    np.testing.assert_array_equal(loaded.encode(table)[0], ensemble.encode(table)[0])
    assert loaded.encode(table)[1] == ensemble.encode(table)[1]


@pytest.mark.parametrize(
    "ids",
    [None, ["a", "b", "c"], [1, 2, 3], np.array([1, 2, 3], np.uint16), [1, "a", 2.5]],
    ids=str,
)
def test_disk_keeps_the_rest(tmp_path, ids):
    path = tmp_path / "without a suffix"
    ensemble = Ensemble.from_partitions(
        [[0, 1, None], [5, 5, 6]],
        weights=[0.1, 0.2, 0.3],
        sample_ids=ids,
        partition_names=["p", "q"],
        provenance={"seed": np.int64(3), "file": tmp_path},
    )
    ensemble.save(path)
    loaded = Ensemble.load(path)
    assert_same(loaded, ensemble)
    assert loaded.provenance == {"seed": 3, "file": str(tmp_path)}
    with pytest.raises(ValueError, match="read-only"):
        loaded.codes[0] = 0


def test_a_method_fitted_on_what_was_loaded_predicts_new_rows(tmp_path):
    labels = np.char.add("c", make_partitions()[0].astype(str))
    ensemble = Ensemble.from_partitions(labels)
    ensemble.save(tmp_path / "e.npz")
    method = SEC(3, random_state=0).fit(Ensemble.load(tmp_path / "e.npz"))
    np.testing.assert_array_equal(method.predict(labels), method.labels_)


def test_what_is_not_an_ensemble(tmp_path):
    path = tmp_path / "other"
    with pytest.raises(FileNotFoundError):
        Ensemble.load(path)
    path.write_text("label,label\n1,2\n")
    with pytest.raises(InvalidEnsembleError, match="not an ensemble written by"):
        Ensemble.load(path)
    np.save(tmp_path / "array.npy", np.arange(3))
    with pytest.raises(InvalidEnsembleError, match="not an ensemble written by"):
        Ensemble.load(tmp_path / "array.npy")
    np.savez(tmp_path / "arrays.npz", labels=np.arange(3))
    with pytest.raises(InvalidEnsembleError, match="not an ensemble written by"):
        Ensemble.load(tmp_path / "arrays.npz")
    np.savez(tmp_path / "later.npz", header=np.asarray(json.dumps({"format": 99})))
    with pytest.raises(InvalidEnsembleError, match="format 99, this version reads 2"):
        Ensemble.load(tmp_path / "later.npz")


def test_samples_without_labels_change_nothing_for_the_others():
    labels = make_partitions(40, 5, 3, noise=0.4, random_state=9)[0]
    with_gap = np.insert(labels, [0, 7, 7, 30], -1, axis=0)
    alone = Ensemble.from_partitions(labels).compress()
    among = Ensemble.from_partitions(with_gap, unlabeled="keep").compress()
    np.testing.assert_array_equal(alone.codes, among.codes)
    np.testing.assert_array_equal(alone.weights, among.weights)
    np.testing.assert_array_equal(alone.inverse, among.inverse[among.inverse >= 0])
