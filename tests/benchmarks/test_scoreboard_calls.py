"""A call of the scoreboard: what it computes, what it continues, and what it shows."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the benchmarks are no part of the package

from benchmarks.data_folder import data_folder  # noqa: E402
from benchmarks.json_lines import append, read  # noqa: E402
from benchmarks.scoreboard import __main__ as scoreboard  # noqa: E402
from benchmarks.scoreboard._picture import draw  # noqa: E402
from benchmarks.scoreboard._records import RECORDS  # noqa: E402
from benchmarks.scoreboard._sets import find_sets  # noqa: E402
from benchmarks.scoreboard._sources import ALGORITHMS, SCIKIT, labels_of  # noqa: E402
from benchmarks.scoreboard._statistics import Board, boards  # noqa: E402
from benchmarks.scoreboard._work import Unit, run  # noqa: E402

from partita.metrics import adjusted_rand  # noqa: E402

X, Y = make_blobs(40, centers=[[0, 0], [9, 0]], cluster_std=0.5, random_state=0)


def write_lines(file: Path, lines: list[str]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(file, "wt", encoding="utf-8") as stream:
        stream.write("\n".join(lines) + "\n")


@pytest.fixture
def folder(tmp_path):
    sets = tmp_path / "sets"
    sets.mkdir()
    np.savez(sets / "iris.npz", X=X, y=Y)
    return sets


def call(folder: Path, *options: str):
    common = ["--methods", "ccgp", "--generators", "random_k", "--k-rules", "true"]
    sizes = ["--seeds", "1", "--partitions", "5"]
    return scoreboard.parse([str(folder), *common, *sizes, *options])


def left(folder: Path, file: Path, *options: str) -> list[Unit]:
    return scoreboard.not_done(scoreboard.units(call(folder, *options)), read(file))


def test_other_data_of_the_same_name_are_computed_anew(folder, tmp_path) -> None:
    file = tmp_path / "records.jsonl"
    append(file, run(left(folder, file)[0]))
    assert left(folder, file) == []
    first = read(file)[0]
    np.savez_compressed(folder / "iris.npz", y=Y, X=X)  # the same content in another file
    assert left(folder, file) == []
    np.savez(folder / "iris.npz", X=X, y=np.roll(Y, 1))
    (unit,) = left(folder, file)
    append(file, run(unit))
    old, new = read(file)
    assert old == first
    assert old["data"] != new["data"]
    assert new["ARI"] < old["ARI"] == 1.0
    board = boards(read(file))[0]
    assert board.sets == ["iris", "iris"]  # two sets, no mean of them
    assert scoreboard.of_call(scoreboard.units(call(folder)), read(file)) == [new]


def test_other_settings_are_computed_anew(folder, tmp_path) -> None:
    file = tmp_path / "records.jsonl"
    for unit in left(folder, file, "--k-rules", "true", "scan", "--largest-k", "3"):
        append(file, run(unit))
    assert left(folder, file, "--k-rules", "true", "scan", "--largest-k", "3") == []
    assert [u.k_rule for u in left(folder, file, "--partitions", "6")] == ["true"]
    assert left(folder, file, "--largest-k", "4") == []  # nothing is scanned
    both = left(folder, file, "--k-rules", "true", "scan", "--largest-k", "4")
    assert [u.k_rule for u in both] == ["scan"]


def test_the_hash_of_the_public_layout_is_that_of_the_content(tmp_path) -> None:
    hashes = []
    for level, y in ((1, "1 1 2 2"), (9, "1 1 2 2"), (9, "1 2 2 2")):
        folder = tmp_path / f"{level}{len(hashes)}" / "battery"
        folder.mkdir(parents=True)
        for kind, text in (("data", "1\n2\n3\n4\n"), ("labels0", y.replace(" ", "\n"))):
            (folder / f"few.{kind}.gz").write_bytes(gzip.compress(text.encode(), level))
        hashes.append(find_sets(folder.parent)[0].fingerprint)
    assert hashes[0] == hashes[1] != hashes[2]


def test_records_of_other_folders_are_not_written_to_those_of_the_project(folder) -> None:
    assert call(folder).records == scoreboard.OTHER_RECORDS
    if data_folder() is not None:
        assert scoreboard.parse([]).records == RECORDS


def test_only_sets_and_methods_of_the_call_are_shown(folder, tmp_path, capsys) -> None:
    file = tmp_path / "records.jsonl"
    np.savez(folder / "wine.npz", X=X + 1, y=Y)
    for unit in left(folder, file, "--methods", "ccgp", "eac"):
        append(file, run(unit))
    shown = [str(folder), "--show", "--records", str(file), "--k-rules", "true"]
    sizes = ["--seeds", "1", "--partitions", "5", "--generators", "random_k"]
    scoreboard.main([*shown, *sizes, "--methods", "ccgp", "eac"])
    out = capsys.readouterr().out
    assert "features, at the true K: 2 sets" in out
    assert "random_k + eac" in out
    scoreboard.main([*shown, *sizes, "--methods", "ccgp", "--sets", "wine"])
    out = capsys.readouterr().out
    assert "features, at the true K: 1 sets" in out
    assert "random_k + eac" not in out
    other = tmp_path / "other"
    other.mkdir()
    np.savez(other / "iris.npz", X=X[:30], y=Y[:30])
    scoreboard.main([str(other), *shown[1:], *sizes])
    assert "features" not in capsys.readouterr().out


def test_columns_of_equal_names_are_told_apart(tmp_path) -> None:
    y = [str(label) for label in (1, 1, 2, 2)]
    write_lines(tmp_path / "wut" / "four.labels0.gz", y)
    rows = {
        "original": ["Genie,KMeans,own", "1,1,1", "1,1,1", "2,2,2", "2,2,2"],
        "scaled": ["Genie,KMeans,KMeans", "2,2,2", "1,1,1", "2,2,2", "2,2,1"],
    }
    for name, lines in rows.items():
        write_lines(tmp_path / name / "wut" / "four.result2.gz", lines)
    (dataset,) = find_sets(tmp_path)
    assert dataset.problem() is None
    table = dataset.table(2)
    assert table.names == [
        "Genie, original/wut",
        "KMeans, original/wut",
        "own",
        "Genie, scaled/wut",
        "KMeans, scaled/wut",
        "KMeans, scaled/wut, 2",
    ]
    np.testing.assert_array_equal(table.labels[:, 3], [2, 1, 2, 2])
    np.testing.assert_array_equal(table.labels[:, 5], [2, 1, 2, 1])
    unit = Unit(tmp_path, dataset.name, dataset.fingerprint, "table", 0, "true", ("eac",), 5, 3)
    assert {record["method"] for record in run(unit)} == {"eac", *table.names}


def test_a_table_without_the_true_number_is_named_and_scanned(tmp_path, capsys) -> None:
    y = [str(label + 1) for label in Y]
    write_lines(tmp_path / "wut" / "two.labels0.gz", y)
    columns = [f"{a},{b}" for a, b in zip(y, reversed(y), strict=True)]
    write_lines(tmp_path / "wut" / "two.result3.gz", ["a,b", *columns])
    units = scoreboard.units(call(tmp_path, "--k-rules", "true", "scan"))
    assert [(unit.source, unit.k_rule) for unit in units] == [("table", "scan")]
    error = capsys.readouterr().err
    reason = "there are results for K = 3, and the true K is 2"
    assert f"wut/two, K true, table: left out, {reason}\n" in error


def test_sparse_features_are_scanned(folder) -> None:
    rng = np.random.default_rng(0)
    topics = np.kron(np.eye(2), np.full(30, 1 / 30))[Y]
    counts = sp.csr_matrix([rng.multinomial(20, topic) for topic in topics])
    parts = {name: getattr(counts, name) for name in ("data", "indices", "indptr")}
    np.savez(folder / "words.npz", y=Y, shape=counts.shape, **parts)
    units = scoreboard.units(call(folder, "--k-rules", "true", "scan"))
    (unit,) = (unit for unit in units if (unit.name, unit.k_rule) == ("words", "scan"))
    assert {record["k"] for record in run(unit)} == {2}


def test_algorithms_of_scikit_learn_take_part(folder) -> None:
    units = scoreboard.units(call(folder, "--generators", SCIKIT, "--k-rules", "true", "scan"))
    assert [unit.k_rule for unit in units] == ["true"]
    records = run(units[0])
    assert {record["method"]: record["ARI"] for record in records} == dict.fromkeys(ALGORITHMS, 1.0)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_algorithms_of_scikit_learn_take_sparse_rows_by_their_direction(algorithm) -> None:
    angles = np.where(Y == 0, 0.2, 1.3) + 0.05 * np.random.default_rng(0).normal(size=len(Y))
    lengths = 10.0 ** np.random.default_rng(1).uniform(0, 2, len(Y))
    rows = sp.csr_matrix(lengths[:, None] * np.column_stack([np.cos(angles), np.sin(angles)]))
    assert adjusted_rand(Y, labels_of(algorithm, rows, 2, 0)) == 1.0


def test_the_bar_of_the_critical_difference_ends_with_the_axis(tmp_path) -> None:
    scores = np.array([[0.9, 0.5, 0.1], [0.8, 0.6, 0.3]])
    nothing = np.zeros(3)
    board = Board("few", ["a", "b", "c"], ["s", "t"], scores, nothing, nothing.astype(int))
    assert board.critical_difference > 2
    draw(board, tmp_path / "few.svg")
    assert "longer than the axis" in (tmp_path / "few.svg").read_text()
