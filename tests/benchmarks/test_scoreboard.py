"""The scoreboard reads both layouts, scores as defined, resumes, and compares by known formulas."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse.linalg import svds
from sklearn.datasets import make_blobs
from sklearn.preprocessing import normalize

from partita.metrics import adjusted_rand

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the benchmarks are no part of the package

from benchmarks.json_lines import append, read  # noqa: E402
from benchmarks.scoreboard import __main__ as scoreboard  # noqa: E402
from benchmarks.scoreboard import (  # noqa: E402
    _tables_of_k,
    _texts_of_k,
    against_lwgp,
    calibration,
    choosing_k,
    design_of_k,
    shapes,
)
from benchmarks.scoreboard._picture import cliques, draw  # noqa: E402
from benchmarks.scoreboard._records import RECORDS  # noqa: E402
from benchmarks.scoreboard._rules import RULES, gap_statistic  # noqa: E402
from benchmarks.scoreboard._sets import find_sets  # noqa: E402
from benchmarks.scoreboard._sources import DEFAULT  # noqa: E402
from benchmarks.scoreboard._statistics import Board, boards, full_name  # noqa: E402
from benchmarks.scoreboard._tables import (  # noqa: E402
    alarm_words,
    by_kind,
    false_alarms,
    table,
    thin_table,
    together,
)
from benchmarks.scoreboard._thin_shapes import THIN_SHAPES, thin_shape  # noqa: E402

CENTERS = [[0, 0], [9, 0], [0, 9], [9, 9]]


def write_lines(file: Path, lines: list[str]) -> None:
    with gzip.open(file, "wt", encoding="utf-8") as stream:
        stream.write("\n".join(lines) + "\n")


@pytest.fixture
def folder(tmp_path):
    """Four blobs, which are also two pairs of blobs; the first five samples are noise."""
    X, y = make_blobs(60, centers=CENTERS, cluster_std=0.5, random_state=0)
    battery = tmp_path / "sets" / "battery"
    battery.mkdir(parents=True)
    write_lines(battery / "blobs.data.gz", [" ".join(f"{v:.4f}" for v in row) for row in X])
    fine, coarse = y + 1, y // 2 + 1
    fine[:5] = 0
    write_lines(battery / "blobs.labels0.gz", [str(v) for v in fine])
    write_lines(battery / "blobs.labels1.gz", [str(v) for v in coarse])
    rng = np.random.default_rng(0)
    good, bad = [np.where(rng.random(60) < share, 1, y + 1) for share in (0.1, 0.5)]
    columns = np.column_stack([y + 1, good, bad, rng.permutation(y) + 1])
    rows = [",".join(map(str, row)) for row in columns]
    results = tmp_path / "sets" / "results" / "battery"
    results.mkdir(parents=True)
    write_lines(results / "blobs.result4.gz", ["exact,good,bad,random", *rows])
    np.savez(tmp_path / "sets" / "pair.npz", X=X[y < 2], y=y[y < 2])
    np.savez(tmp_path / "sets" / "pool.npz", members=np.tile(columns, 6), y=y)
    np.savez(tmp_path / "sets" / "views_mv.npz", X_view1=X, y=y)
    return tmp_path / "sets"


def arguments(folder: Path, file: Path, *options: str) -> list[str]:
    methods = ["--methods", "ccgp", "eac", "--generators", "random_k", "--partitions", "8"]
    common = ["--seeds", "2", "--jobs", "1", "--largest-k", "5", "--records", str(file)]
    return [str(folder), *methods, *common, *options]


def run_here(folder: Path, file: Path, *options: str) -> None:
    """Do the work of a call in this process."""
    call = scoreboard.parse(arguments(folder, file, *options))
    for unit in scoreboard.not_done(scoreboard.units(call), read(file)):
        append(file, scoreboard.run(unit))


def test_both_layouts_are_read(folder) -> None:
    blobs, pair, pool = find_sets(folder)
    assert [each.name for each in (blobs, pair, pool)] == ["battery/blobs", "pair", "pool"]
    assert (blobs.n_samples, blobs.true_ks, blobs.features.shape) == (60, [2, 4], (60, 2))
    assert blobs.table(4).names == ["exact", "good", "bad", "random"]
    assert blobs.table(2) is None
    assert blobs.table(None).labels.shape == (60, 4)
    assert (pair.true_ks, pair.table(2)) == ([2], None)
    assert pool.features is None
    assert (pool.table(4).labels.shape, pool.table(4).names) == ((60, 24), None)


def test_other_ways_to_write_the_same_numbers(folder) -> None:
    battery = folder / "battery"
    blobs = find_sets(folder)[0]
    X, fine = blobs.features, blobs.truths[0]
    for name, text in {
        "windows.data": "\r\n".join(" ".join(map(str, row)) for row in X),
        "windows.labels0": "\r\n".join(map(str, fine)) + "\r\n\r\n",
        "commas.data": "\n".join(",".join(f"{v:.9e}" for v in row) for row in X),
        "commas.labels0": "\n".join(f"{v:.3e}" for v in fine),
        "commas.result4": "a,b\r\n" + "\r\n".join(f"{v},{v}" for v in fine) + "\r\n\r\n",
    }.items():
        write_lines(battery / f"{name}.gz", [text, "", ""])
    for each in find_sets(folder)[1:3]:
        assert each.problem() is None
        np.testing.assert_allclose(each.features, X, rtol=1e-8)
        np.testing.assert_array_equal(each.truths[0], fine)
    assert find_sets(folder)[1].table(4).labels.shape == (60, 2)


def test_a_set_that_cannot_be_used_is_left_out_with_the_reason(folder, tmp_path, capsys) -> None:
    battery = folder / "battery"
    X = ["1 2", "3 4", "5 6"]
    for name, features, y in [
        ("short", X[:2], ["1", "1", "2"]),
        ("halves", X, ["1", "1.5", "2"]),
        ("noise", X, ["0", "0", "0"]),
        ("negative", X, ["-1", "1", "2"]),
        ("missing", [*X[:2], "nan 1"], ["1", "1", "2"]),
        ("text", [*X[:2], "a b"], ["1", "1", "2"]),
    ]:
        write_lines(battery / f"{name}.data.gz", features)
        write_lines(battery / f"{name}.labels0.gz", y)
    (battery / "broken.data.gz").write_bytes(b"no archive")
    write_lines(battery / "broken.labels0.gz", ["1", "2"])
    call = scoreboard.parse(arguments(folder, tmp_path / "records.jsonl", "--sets", "pair", "x"))
    assert {unit.name for unit in scoreboard.units(call)} == {"pair"}
    assert "x is not in" in capsys.readouterr().err
    call = scoreboard.parse(arguments(folder, tmp_path / "records.jsonl"))
    assert {unit.name for unit in scoreboard.units(call)} == {"battery/blobs", "pair", "pool"}
    lines = capsys.readouterr().err.splitlines()
    assert sorted(line.split(" is left out: ")[0] for line in lines) == [
        f"battery/{name}"
        for name in ("broken", "halves", "missing", "negative", "noise", "short", "text")
    ]
    assert "battery/short is left out: 2 rows of features for 3 labels" in lines


def test_a_method_that_does_not_exist_is_an_error(folder, tmp_path) -> None:
    for option in ("--methods", "--generators"):
        with pytest.raises(SystemExit):
            scoreboard.parse(arguments(folder, tmp_path / "records.jsonl", option, "nope"))


def test_noise_is_not_scored_and_the_best_labeling_counts(folder) -> None:
    blobs = find_sets(folder)[0]
    fine, coarse = blobs.truths
    labels = fine.copy()
    labels[:5] = 9
    assert blobs.score(labels)["ARI"] == 1.0
    assert blobs.score(coarse)["ARI"] == 1.0
    expected = adjusted_rand(fine[5:], coarse[5:])
    assert blobs.score(coarse, 4)["ARI"] == pytest.approx(expected, abs=1e-4)


def test_features_and_tables_at_the_true_k(folder, tmp_path) -> None:
    file = tmp_path / "records.jsonl"
    run_here(folder, file, "--k-rules", "true")
    records = read(file)
    cells = {(r["set"], r["source"], r["seed"], r["method"]): r for r in records}
    assert len(cells) == len(records)
    for method in ("ccgp", "eac"):
        for seed in (0, 1):
            assert cells["battery/blobs", "random_k", seed, method]["ARI"] > 0.9
            assert cells["battery/blobs", "table", seed, method]["ARI"] > 0.5
            assert cells["pair", "random_k", seed, method]["seconds"] > 0
            assert ("pool", "random_k", seed, method) not in cells
    assert cells["battery/blobs", "table", 0, "exact"]["ARI"] == 1.0
    assert cells["battery/blobs", "table", 0, "random"]["ARI"] < 0.2
    assert cells["battery/blobs", "random_k", 0, "ccgp"]["true_k"] == [2, 4]
    features, tables = boards(records)
    assert (features.title, features.sets) == (
        "features, at the true K",
        ["battery/blobs", "pair"],
    )
    assert (tables.title, tables.sets) == ("tables, at the true K", ["battery/blobs", "pool"])


def test_the_default_is_the_whole_estimator(tmp_path) -> None:
    folder, file = tmp_path / "sets", tmp_path / "records.jsonl"
    shapes.main([str(folder), "--seeds", "1", "--shapes", "lsun", "hepta"])
    sets = {each.name: each for each in find_sets(folder)}
    assert list(sets) == ["shapes/hepta-0", "shapes/lsun-0"]
    assert sets["shapes/lsun-0"].features.shape == (400, 2)
    assert sets["shapes/lsun-0"].table(3).names == [*shapes.other_labels(np.eye(30), 3, 0)]
    run_here(folder, file, "--k-rules", "true", "--seeds", "1", "--generators", DEFAULT)
    by_source = {(r["set"], r["source"], r["method"]): r["ARI"] for r in read(file)}
    for name in sets:
        assert by_source[name, DEFAULT, "ccgp"] > 0.95
        assert (name, DEFAULT, "eac") not in by_source  # the estimator has its own method
    features = boards(read(file))[0]
    assert [full_name(name) for name in features.contenders] == ["EnsembleClustering"]


@pytest.mark.parametrize("name", list(shapes.SHAPES))
def test_made_up_shapes(name) -> None:
    X, y = shapes.make(name, 0)
    assert np.isfinite(X).all()
    assert sorted(set(y)) == list(range(1, len(set(y)) + 1))
    assert 200 <= len(y) <= 3000
    assert not np.array_equal(X, shapes.make(name, 1)[0])


def test_a_scan_chooses_k_from_a_table_and_from_features(folder, tmp_path) -> None:
    file = tmp_path / "records.jsonl"
    run_here(
        folder, file, "--k-rules", "scan", "--seeds", "1", "--largest-k", "3", "--sets", "pair"
    )
    run_here(folder, file, "--k-rules", "scan", "--seeds", "1", "--sets", "pool")
    by_set = {r["set"]: r for r in read(file)}
    assert by_set["pool"]["k"] in (3, 4)
    assert by_set["pool"]["ARI"] > 0.4
    assert by_set["pair"]["k"] in (None, 2)
    assert by_set["pair"]["ARI"] == (0 if by_set["pair"]["k"] is None else 1)


def test_a_killed_run_continues(folder, tmp_path) -> None:
    whole, killed = tmp_path / "whole.jsonl", tmp_path / "killed.jsonl"
    options = ("--k-rules", "true", "--sets", "pair", "pool")
    run_here(folder, whole, *options)
    lines = whole.read_text().splitlines()
    killed.write_text("\n".join(lines[:3]) + "\n" + lines[3][:20])  # the kill cut a line
    run_here(folder, killed, *options)

    def without_seconds(file: Path) -> list[str]:
        return sorted(json.dumps({**r, "seconds": None}) for r in read(file))

    assert without_seconds(killed) == without_seconds(whole)
    before = killed.read_text()
    run_here(folder, killed, *options)
    assert killed.read_text() == before


def test_a_method_without_an_answer_has_the_score_of_one_cluster(folder, tmp_path) -> None:
    file = tmp_path / "records.jsonl"
    call = scoreboard.parse(arguments(folder, file, "--sets", "pair", "--k-rules", "true"))
    unit = scoreboard.units(call)[0]
    (record,) = scoreboard.run(type(unit)(**{**vars(unit), "methods": ("nonsense",)}))
    assert record["ARI"] == 0
    assert "nonsense" in record["failed"]
    assert boards([record])[0].n_failed.tolist() == [1]


def test_the_command_runs_in_processes_and_draws(folder, tmp_path) -> None:
    file, pictures = tmp_path / "records.jsonl", tmp_path / "pictures"
    options = ("--sets", "pair", "pool", "--k-rules", "true", "--pictures", str(pictures))
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.scoreboard", *arguments(folder, file, *options)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "features, at the true K: 1 sets" in done.stdout
    assert "random_k + ccgp" in done.stdout
    assert len(read(file)) == 2 * 2 * 2
    names = sorted(path.name for path in pictures.iterdir())
    assert names == ["features-at-the-true-k.svg", "tables-at-the-true-k.svg"]


def board(scores: list[list[float]]) -> Board:
    n_sets, n_contenders = np.shape(scores)
    zeros = np.zeros(n_contenders)
    return Board(
        "test",
        [f"c{j}" for j in range(n_contenders)],
        [f"s{i}" for i in range(n_sets)],
        np.asarray(scores, float),
        zeros,
        zeros.astype(np.int64),
    )


def test_ranks_wins_and_critical_difference(tmp_path) -> None:
    example = board([[0.9, 0.8, 0.8], [0.5, 0.6, 0.1], [0.7, 0.7, 0.2], [1.0, 0.4, 0.3]])
    np.testing.assert_allclose(example.ranks, [1.375, 1.75, 2.875])
    assert example.wins_and_losses(1, 0) == (1, 2)
    mean, error = example.difference(1, 0)
    differences = np.array([-0.1, 0.1, 0.0, -0.6])
    assert mean == pytest.approx(differences.mean())
    assert error == pytest.approx(differences.std(ddof=1) / 2)
    # Demsar (2006), Table 5: q = 2.343 for three contenders at the 5 % level
    assert example.critical_difference == pytest.approx(2.343 * np.sqrt(3 * 4 / (6 * 4)), abs=1e-3)
    assert 0 < example.friedman_p < 1
    draw(example, tmp_path / "picture.svg")
    assert "critical difference" in (tmp_path / "picture.svg").read_text()


def test_the_picture_of_the_docs_has_the_ranks_of_the_records() -> None:
    """`python -m benchmarks.scoreboard --show --pictures docs/images` draws it."""
    board = next(b for b in boards(read(RECORDS)) if b.title == "features, at the true K")
    picture = (ROOT / "docs" / "images" / "features-at-the-true-k.svg").read_text(encoding="utf-8")
    for name, rank in zip(board.contenders, board.ranks, strict=True):
        assert f">{full_name(name)}  {rank:.1f}<" in picture
    assert f"critical difference {board.critical_difference:.2f}" in picture


def test_cliques_are_the_longest_runs() -> None:
    assert cliques(np.array([1.0, 1.5, 2.5, 4.0]), 1.5) == [(0, 2), (2, 3)]
    assert cliques(np.array([1.0, 3.0]), 0.5) == []


def test_rules_for_the_number_of_clusters(tmp_path, monkeypatch, capsys) -> None:
    file = tmp_path / "records.jsonl"
    monkeypatch.setattr(_tables_of_k, "PLANTED", ("K_i = K",))
    monkeypatch.setattr(_tables_of_k, "NOISE_LABELS", ("missing labels",))
    for _ in range(2):
        choosing_k.main(["--seeds", "1", "--parts", "labels", "--records", str(file)])
        planted, noise = read(file)  # the second call adds nothing
    assert planted["scan"] == planted["true_k"] == _tables_of_k.planted("K_i = K", 0)[1]
    assert planted["silhouette"] == planted["true_k"]
    assert noise["scan"] is None
    assert all(noise[rule] is not None for rule in ("eigengap", "PAC", "delta area", "silhouette"))
    printed = capsys.readouterr().out
    assert "| scan_k | 100% |  | 0.00 | 0 of 1 |" in printed
    assert "| silhouette | 100% | +0% ± 0% | 0.00 | 1 of 1 |" in printed
    alarms = false_alarms(read(file), "labels")
    assert "| all | 1 | 0 (0.0%, 95 % interval 0.0% to 97.5%) |" in alarms


def test_differences_of_rules_are_paired() -> None:
    records = [{"part": "labels", "true_k": 3, **dict.fromkeys(RULES, 3)} for _ in range(4)]
    records[0]["scan"] = records[1]["PAC"] = records[2]["PAC"] = 4
    line = next(line for line in table(records, "labels").splitlines() if "PAC" in line)
    # differences +1, -1, -1, 0: mean -1/4, deviation sqrt(11)/4, over the root of 4
    assert line == "| PAC | 50% | -25% ± 41% | 0.50 |"


def test_right_answers_with_and_without_clusters_have_equal_weights() -> None:
    records = [
        {"part": part, "true_k": k, **dict.fromkeys(RULES, k)}
        for part in ("labels", "features", "shapes")
        for k in (2, 3, None)
    ]
    records[0]["PAC"] = 4  # one of two with clusters
    for record in records:
        if record["true_k"] is None:
            record["lifetime"] = 2
    records.append({"part": "labels", "true_k": None, "scan": 5})  # without the other rules
    printed = together(records)
    assert "| scan | 100.0% | 83.3% | 91.7% |" in printed
    assert "| PAC | 83.3% | 100.0% | 91.7% |" in printed
    assert "| lifetime | 100.0% | 0.0% | 50.0% |" in printed


def test_words_on_noise_count_every_scan() -> None:
    records = [
        {"part": part, "true_k": true_k, "scan": scan}
        for part, true_k, scan in [
            ("labels", None, None),
            ("labels", None, 2),
            ("labels", 3, 3),
            ("labels", 3, None),
            ("features", None, None),
            ("shapes", None, None),
            ("default", None, 4),
        ]
    ]
    text = alarm_words(records)
    assert "by `scan_k` in 1 of 2 (95 % interval up to 98.7%); `scan_k_features`" in text
    assert "`EnsembleClustering()` in 1 of 1 " in text
    assert "in 1 of 2 tables with planted clusters" in text


def test_names_of_contenders() -> None:
    assert full_name("landmark_spectral + medianpartition") == "LandmarkSpectral + MedianPartition"
    assert full_name("scikit-learn + KMeans") == "scikit-learn: KMeans"
    assert [full_name(name) for name in ("sec", "voting", "genie_0.3")] == [
        "SEC",
        "Voting",
        "genie_0.3",
    ]


def test_the_number_that_the_default_chooses(tmp_path, monkeypatch, capsys) -> None:
    file = tmp_path / "records.jsonl"
    monkeypatch.setattr(choosing_k, "by_default", lambda X, k, seed: {"true_k": k, "scan": k})
    choosing_k.main(["--seeds", "1", "--parts", "default", "--records", str(file)])
    kinds = 4 + len(_tables_of_k.SHAPES) + len(_tables_of_k.NOISE_FEATURES)  # blobs, many: 2 each
    assert len(read(file)) == kinds
    assert "| blobs | 2 | 2 | 0 | 0.00 |" in capsys.readouterr().out
    wrong = [
        {"part": "default", "kind": "planted: moons", "true_k": 2, "scan": s} for s in (None, 4)
    ]
    assert "| moons | 2 | 0 | 1 | 1.50 |" in by_kind(wrong, "default")


def test_the_number_of_topics_that_the_default_chooses(tmp_path, monkeypatch, capsys) -> None:
    counts = _texts_of_k.topics(4, 0)[0]
    real = SimpleNamespace(X=counts, n_classes=5)
    monkeypatch.setattr(choosing_k.datasets, "load", lambda name, folder: real)
    file = tmp_path / "records.jsonl"
    seen = []

    def by_default(X, k, seed):
        seen.append(X)
        return {"true_k": k, "scan": None if k == 5 else k}

    monkeypatch.setattr(choosing_k, "by_default", by_default)
    monkeypatch.setattr(_texts_of_k, "TEXTS", ("tr11",))
    call = ["--folder", str(tmp_path), "--seeds", "1", "--records", str(file)]
    choosing_k.main([*call, "--parts", "texts", "real texts"])
    assert all(X.format == "csr" and X.data.min() > 0 for X in seen)
    printed = capsys.readouterr().out
    assert "| 4 topics | 1 | 1 | 0 | 0.00 |" in printed
    n_kinds = len(_texts_of_k.NOISE_TEXTS)
    assert f"| all | {n_kinds} | 0 (0.0%" in printed
    n, d = counts.shape
    assert f"| tr11 | {n} | {d} | 5 | no structure |" in printed


@pytest.mark.parametrize("n_topics", _texts_of_k.TOPICS)
def test_texts_with_topics_have_more_directions(n_topics) -> None:
    """The second singular value is a larger share of the first than in texts about one topic."""

    def share(X):
        values = svds(normalize(X), 2, return_singular_vectors=False, random_state=0)
        return values.min() / values.max()

    X = _texts_of_k.topics(n_topics, 1)[0]
    assert X.shape[0] >= 30 * n_topics
    assert share(X) > share(_texts_of_k.one_topic("varied lengths", 1))


def test_the_gap_statistic_finds_blobs_and_one_cluster() -> None:
    X, _ = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], cluster_std=0.5, random_state=0)

    def box(rng):
        return rng.uniform(X.min(axis=0), X.max(axis=0), X.shape)

    assert gap_statistic(X, box, range(2, 6), 0) == 3
    uniform = np.random.default_rng(0).uniform(size=(90, 2))
    assert gap_statistic(uniform, lambda rng: rng.uniform(size=(90, 2)), range(2, 6), 0) is None


@pytest.mark.parametrize("kind", _tables_of_k.NOISE_FEATURES)
def test_noise_features_are_finite(kind) -> None:
    X = _tables_of_k.noise_features(kind, 0)
    assert np.isfinite(X).all()
    assert 100 <= len(X) <= 1000


@pytest.mark.parametrize("kind", [*design_of_k.CLUSTERS, *design_of_k.NOISE])
def test_shapes_of_the_design_are_finite_and_not_those_of_the_tables(kind) -> None:
    is_noise = kind in design_of_k.NOISE
    X = design_of_k.noise(kind, 0) if is_noise else design_of_k.clusters(kind, 0)[0]
    assert np.isfinite(X).all()
    assert 100 <= len(X) <= 1000
    if kind in _tables_of_k.SHAPES:
        assert not np.isin(X, _tables_of_k.shapes(kind, 0)[0]).any()
    if kind in _tables_of_k.NOISE_FEATURES:
        assert not np.isin(X, _tables_of_k.noise_features(kind, 0)).any()


@pytest.mark.parametrize("kind", THIN_SHAPES)
def test_thin_shapes_are_finite_and_differ_by_seed(kind) -> None:
    X = thin_shape(kind, 0)
    assert np.isfinite(X).all()
    assert 100 <= len(X) <= 400
    np.testing.assert_array_equal(X, thin_shape(kind, 0))
    assert not np.isin(X, thin_shape(kind, 1)).any()


def test_structure_in_thin_shapes_is_counted_with_and_without_valleys() -> None:
    record = {"part": "thin", "true_k": None}
    records = [
        record | {"kind": "noise: arc", "scan": None, "rejected": 3, "default": None},
        record | {"kind": "noise: arc", "scan": 4, "rejected": None, "default": 4},
        record | {"kind": "noise: ring", "scan": None, "rejected": None, "default": 2},
    ]
    lines = thin_table([*records, {"part": "labels"}]).split("\n")
    assert lines[2:4] == ["| arc | 2 | 2 | 1 | 1 |", "| ring | 1 | 0 | 0 | 1 |"]
    assert lines[4].startswith("| all | 3 | 2 (66.7%, 95 % interval")


def test_the_record_of_a_thin_shape_has_both_scans(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(choosing_k, "THIN_SHAPES", ("arc",))
    file = tmp_path / "records.jsonl"
    choosing_k.main(["--seeds", "1", "--parts", "thin", "--records", str(file)])
    (made,) = read(file)
    assert {"scan", "rejected", "default"} < made.keys()
    assert made["scan"] is None or made["rejected"] is None
    assert "| arc | 1 |" in capsys.readouterr().out


def test_the_design_continues_its_records(tmp_path, capsys) -> None:
    file = tmp_path / "records.jsonl"
    options = ["--seeds", "1", "--kinds", "linked rings", "ball", "--records", str(file)]
    for _ in range(2):
        design_of_k.main(options)
        assert [r["true_k"] for r in read(file)] == [2, None]
    printed = capsys.readouterr().out
    assert "| linked rings | 1 | 1 | 0 | 0.00 |" in printed
    assert "| ball | 1 | 0 |" in printed


# -- calibration -----------------------------------------------------------------------------------


def test_values_are_counted_by_tenths_with_those_that_keep_their_cluster() -> None:
    values = np.array([0.0, 0.05, 0.3, 0.95, 1.0, np.nan])
    kept = np.array([True, False, True, True, True, True])
    samples, same = calibration.count(values, kept)
    assert samples == [2, 0, 0, 1, 0, 0, 0, 0, 0, 2]
    assert same == [1, 0, 0, 1, 0, 0, 0, 0, 0, 2]


def test_halves_of_clear_partitions_keep_every_sample() -> None:
    table, k = calibration.ensemble("planted, noise 0.3", "labels", 10, "ccgp", 0)
    record = calibration.compare_halves(table, k, "ccgp", 0)
    samples, same = record["repeatability"]
    assert sum(samples) == len(table)
    assert sum(same) > 0.95 * len(table)


def test_the_records_say_that_a_majority_below_one_half_changes() -> None:
    samples, kept = calibration.total(read(calibration.RECORDS), "repeatability")
    assert kept[:5].sum() < 0.5 * samples[:5].sum()
    assert np.all(np.diff((kept / samples)[4:]) > -0.05)  # more repeatable, more often kept


# -- the default and LWGP --------------------------------------------------------------------------


def test_both_methods_fuse_the_same_draws(tmp_path, capsys) -> None:
    file = tmp_path / "records.jsonl"
    arguments = ["--sets", "iris", "--draws", "2", "--records", str(file)]
    assert against_lwgp.main(arguments) == 0
    first = read(file)
    assert [record["protocol"] for record in first] == list(against_lwgp.PROTOCOLS)
    assert all(len(record["ccgp"]) == len(record["lwgp"]) == 2 for record in first)
    assert against_lwgp.main(arguments) == 0
    assert read(file) == first  # the same call adds nothing
    assert "On 3 ensembles" in capsys.readouterr().out


def test_ensembles_on_which_the_default_loses_are_named() -> None:
    def record(name: str, difference: float) -> dict[str, object]:
        lwgp = np.array([0.5, 0.6])
        scores = {"ccgp": (lwgp + difference + [-0.01, 0.01]).tolist(), "lwgp": lwgp.tolist()}
        return {"set": name, "protocol": "K", **scores}

    text = against_lwgp.words([record("worse", -0.03), record("equal", -0.01), record("up", 0.04)])
    assert "above `LWGP` on 1 of them and more than 0.02 below on 1." in text
    assert "worse, K: -0.030 ± 0.010." in text
    assert "equal" not in text


def test_open_cases_get_more_draws(tmp_path, monkeypatch) -> None:
    def compare(dataset: object, protocol: str, n_draws: int) -> dict[str, object]:
        wide, narrow = [-0.3, 0.26] * (n_draws // 2), [-0.01, 0.01] * (n_draws // 2)
        ccgp = wide if protocol == "K" else narrow
        return {"set": "iris", "protocol": protocol, "ccgp": ccgp, "lwgp": [0.0] * n_draws}

    monkeypatch.setattr(against_lwgp, "compare", compare)
    file = tmp_path / "records.jsonl"
    arguments = ["--sets", "iris", "--draws", "20", "--records", str(file)]
    assert against_lwgp.main(arguments) == 0
    n_draws = {r["protocol"]: len(r["ccgp"]) for r in against_lwgp.latest(read(file))}
    assert n_draws == {"2..sqrt n": 20, "K..sqrt n": 20, "K": 200}
    assert "1 of them has 200 draws, the others 20." in against_lwgp.words(read(file))
    before = file.read_text()
    assert against_lwgp.main(arguments) == 0
    assert file.read_text() == before
