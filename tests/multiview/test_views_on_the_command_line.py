"""`partita generate` and `partita fuse --features`: several files of features, joined by id."""

from __future__ import annotations

import csv
import io
import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from partita import adjusted_rand
from partita.cli import app
from partita.exceptions import PartitaWarning

N = 60
Y = np.repeat([0, 1, 2], N // 3)
IDS = [f"s{i}" for i in range(N)]
RNG = np.random.default_rng(0)
PIXEL = RNG.normal(3 * Y[:, None], 0.5, (N, 6)).round(3)
SHAPE = RNG.normal(-5 * Y[:, None], 0.5, (N, 4)).round(3)


def write_view(path: Path, matrix, rows, *, ids: bool = True) -> str:
    lines = [[IDS[i], *matrix[i]] if ids else [*matrix[i]] for i in rows]
    header = [f"x{j}" for j in range(matrix.shape[1])]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["id", *header] if ids else header, *lines])
    return str(path)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Two partial views in different orders; s0..s4 are only in the second, s55.. in the first."""
    return [
        write_view(tmp_path / "pixel.csv", PIXEL, range(5, N)),
        write_view(tmp_path / "shape.csv", SHAPE, range(N - 6, -1, -1)),
    ]


@pytest.fixture
def partita(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str):
        with warnings.catch_warnings():
            warnings.simplefilter("default", PartitaWarning)
            return CliRunner().invoke(app, arguments)

    return run


def truth_of(ids):
    return [Y[IDS.index(i)] for i in ids]


def test_generate_joins_files_by_id(partita, files):
    done = partita("generate", *files, "-i", "id", "-k", "3", "-n", "4")
    assert done.exit_code == 0, done.stderr
    rows = {row["id"]: row for row in csv.DictReader(io.StringIO(done.stdout))}
    assert set(rows) == set(IDS)
    names = [f"{view}/{i}" for view in ("pixel", "shape") for i in range(1, 5)]
    assert list(rows["s10"]) == ["id", *names]
    for i, sample in enumerate(IDS):
        assert [bool(rows[sample][name]) for name in names] == [i >= 5] * 4 + [i < N - 5] * 4
    assert "8 partitions of 60 samples, 3 clusters each" in done.stderr


def test_generate_then_fuse_and_diagnose(partita, files):
    assert partita("generate", *files, "-i", "id", "-k", "3", "-o", "p.csv").exit_code == 0
    done = partita("fuse", "p.csv", "-i", "id", "-k", "3", "-o", "c.csv", "-m", "sec")
    assert done.exit_code == 0, done.stderr
    done = partita("diagnose", "p.csv", "c.csv", "-i", "id")
    assert "other views" in done.stdout
    done = partita("diagnose", "p.csv", "c.csv", "-i", "id", "--json")
    views = json.loads(done.stdout)["views"]
    assert [(view["view"], view["n_partitions"]) for view in views] == [
        ("pixel", 20),
        ("shape", 20),
    ]
    assert views[0]["labeled"] == pytest.approx(55 / 60)


@pytest.mark.parametrize("k", ["3", "2:4"])
def test_fuse_takes_features_of_several_views(partita, files, k):
    done = partita("fuse", *files, "--features", "-i", "id", "-k", k, "--json")
    assert done.exit_code == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["n_clusters"] == 3
    assert record["n_partitions"] == 40
    assert sorted(record["ids"]) == sorted(IDS)
    assert adjusted_rand(truth_of(record["ids"]), record["labels"]) == 1
    assert [view["disagrees"] for view in record["views"]] == [False, False]


def test_fuse_names_a_view_that_disagrees(partita, files, tmp_path):
    noise = write_view(tmp_path / "noise.csv", RNG.normal(size=(N, 5)).round(3), range(N))
    done = partita("fuse", *files, noise, "--features", "-i", "id", "-k", "3", "-r", "r.json")
    assert done.exit_code == 0, done.stderr
    assert "views that disagree with the consensus: noise" in done.stderr
    report = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert report["views"]["rows"][0]["view"] == "noise"


def test_files_without_ids_are_joined_by_order(partita, tmp_path):
    whole = [
        write_view(tmp_path / "a.csv", PIXEL, range(N), ids=False),
        write_view(tmp_path / "b.csv", SHAPE, range(N), ids=False),
    ]
    done = partita("fuse", *whole, "--features", "-k", "3", "--json")
    assert done.exit_code == 0, done.stderr
    assert adjusted_rand(Y, json.loads(done.stdout)["labels"]) == 1


def test_one_file_of_features(partita, files):
    done = partita("fuse", files[0], "--features", "-i", "id", "-k", "3", "--json")
    assert done.exit_code == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["n_partitions"] == 100
    assert record["views"] == []
    assert adjusted_rand(truth_of(record["ids"]), record["labels"]) == 1


def test_two_files_of_one_name_keep_their_folders(partita, files, tmp_path):
    (tmp_path / "other").mkdir()
    second = write_view(tmp_path / "other" / "pixel.csv", SHAPE, range(N))
    done = partita("generate", files[0], second, "-i", "id", "-k", "3", "-n", "1")
    assert next(csv.reader(io.StringIO(done.stdout)))[1:] == [f"{files[0]}/1", f"{second}/1"]


def test_refused_in_words(partita, files, tmp_path):
    done = partita("fuse", *files, "-i", "id", "-k", "3")
    assert done.exit_code != 0
    assert "got 2 files. If they are tables of features, add --features" in done.output
    anonymous = tmp_path / "anonymous.csv"
    anonymous.write_text(",x\na,1\nb,2\n", encoding="utf-8")  # a first column without a name: ids
    plain = write_view(tmp_path / "plain.csv", PIXEL, range(2), ids=False)
    done = partita("generate", str(anonymous), plain, "-k", "2")
    assert "has no ids of samples and another file has" in done.output
    done = partita("generate", "-", "-", "-k", "2")
    assert "Only one of the files can be stdin" in done.output
