"""The comparison with other libraries runs, and is honest about what did not."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def compared(tmp_path):
    def run(*options: str) -> dict[tuple[str, int], dict[str, object]]:
        file = tmp_path / "records.json"
        command = [sys.executable, "-m", "benchmarks.compare", "--m", "6", "--methods", "eac"]
        done = subprocess.run(
            [*command, "--records", str(file), *options], cwd=ROOT, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return {(r["library"], r["n"]): r for r in json.loads(file.read_text())["records"]}

    return run


def test_methods_and_their_peers_are_measured_and_absent_ones_skipped(compared) -> None:
    records = compared("--n", "200")
    for library in ("partita", "scikit-learn"):
        record = records[library, 200]
        assert record["did_not_finish_because"] is None
        assert record["seconds"] > 0
        assert record["cpu_seconds"] > 0
        assert record["ari"] > 0.2
    peer = records["consensusclustering", 200]
    if find_spec("consensusclustering") is None:
        assert peer["skipped"] == "ModuleNotFoundError: No module named 'consensusclustering'"
        assert peer["seconds"] is None
    else:
        assert peer["ari"] > 0.2


def test_limits_are_reasons_and_spare_the_larger_sizes(compared) -> None:
    records = compared("--n", "300", "200", "--gigabytes", "0.001")
    for library in ("partita", "scikit-learn"):
        why = records[library, 200]["did_not_finish_because"]
        assert why == "more than 0.001 GB, importing and warming up"
        assert records[library, 200]["ari"] is None
        assert records[library, 300]["did_not_finish_because"] == (
            "not run: passed a limit at n = 200, m = 6"
        )


def test_records_are_kept_and_measured_again_only_if_asked(compared) -> None:
    first = compared("--n", "200")["partita", 200]
    both = compared("--n", "200", "300", "--resume")
    assert both["partita", 200] == first
    assert both["partita", 300]["seconds"] > 0
    again = compared("--n", "200")
    assert again["partita", 200]["seconds"] != first["seconds"]
    assert again["partita", 300] == both["partita", 300]
