"""Read and write tables of labels and features, with ids and names."""

from __future__ import annotations

import builtins
import pickle
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

from partita import Ensemble
from partita._input.coding import encode
from partita.exceptions import InvalidEnsembleError, MissingPackageError, PartitaWarning
from partita.io import Table, read_features, read_labels, write_labels, write_table

IDS = np.asarray(["c1", "c2", "c3", '<b>&, "4"'], object)


def table() -> Table:
    return Table(
        {
            "leiden_1": np.ma.masked_array([0, 1, 0, 2], [False, False, True, False]),
            "segment": np.asarray(["red", None, "blue", "red, dark"], object),
        },
        IDS,
        "cell",
    )


def values(column) -> list[object]:
    return [None if v is None or v != v else v for v in column.tolist()]


# -- round trips -----------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_what_is_written_is_read(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"labels{suffix}"
    write_table(path, table())
    back = read_labels(path, id_column="cell")
    assert list(back.columns) == ["leiden_1", "segment"]
    assert values(back.columns["leiden_1"]) == [0, 1, None, 2]
    assert values(back.columns["segment"]) == ["red", None, "blue", "red, dark"]
    assert back.ids.tolist() == IDS.tolist()
    assert back.id_name == "cell"
    assert [p.name for p in tmp_path.iterdir()] == [path.name]  # nothing half-written beside it


def test_npz_keeps_names_and_ids(tmp_path: Path) -> None:
    path = tmp_path / "labels.npz"
    write_table(path, table())
    back = read_labels(path, id_column="cell")
    assert values(back.columns["leiden_1"]) == [0, 1, -1, 2]  # -1: missing, to the ensemble
    assert values(back.columns["segment"]) == ["red", None, "blue", "red, dark"]
    assert back.ids.tolist() == IDS.tolist()
    assert back.ensemble().n_missing == 2


def test_npy_is_a_matrix_and_says_that_ids_are_lost(tmp_path: Path) -> None:
    path = tmp_path / "labels.npy"
    numbers = Table({"a": np.asarray([0, 1]), "b": np.asarray([3, 3])}, np.asarray(["x", "y"]))
    with pytest.warns(PartitaWarning, match="neither sample ids nor"):
        write_table(path, numbers)
    np.testing.assert_array_equal(np.load(path, allow_pickle=False), [[0, 3], [1, 3]])
    back = read_labels(path)
    assert {name: c.tolist() for name, c in back.columns.items()} == {
        "partition_0": [0, 1],
        "partition_1": [3, 3],
    }


# -- AnnData ---------------------------------------------------------------------------------


@pytest.fixture
def h5ad(tmp_path: Path) -> Path:
    anndata = pytest.importorskip("anndata")
    import pandas

    obs = pandas.DataFrame(
        {
            "leiden_0.5": pandas.Categorical(["0", "0", "1"]),
            "leiden_1.0": pandas.Categorical(["0", None, "2"]),
            "n_counts": [1.5, 2.5, 3.5],
        },
        index=["AAA", "CCC", "GGG"],
    )
    path = tmp_path / "cells.h5ad"
    anndata.AnnData(X=np.arange(6.0).reshape(3, 2), obs=obs).write_h5ad(path)
    return path


def test_h5ad_columns_by_pattern(h5ad: Path) -> None:
    labels = read_labels(h5ad, columns=["leiden_*"])
    assert list(labels.columns) == ["leiden_0.5", "leiden_1.0"]
    assert values(labels.columns["leiden_1.0"]) == ["0", None, "2"]
    assert labels.ids.tolist() == ["AAA", "CCC", "GGG"]
    with pytest.raises(InvalidEnsembleError, match=r"say which are partitions.*n_counts"):
        read_labels(h5ad)


def test_h5ad_gets_columns_added_by_id_and_keeps_the_rest(h5ad: Path, tmp_path: Path) -> None:
    import anndata

    fused = Table(
        {
            "consensus": np.ma.masked_array([10, 2, 2], [False, False, True]),
            "confidence": np.asarray([0.25, 0.5, np.nan]),
        },
        np.asarray(["GGG", "AAA", "CCC"], object),
    )
    target = tmp_path / "out.h5ad"
    write_table(target, fused, base=h5ad)
    out = anndata.read_h5ad(target)
    assert out.obs["consensus"].tolist()[0] == "2"
    assert out.obs["consensus"].isna().tolist() == [False, True, False]
    assert out.obs["consensus"].cat.categories.tolist() == ["2", "10"]
    assert out.obs["confidence"].tolist()[2] == 0.25
    np.testing.assert_array_equal(out.X, np.arange(6.0).reshape(3, 2))
    assert "leiden_0.5" in out.obs

    write_table(target, Table({"again": np.asarray([1, 1, 0])}, fused.ids))
    again = anndata.read_h5ad(target)
    assert {"consensus", "again"} <= set(again.obs)
    np.testing.assert_array_equal(again.X, out.X)


def test_h5ad_refuses_other_samples_and_stays_as_it_was(h5ad: Path) -> None:
    before = h5ad.read_bytes()
    others = Table({"consensus": np.asarray([0, 1, 1])}, np.asarray(["AAA", "CCC", "TTT"]))
    with pytest.raises(InvalidEnsembleError, match="do not match"):
        write_table(h5ad, others)
    assert h5ad.read_bytes() == before


# -- types of cells --------------------------------------------------------------------------


def read(text: str, **options: object) -> Table:
    return read_labels(StringIO(text), **options)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "2", "10"], [1, 2, 10]),
        (["1", "", "10"], [1, None, 10]),
        (["1.0", "2.0", "1"], [1.0, 2.0, 1.0]),
        (["-1.0", "2.5", ""], [-1.0, 2.5, None]),
        (["01", "1", "2"], ["01", "1", "2"]),
        (["1e5", "100000", "2"], ["1e5", "100000", "2"]),
        (
            ["9007199254740993", "9007199254740992", "1"],
            ["9007199254740993", "9007199254740992", "1"],
        ),
        (["1", "two", "3"], ["1", "two", "3"]),
        (["NA", "nan", "x"], [None, None, "x"]),
        (["true", "inf", "x"], ["true", "inf", "x"]),
    ],
)
def test_a_column_has_one_type(cells: list[str], expected: list[object]) -> None:
    labels = read("a,b\n" + "".join(f"{cell},0\n" for cell in cells))
    assert values(labels.columns["a"]) == expected


def test_missing_values_replace_the_default() -> None:
    text = "a,b\n?,NA\n1,2\n"
    assert values(read(text).columns["b"]) == [None, 2]
    assert values(read(text, missing_values=["?"]).columns["a"]) == [None, 1]
    assert values(read(text, missing_values=["?"]).columns["b"]) == ["NA", "2"]


def test_missing_values_hold_for_text_in_every_format(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", a=np.asarray(["?", "b"]), b=np.asarray([1, 2]))
    assert values(read_labels(tmp_path / "x.npz", missing_values=["?"]).columns["a"]) == [None, "b"]


def test_more_lines_than_a_block() -> None:
    n = 2500
    labels = read("id,a\n" + "".join(f"s{i},{i % 7}\n" for i in range(n)), id_column="id")
    np.testing.assert_array_equal(labels.columns["a"], np.arange(n) % 7)
    assert labels.ids[-1] == f"s{n - 1}"


def test_a_first_column_without_a_name_holds_the_ids() -> None:
    labels = read(",a,b\nx,1,2\ny,1,3\n")
    assert labels.ids.tolist() == ["x", "y"]
    assert list(labels.columns) == ["a", "b"]


@pytest.mark.parametrize("text", ["a;b\n1;2\n", "a\tb\n1\t2\n", "a, b\n1, 2\n", "\ufeffa,b\n1,2\n"])
def test_delimiters_spaces_and_byte_order_marks(text: str, tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(text, encoding="utf-8")
    labels = read_labels(path)
    assert {name: c.tolist() for name, c in labels.columns.items()} == {"a": [1], "b": [2]}


def test_without_a_header() -> None:
    assert list(read("1,2\n3,4\n", header=False).columns) == ["partition_0", "partition_1"]
    with pytest.raises(InvalidEnsembleError, match=r"more than one column named '1'.*no-header"):
        read("1,1\n3,4\n")


def test_an_empty_line_is_a_missing_label_in_a_single_column() -> None:
    assert values(read("a\n1\n\n2\n").columns["a"]) == [1, None, 2]
    assert values(read("a,b\n1,1\n\n2,2\n").columns["a"]) == [1, 2]


def test_columns_by_pattern_keep_the_order_of_the_file() -> None:
    text = "x,k_2,k_3,note\n0,1,2,a\n"
    assert list(read(text, columns=["k_3", "k_*"]).columns) == ["k_2", "k_3"]
    with pytest.raises(InvalidEnsembleError, match=r"no column 'z\*'; it has 'x', 'k_2'"):
        read(text, columns=["k_*", "z*"])
    with pytest.raises(InvalidEnsembleError, match="no column 'cell'"):
        read(text, id_column="cell")


# -- features --------------------------------------------------------------------------------


def test_features_are_numbers() -> None:
    labels = read_features(StringIO("id,x,y\na,1e3,-2\nb,.5,3\n"), id_column="id")
    np.testing.assert_array_equal(labels.matrix(), [[1000, -2], [0.5, 3]])
    with pytest.raises(ValueError, match="column 'y' has 'red' in row 2"):
        read_features(StringIO("x,y\n1,2\n1,red\n"))
    with pytest.raises(ValueError, match="column 'y' has no value in row 1"):
        read_features(StringIO("x,y\n1,NA\n1,2\n"))


def test_features_of_other_formats_are_checked(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", a=np.asarray(["u", "v"]))
    with pytest.raises(ValueError, match="column 'a' holds object where numbers"):
        read_features(tmp_path / "x.npz")


# -- refused files ---------------------------------------------------------------------------


class Bomb:
    def __reduce__(self):
        return builtins.exec, ("raise SystemExit('unpickled')",)


@pytest.mark.parametrize("name", ["labels.npy", "labels.npz", "raw.npy"])
def test_pickles_are_never_opened(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if name == "raw.npy":
        path.write_bytes(pickle.dumps(Bomb()))
    else:
        (np.save if name.endswith("npy") else np.savez)(path, np.asarray([Bomb()], object))
    with pytest.raises(InvalidEnsembleError, match="pickle"):
        read_labels(path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.csv", b"", "is empty"),
        ("x.csv", b"a,b\n", "no rows"),
        ("x.csv", b"a,b\n1,2\n1\n", "row 2 has 1 cells, 2 were expected"),
        ("x.csv", b"a,b\n\xff\xfe,2\n", "not text in UTF-8"),
        ("x.npy", b"\x93NUMPY", "not a .npy file"),
        ("x.docx", b"", "Cannot read"),
    ],
)
def test_bad_files_are_named(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InvalidEnsembleError, match=message) as caught:
        read_labels(path)
    assert name in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for name in ("no.csv", "no.npy"):
        with pytest.raises(FileNotFoundError, match=name):
            read_labels(tmp_path / name)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fail(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr("partita._packages.find_spec", lambda name: None)
    monkeypatch.setattr("partita._packages.import_module", fail)
    for name in ("x.parquet", "x.h5ad"):
        (tmp_path / name).write_bytes(b"")
        with pytest.raises(MissingPackageError, match="pip install"):
            read_labels(tmp_path / name)


def test_parquet_by_polars_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("polars")
    monkeypatch.setattr("partita._packages.find_spec", lambda name: name == "polars" or None)
    path = tmp_path / "labels.parquet"
    write_table(path, table())
    back = read_labels(path, id_column="cell", columns=["seg*"])
    assert values(back.columns["segment"]) == ["red", None, "blue", "red, dark"]


@pytest.mark.parametrize("name", ["x.docx", "no-folder/x.csv"])
def test_targets_are_checked(name: str, tmp_path: Path) -> None:
    with pytest.raises((ValueError, FileNotFoundError), match=r"must end in|No folder"):
        write_table(tmp_path / name, table())


# -- codes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", ["missing", "cluster", "singletons"])
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz"])
def test_codes_of_a_file_are_those_of_its_values(suffix: str, noise: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    columns = {
        "numbers": rng.integers(-1, 300, 400),
        "gaps": np.ma.masked_array(rng.integers(-1, 3, 400), rng.random(400) < 0.2),
        "text": rng.choice(np.asarray(["x", "-1", "y", None], object), 400),
    }
    write_table(tmp_path / f"x{suffix}", Table(columns))
    labels = read_labels(tmp_path / f"x{suffix}")
    ensemble = labels.ensemble(noise=noise)
    expected = Ensemble.from_partitions(
        list(labels.columns.values()), noise=noise, unlabeled="keep", partition_names=list(columns)
    )
    np.testing.assert_array_equal(ensemble.codes, expected.codes)
    assert ensemble.codes.dtype == expected.codes.dtype
    assert [c.tolist() for c in ensemble.categories] == [c.tolist() for c in expected.categories]
    assert list(ensemble.partition_names) == list(columns)
    some = labels.select(["text", "gaps"]).ensemble(noise=noise)
    assert list(some.partition_names) == ["text", "gaps"]


def test_only_distinct_cells_of_text_are_coded(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths = []

    def watched(columns, names, noise):
        lengths.append(len(columns[0]))
        return encode(columns, names, noise)

    monkeypatch.setattr("partita.io._vocabulary.encode", watched)
    monkeypatch.setattr("partita.io._table.encode", None)
    labels = read("a,b\n" + "".join(f"{i % 3},{i % 2}\n" for i in range(3000)))
    assert labels.ensemble().n_clusters.tolist() == [3, 2]
    assert lengths == [3, 2]


def test_whole_numbers_are_coded_as_one_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.save(tmp_path / "x.npy", np.random.default_rng(0).integers(0, 5, (50, 4)))
    monkeypatch.setattr("partita._input.coding._encode_column", None)
    assert read_labels(tmp_path / "x.npy").ensemble().n_partitions == 4


# -- labels that are not all in memory -------------------------------------------------------


def test_labels_are_written_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("partita.io._writing._BLOCK_ROWS", 7)
    labels = np.random.default_rng(0).integers(-1, 4, 50)
    write_labels(tmp_path / "x.npy", labels, 4)
    vector = np.load(tmp_path / "x.npy")
    assert vector.dtype == np.int32
    np.testing.assert_array_equal(vector, labels)
    for suffix in (".csv", ".parquet", ".npz"):
        write_labels(tmp_path / f"x{suffix}", labels, 4, name="c", ids=map(str, range(50)))
        back = read_labels(tmp_path / f"x{suffix}", id_column="id")
        assert back.ids.tolist() == [str(i) for i in range(50)]
        np.testing.assert_array_equal(np.ma.filled(back.columns["c"], -1), labels)
