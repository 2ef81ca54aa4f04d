"""Convert labels between stores and files: nothing is lost, memory does not grow."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from partita import Ensemble, LabelStore, config_context, convert
from partita._memory import PeakMemory
from partita.exceptions import InvalidEnsembleError, InvalidStoreError, PartitaWarning
from partita.io import read_labels
from partita.io._blocks import Selection
from partita.io._conversion import _write_store as write_codes
from partita.io._label_blocks import open_labels

KINDS = (".store", ".parquet", ".csv", ".tsv")
N = 3000


def make_columns(seed: int = 0) -> list[list[object]]:
    """Text, whole numbers, decimals and gaps; one sample has no label at all."""
    rng = np.random.default_rng(seed)
    columns = [
        rng.choice(["liver", "spleen, left", 'a "quoted"\nname', "é"], N).tolist(),
        rng.integers(0, 300, N).tolist(),
        rng.choice([0.5, 1.25, 2.0], N).tolist(),
        rng.choice(["01", "1e5", "x"], N).tolist(),
    ]
    for column in columns:
        for row in np.flatnonzero(rng.random(N) < 0.2).tolist():
            column[row] = None
        column[17] = None
    return columns


@pytest.fixture(scope="module")
def ensemble() -> Ensemble:
    with pytest.warns(PartitaWarning, match="'leiden_2': numbers with decimals"):
        return Ensemble.from_partitions(
            make_columns(),
            unlabeled="keep",
            sample_ids=[f"cell {i}" for i in range(N)],
            partition_names=["organ", "leiden_1", "leiden_2", "odd"],
        )


def assert_same(ensemble: Ensemble, expected: Ensemble) -> None:
    np.testing.assert_array_equal(ensemble.codes, expected.codes)
    assert [c.tolist() for c in ensemble.categories] == [c.tolist() for c in expected.categories]
    np.testing.assert_array_equal(ensemble.partition_names, expected.partition_names)
    np.testing.assert_array_equal(ensemble.sample_ids, expected.sample_ids)


def in_store(path: Path, folder: Path, name: str = "read.store", **options: object) -> Ensemble:
    convert(path, folder / name, **options)
    return LabelStore.open(folder / name).to_ensemble(unlabeled="keep")


@pytest.mark.parametrize(("first", "second"), list(product(KINDS, KINDS)))
def test_round_trips_keep_labels_names_and_ids(
    first: str, second: str, ensemble: Ensemble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("partita.io._label_blocks._BLOCK_CELLS", 4000)  # many blocks
    monkeypatch.setattr("partita.io._parquet._ROW_GROUP", 1500)
    LabelStore.from_partitions(ensemble, tmp_path / "start.store", rows_per_chunk=700)
    one, two = tmp_path / f"one{first}", tmp_path / f"two{second}"
    convert(tmp_path / "start.store", one)
    id_column = None if first == ".store" else "id"
    done = convert(one, two, id_column=id_column)
    assert (done.n_samples, done.n_partitions, done.has_sample_ids) == (N, 4, True)
    id_column = None if second == ".store" else "id"
    assert_same(in_store(two, tmp_path, id_column=id_column), ensemble)


@pytest.mark.filterwarnings("ignore:.*numbers with decimals:partita.exceptions.PartitaWarning")
@pytest.mark.parametrize("kind", [".csv", ".tsv", ".parquet"])
def test_streaming_reads_what_reading_at_once_reads(
    kind: str, ensemble: Ensemble, tmp_path: Path
) -> None:
    LabelStore.from_partitions(ensemble, tmp_path / "start")
    path = tmp_path / f"labels{kind}"
    convert(tmp_path / "start", path)
    at_once = read_labels(path, id_column="id").ensemble()
    assert_same(in_store(path, tmp_path, id_column="id"), at_once)
    assert_same(at_once, ensemble)


def test_npz_and_h5ad_are_sources(
    ensemble: Ensemble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    anndata, pd = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    monkeypatch.setattr("partita.io._label_blocks._BLOCK_CELLS", 4000)  # many blocks
    organ, leiden, *_ = make_columns()
    obs = pd.DataFrame(
        {"organ": pd.Categorical(organ), "leiden_1": pd.array(leiden, "Int64"), "age": range(N)},
        index=ensemble.sample_ids,
    )
    anndata.AnnData(X=np.zeros((N, 1)), obs=obs).write_h5ad(tmp_path / "cells.h5ad")
    chosen = ["organ", "leiden_*"]
    converted = in_store(tmp_path / "cells.h5ad", tmp_path, "h5ad.store", columns=chosen)
    assert_same(converted, ensemble.subset(partitions=[0, 1]))

    whole = np.asarray([-1 if label is None else label for label in leiden])
    np.savez(tmp_path / "runs.npz", cell=ensemble.sample_ids.astype(str), leiden_1=whole)
    converted = in_store(tmp_path / "runs.npz", tmp_path, "npz.store", id_column="cell")
    assert_same(converted, ensemble.subset(partitions=[1]))


@pytest.mark.parametrize("kind", [".npz", ".h5ad"])
def test_npz_and_h5ad_are_targets(kind: str, ensemble: Ensemble, tmp_path: Path) -> None:
    pytest.importorskip("anndata")
    LabelStore.from_partitions(ensemble, tmp_path / "start")
    convert(tmp_path / "start", tmp_path / f"x{kind}", columns=["organ", "odd"])
    options = {"id_column": "id"} if kind == ".npz" else {"columns": ["*"]}
    assert_same(
        in_store(tmp_path / f"x{kind}", tmp_path, **options), ensemble.subset(partitions=[0, 3])
    )


@pytest.mark.parametrize("kind", [".csv", ".npy"])
def test_a_source_that_changes_is_noticed(kind: str, tmp_path: Path) -> None:
    def write(labels: list[int]) -> None:
        np.save(path, labels) if kind == ".npy" else path.write_text(
            "a\n" + "\n".join(map(str, labels))
        )

    path = tmp_path / f"x{kind}"
    for labels, message in (
        ([1, 2, 3, 7], "the label '?7'? is new"),
        ([1, 2], "2 samples instead of 4"),
    ):
        write([1, 2, 3, 3])
        blocks = open_labels(path, Selection(), (), "missing")
        write(labels)
        with pytest.raises(InvalidEnsembleError, match=message):
            write_codes(tmp_path / "s", blocks)
        assert not (tmp_path / "s").exists()


@pytest.mark.parametrize(
    ("columns", "dtype", "absent"),
    [
        ([[3, 5, None], [70, None, 2]], np.int32, -1),
        ([[3, 5, None], [2**40, None, 2]], np.int64, -1),
        ([[0.5, 5, None], [70, None, 2]], np.float64, np.nan),
        ([["a", "bcd", None], ["x", None, "é"]], "<U3", ""),
        ([["a", "b", None], [7, None, 8]], "<U1", ""),
    ],
)
def test_npy_holds_the_labels_themselves(
    columns: list, dtype: object, absent: object, tmp_path: Path
) -> None:
    ensemble = Ensemble.from_partitions(columns)
    LabelStore.from_partitions(ensemble, tmp_path / "start")
    convert(tmp_path / "start", tmp_path / "x.npy")
    expected = [[absent if v is None else v for v in column] for column in columns]
    matrix = np.load(tmp_path / "x.npy")
    np.testing.assert_array_equal(matrix, np.asarray(expected, dtype).T)
    assert matrix.dtype == dtype
    back = in_store(tmp_path / "x.npy", tmp_path)
    np.testing.assert_array_equal(back.codes, ensemble.codes)
    assert list(back.partition_names) == ["partition_0", "partition_1"]


@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_in_either_order_and_a_single_vector(order: str, tmp_path: Path) -> None:
    matrix = np.asarray(np.random.default_rng(0).integers(-1, 5, (100, 3)), order=order)
    np.save(tmp_path / "x.npy", matrix)
    back = in_store(tmp_path / "x.npy", tmp_path)
    expected = Ensemble.from_partitions(matrix, unlabeled="keep")
    np.testing.assert_array_equal(back.codes, expected.codes)
    np.save(tmp_path / "v.npy", matrix[:, 0])
    vector = in_store(tmp_path / "v.npy", tmp_path, "vector")
    np.testing.assert_array_equal(vector.codes[:, 0], expected.codes[:, 0])


def test_ids_and_names_lost_in_npy_are_reported(ensemble: Ensemble, tmp_path: Path) -> None:
    LabelStore.from_partitions(ensemble, tmp_path / "start")
    with pytest.warns(PartitaWarning, match="neither sample ids nor names"):
        convert(tmp_path / "start", tmp_path / "x.npy")


def test_whole_numbers_as_ids_stay_numbers_in_parquet(tmp_path: Path) -> None:
    LabelStore.from_partitions(
        Ensemble.from_partitions([[0, 1, 1]], sample_ids=[5, 7, 9]), tmp_path / "s"
    )
    convert(tmp_path / "s", tmp_path / "x.parquet")
    assert in_store(tmp_path / "x.parquet", tmp_path, id_column="id").sample_ids.tolist() == [
        5,
        7,
        9,
    ]


def test_reading_options_hold_for_streaming(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("1;?;-1\n2;b;4\nNA;b;-1\n")
    options = {"header": False, "missing_values": ["?"], "noise": "cluster"}
    ensemble = in_store(path, tmp_path, **options)
    assert list(ensemble.partition_names) == ["partition_0", "partition_1", "partition_2"]
    assert [c.tolist() for c in ensemble.categories] == [["1", "2", "NA"], ["b"], [-1, 4]]
    assert ensemble.codes.tolist() == [[0, 255, 0], [1, 0, 1], [2, 0, 0]]
    chosen = in_store(path, tmp_path, "chosen", header=False, columns=["*_[12]"])
    assert [c.tolist() for c in chosen.categories] == [["?", "b"], [4]]


def test_an_id_column_does_not_collide_with_a_partition(tmp_path: Path) -> None:
    ensemble = Ensemble.from_partitions([[0, 1]], sample_ids=["a", "b"], partition_names=["id"])
    LabelStore.from_partitions(ensemble, tmp_path / "s")
    convert(tmp_path / "s", tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text() == "sample_id,id\na,0\nb,1\n"


def test_labels_that_only_a_store_keeps_apart_are_not_merged(tmp_path: Path) -> None:
    LabelStore.from_partitions(Ensemble.from_partitions([[1, "1", 1]]), tmp_path / "s")
    for kind in ("csv", "parquet", "npy"):
        with pytest.raises(InvalidEnsembleError, match="Only a label store"):
            convert(tmp_path / "s", tmp_path / f"x.{kind}")
        assert not (tmp_path / f"x.{kind}").exists()


def test_a_cluster_called_like_a_missing_label_is_reported(tmp_path: Path) -> None:
    LabelStore.from_partitions(Ensemble.from_partitions([["NA", "b", "b"]]), tmp_path / "s")
    with pytest.warns(PartitaWarning, match="called 'NA'"):
        convert(tmp_path / "s", tmp_path / "x.csv")


# -- memory ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [".csv", ".parquet", ".npy"])
def test_memory_does_not_grow_with_samples(kind: str, tmp_path: Path) -> None:
    m = 6
    whole = 200_000 if kind == ".csv" else 2_000_000
    sizes = {"tiny": 1000, "quarter": whole // 4, "whole": whole}
    rng = np.random.default_rng(0)
    for name, n in sizes.items():
        writer = LabelStore.create(tmp_path / f"{name}.store", n, n_clusters=[50] * m)
        for start in range(0, n, 50_000):
            writer.write(start, rng.integers(0, 50, (min(n, 50_000), m)))
        writer.finish()

    def gained(name: str) -> int:
        with PeakMemory() as peak:
            convert(tmp_path / f"{name}.store", tmp_path / f"{name}{kind}")
            convert(tmp_path / f"{name}{kind}", tmp_path / f"{name}-back.store")
        return peak.gained

    gained("tiny")  # what the libraries take
    before = gained("quarter")
    # three quarters of the labels would be 72 MB more as whole numbers, 45 MB as text: not half
    assert gained("whole") < before + (22e6 if kind == ".csv" else 36e6)
    back = LabelStore.open(tmp_path / "whole-back.store")
    original = LabelStore.open(tmp_path / "whole.store")
    for start, stop in original.blocks():
        np.testing.assert_array_equal(back.read(start, stop), original.read(start, stop))


# -- mistakes --------------------------------------------------------------------------------


def test_mistakes_raise_errors_and_leave_no_files(ensemble: Ensemble, tmp_path: Path) -> None:
    store = tmp_path / "start.store"
    LabelStore.from_partitions(ensemble, store)
    (tmp_path / "broken.csv").write_text("a,b\n1,2\n1\n")
    (tmp_path / "other.xlsx").write_text("")
    before = sorted(p.name for p in tmp_path.iterdir())
    for source, target, error, message in (
        (store, "x.xlsx", ValueError, "must end in one of .csv, .tsv, .parquet, .npy"),
        (tmp_path / "other.xlsx", "x", ValueError, "Cannot read"),
        (tmp_path / "nothing.csv", "x", FileNotFoundError, "nothing.csv"),
        (store, "nowhere/x.csv", FileNotFoundError, "nowhere"),
        (store, "start.store", ValueError, "both source and target"),
        (tmp_path / "broken.csv", "x.store", InvalidEnsembleError, "row 2 has 1 cells"),
    ):
        with pytest.raises(error, match=message):
            convert(source, tmp_path / target)
    with pytest.raises(ValueError, match="singletons"):
        convert(store, tmp_path / "x.csv", noise="singletons")
    with pytest.raises(InvalidEnsembleError, match="no column 'nope'"):
        convert(store, tmp_path / "x.csv", columns=["nope"])
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_a_store_that_is_there_is_not_overwritten(ensemble: Ensemble, tmp_path: Path) -> None:
    LabelStore.from_partitions(ensemble, tmp_path / "a")
    (tmp_path / "x.csv").write_text("a\n1\n2\n")
    with pytest.raises(FileExistsError, match="already there"):
        convert(tmp_path / "x.csv", tmp_path / "a")
    LabelStore.open(tmp_path / "a").verify()


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_store_leaves_the_target_as_it_was(
    kind: str, ensemble: Ensemble, tmp_path: Path
) -> None:
    LabelStore.from_partitions(ensemble, tmp_path / "s")
    target = tmp_path / f"x{kind}"
    if kind != ".store":
        target.write_bytes(b"as it was")
    labels = bytearray((tmp_path / "s" / "labels.npy").read_bytes())
    labels[-1] ^= 1
    (tmp_path / "s" / "labels.npy").write_bytes(labels)
    with pytest.raises(InvalidStoreError, match="damaged"):
        convert(tmp_path / "s", target)
    assert not target.exists() if kind == ".store" else target.read_bytes() == b"as it was"


def test_an_incomplete_store_is_not_converted(tmp_path: Path) -> None:
    LabelStore.create(tmp_path / "s", 5, n_clusters=[2])
    with pytest.raises(InvalidStoreError, match="not complete"):
        convert(tmp_path / "s", tmp_path / "x.csv")


def test_a_column_of_names_is_not_taken_for_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("partita.io._label_blocks._MAX_LABELS", 100)
    (tmp_path / "x.csv").write_text("cell,a\n" + "".join(f"c{i},{i % 2}\n" for i in range(200)))
    with pytest.raises(InvalidEnsembleError, match=r"'cell'.*id_column"):
        convert(tmp_path / "x.csv", tmp_path / "s")


def test_progress_has_two_stages(ensemble: Ensemble, tmp_path: Path) -> None:
    LabelStore.from_partitions(ensemble, tmp_path / "s")
    convert(tmp_path / "s", tmp_path / "x.csv")
    steps = []
    with config_context(progress=steps.append):
        convert(tmp_path / "x.csv", tmp_path / "y.parquet", id_column="id")
    assert {step.task for step in steps} == {"reading", "convert"}
    last = [step for step in steps if step.task == "convert"][-1]
    assert (last.done, last.total) == (N, N)
