"""Shuffled columns of real sets: what is shuffled, and what the table counts."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the benchmarks are no part of the package

from benchmarks.json_lines import read  # noqa: E402
from benchmarks.scoreboard import _real_data, choosing_k  # noqa: E402
from benchmarks.scoreboard._tables import shuffled_table  # noqa: E402


def test_columns_keep_their_values_and_lose_their_agreement() -> None:
    column = np.arange(300)
    table = _real_data.shuffled(np.column_stack([column, column, -column]), 0)
    np.testing.assert_array_equal(np.sort(table, axis=0)[:, :2], np.column_stack([column, column]))
    assert np.abs(np.corrcoef(table.T)[np.triu_indices(3, 1)]).max() < 0.2
    other = _real_data.shuffled(np.column_stack([column, column]), 1)
    assert not np.array_equal(table[:, 0], other[:, 0])


def test_records_are_made_by_every_scan_and_continued(tmp_path, monkeypatch, capsys) -> None:
    rng = np.random.default_rng(0)
    two = np.repeat([0, 1], 30)
    points = np.column_stack([two * 9 + rng.normal(size=60), two * 9 + rng.normal(size=60)])
    labels = np.repeat(two[:, None], 8, axis=1)
    monkeypatch.setattr(_real_data, "REAL", ("iris",))
    monkeypatch.setattr(_real_data, "GENERATORS", ("LandmarkSpectral",))
    monkeypatch.setattr(_real_data, "partitions_of", lambda *_: (labels, 2))
    monkeypatch.setattr(_real_data, "dense_sets", lambda *_: iter([("pair", points, 2)]))
    seen = []
    monkeypatch.setattr(
        _real_data, "_scanned", lambda scan, X, seed: seen.append((scan, X, seed)) or 3
    )
    file = tmp_path / "records.jsonl"
    call = ["--parts", "shuffled", "--seeds", "5", "--records", str(file), "--folder", "."]
    choosing_k.main(call)
    choosing_k.main(call)
    records = read(file)
    assert len(records) == choosing_k.SHUFFLES * (1 + len(_real_data.SCANS))
    assert all(record["true_k"] is None for record in records)
    assert [r["scan"] for r in records if r["kind"].startswith("scan_k: ")] == [None, None]
    assert {(scan, seed) for scan, _, seed in seen} == {
        (scan, seed) for scan in _real_data.SCANS for seed in (0, 1)
    }
    for _, X, seed in seen:
        np.testing.assert_array_equal(X, _real_data.shuffled(points, seed))
    printed = capsys.readouterr().out
    assert "| scan_k | 2 | 0 (0.0%, 95 % interval 0.0% to 84.2%) |  |" in printed
    assert "| EnsembleClustering() | 2 | 2 (100.0%" in printed


def test_the_table_names_the_sets_with_structure() -> None:
    suggestions = {"a": 2, "b": None, "c": 3}
    records = [
        {"part": "shuffled", "kind": f"scan_k: {name}", "seed": seed, "scan": scan}
        for seed in (0, 1)
        for name, scan in suggestions.items()
    ]
    records[-1]["scan"] = None
    line = shuffled_table(records).splitlines()[-1]
    assert line == "| scan_k | 6 | 3 (50.0%, 95 % interval 11.8% to 88.2%) | a (2), c (1) |"
