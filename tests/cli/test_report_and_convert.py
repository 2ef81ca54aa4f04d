"""Reports of a consensus, and labels from one kind of file to another."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from planted import IDS, LABELS, TRUTH

from partita.diagnostics import diagnose
from partita.ensemble import Ensemble, _ensemble
from partita.fusion import _fusing
from partita.io import LabelStore, read_labels
from partita.reporting import _summary

RUNS = ("--id-column", "sample", "--columns", "run_*")


def test_fuse_writes_a_report(partita, labels: Path) -> None:
    done = partita("fuse", str(labels), "-k", "3", *RUNS, "-o", "out.csv", "--report", "page.html")
    assert done.exit_code == 0, done.stderr
    assert "wrote out.csv and page.html" in done.stderr
    page = Path("page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "run_3" in page
    assert "CCGP" in page


def test_fuse_with_a_report_computes_everything_once(
    partita, labels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    diagnosed, reduced = [], []
    monkeypatch.setattr(_fusing, "diagnose", lambda *a: diagnosed.append(a) or diagnose(*a))
    monkeypatch.setattr(_summary, "diagnose", lambda *a: diagnosed.append(a) or diagnose(*a))
    compress = _ensemble.compress
    monkeypatch.setattr(_ensemble, "compress", lambda e: reduced.append(e) or compress(e))
    done = partita("fuse", str(labels), "-k", "3", *RUNS, "-o", "out.csv", "--report", "page.html")
    assert done.exit_code == 0, done.stderr
    assert len(diagnosed) == 1
    # the ensemble, and the samples on which the partitions are compared to find modes
    assert [e.n_samples for e in reduced] == [60, 60]


def test_report_of_a_consensus_in_another_order(partita, labels: Path) -> None:
    partita("fuse", str(labels), "-k", "3", *RUNS, "-o", "out.csv")
    lines = Path("out.csv").read_text(encoding="utf-8").splitlines()
    Path("mixed.csv").write_text("\n".join([lines[0], *lines[:0:-1]]) + "\n", encoding="utf-8")
    summaries = []
    for consensus in ("out.csv", "mixed.csv"):
        done = partita("report", str(labels), consensus, *RUNS, "-o", "page.json", "--json",
                       "--truth-column", "truth", "--title", "Mine")  # fmt: skip
        assert done.exit_code == 0, done.stderr
        summaries.append(json.loads(done.stdout))
        assert Path("page.json").exists()
    assert summaries[0]["title"] == "Mine"
    assert summaries[0]["clusters"] == summaries[1]["clusters"]
    assert summaries[0]["scores"] is not None


@pytest.mark.parametrize("target", ["labels.parquet", "labels.tsv", "folder"])
def test_convert_keeps_ids_and_labels(partita, labels: Path, target: str) -> None:
    done = partita("convert", str(labels), target, *RUNS, "--json")
    assert done.exit_code == 0, done.stderr
    record = json.loads(done.stdout)
    assert record == {
        "target": record["target"],
        "n_samples": 60,
        "n_partitions": 10,
        "has_sample_ids": True,
    }
    if target == "folder":
        back = LabelStore.open(target).to_ensemble()
        assert [str(i) for i in back.sample_ids] == IDS
        np.testing.assert_array_equal(back.codes, Ensemble.from_partitions(LABELS).codes)
    else:
        table = read_labels(target, id_column="sample")
        assert table.ids.tolist() == IDS
        np.testing.assert_array_equal(np.column_stack(list(table.columns.values())), LABELS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["fuse", "labels.csv", "-k", "3", *RUNS, "--report", "page.pdf"],
            "must end in one of .html",
        ),
        (["fuse", "labels.csv", "-k", "3", *RUNS, "--report", "no/page.html"], "No folder"),
        (["report", "labels.csv", "nothing.csv", *RUNS], "No file 'nothing.csv'"),
        (["report", "labels.csv", "labels.csv", *RUNS], "several columns"),
        (["convert", "nothing.csv", "out.parquet"], "nothing.csv"),
        (["convert", "labels.csv", "out.docx"], "out.docx"),
    ],
)
def test_a_mistake_is_one_line(partita, labels: Path, arguments: list[str], message: str) -> None:
    done = partita(*arguments)
    assert done.exit_code == 2, done.exception
    assert done.stdout == ""
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_report_compares_methods_and_names_features(partita, labels: Path) -> None:
    assert partita("fuse", str(labels), "-k", "3", *RUNS, "-o", "out.csv").exit_code == 0
    rows = [f"{sample},{i},{i % 7}" for i, sample in enumerate(IDS)]
    lines = ["sample,length,width", *reversed(rows)]  # matched by id, not by order
    Path("features.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = partita(
        "report", str(labels), "out.csv", *RUNS, "-o", "page.json", "--compare", "eac",
        "--compare", "ccgp", "--features", "features.csv", "--scan", "2:4", "--hierarchy",
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    summary = json.loads(Path("page.json").read_text(encoding="utf-8"))
    assert [row["method"] for row in summary["methods"]["rows"]] == ["eac", "ccgp"]
    assert all(row["n_clusters"] == 3 for row in summary["methods"]["rows"])
    assert "length: " in summary["profiles"]["rows"][0]["features"]
    assert [row["k"] for row in summary["numbers"]["rows"]] == [2, 3, 4]
    assert summary["hierarchy"]["rows"]


def test_report_names_categories(partita, labels: Path) -> None:
    assert partita("fuse", str(labels), "-k", "3", *RUNS, "-o", "out.csv").exit_code == 0
    colors = ["red", "green", ""]  # one per cluster, the last is missing
    rows = [f"{x},{i},{colors[TRUTH[i]]},note {i}" for i, x in enumerate(IDS)]
    Path("a.csv").write_text("\n".join(["sample,length,color,note", *rows]) + "\n", "utf-8")
    command = ("report", str(labels), "out.csv", *RUNS, "-o", "page.json", "--features", "a.csv")
    done = partita(*command)
    assert done.exit_code == 0, done.stderr
    table = json.loads(Path("page.json").read_text(encoding="utf-8"))["profiles"]
    texts = " ".join(row["features"] for row in table["rows"])
    assert "color = red: 100%" in texts
    assert "length: " in texts
    assert "Left out as identifiers: note." in table["help"]
    done = partita(*command, "--feature-columns", "color")
    table = json.loads(Path("page.json").read_text(encoding="utf-8"))["profiles"]
    assert "length" not in " ".join(row["features"] for row in table["rows"])


def test_text_among_numbers_is_no_category(partita, labels: Path) -> None:
    assert partita("fuse", str(labels), "-k", "3", *RUNS, "-o", "out.csv").exit_code == 0
    rows = [f"{x},{'?' if i == 5 else i}" for i, x in enumerate(IDS)]
    Path("a.csv").write_text("\n".join(["sample,length", *rows]) + "\n", "utf-8")
    done = partita("report", str(labels), "out.csv", *RUNS, "--features", "a.csv")
    assert done.exit_code == 2
    assert "column 'length' has '?' in row 6" in done.stderr
