"""The records of generators have the estimator as it is called, beside the generators."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from sklearn.datasets import make_blobs

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]  # no part of the package

import generators_table  # noqa: E402
from benchmarks.generators import __main__ as generators  # noqa: E402
from benchmarks.json_lines import read, write  # noqa: E402

X, Y = make_blobs(60, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)


@pytest.fixture
def records(monkeypatch, tmp_path):
    """Return the records of one set by k-means and by the estimator, and keep them in a file."""
    monkeypatch.setattr(generators, "load", lambda name: (X, Y))
    wanted = {"RandomK", generators.DEFAULT}
    made = [
        record
        for scale in ("none", "standard")
        for record in generators.make_records("blobs", scale, 0, wanted)
    ]
    folder = tmp_path / "benchmarks" / "generators"
    folder.mkdir(parents=True)
    write(folder / "records.jsonl", made)
    monkeypatch.setattr(generators_table, "ROOT", tmp_path)
    return made


def test_the_estimator_is_recorded_once_with_its_own_scale_and_method(records) -> None:
    (own,) = (r for r in records if r["generator"] == "EnsembleClustering")
    assert (own["scale"], own["is_automatic"], own["method"]) == ("none", True, "CCGP")
    assert own["ARI"] == 1.0
    assert own["fit_seconds"] > 0
    assert {r["scale"] for r in records if r["generator"] == "RandomK"} == {"none", "standard"}
    kept = read(generators_table.ROOT / "benchmarks" / "generators" / "records.jsonl")
    assert kept == records


def test_the_table_has_the_estimator_where_it_belongs(records, monkeypatch) -> None:
    monkeypatch.setattr(generators_table, "GENERATORS", ("RandomK",))
    lines = generators_table.sets_table().splitlines()
    assert lines[0].endswith("| RandomK | EnsembleClustering |")
    assert lines[2] == "| blobs | 60 | 2 | 3 | design | no | **1.000** | **1.000** |"
    without = [{**r, "set": "other"} for r in records if r["generator"] == "RandomK"]
    monkeypatch.setattr(generators_table, "read", lambda _: [*records, *without])
    assert generators_table.sets_table().splitlines()[0].endswith("| RandomK |")
    means = generators_table.means_table()
    assert "EnsembleClustering" not in means
    monkeypatch.setattr(generators_table, "read", lambda _: [*records, *_as_set(records, "other")])
    rows = [line.split(" | ") for line in generators_table.means_table().splitlines()[2:]]
    shown = {(row[1], row[2]): row[-1] for row in rows}
    assert shown["auto", "CCGP"] == "**1.000** |"
    assert {place for place, cell in shown.items() if cell != " |"} == {("auto", "CCGP")}


def _as_set(records, name):
    return [{**record, "set": name} for record in records]
