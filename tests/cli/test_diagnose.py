"""`partita diagnose` shows the result of `partita.diagnose`."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planted import IDS, LABELS, TRUTH, write_csv

from partita import diagnose

RUNS = ("--id-column", "sample", "--columns", "run_*")


@pytest.fixture
def consensus(tmp_path: Path) -> Path:
    """The planted clusters in reverse order, to be matched by id."""
    columns = {"sample": IDS[::-1], "other": [0] * 60, "consensus": TRUTH[::-1].tolist()}
    return write_csv(tmp_path / "consensus.csv", columns)


def without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_nan(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_nan(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def test_json_is_the_dictionary_of_the_diagnosis(partita, labels: Path, consensus: Path) -> None:
    done = partita("diagnose", str(labels), str(consensus), *RUNS, "--json")
    assert done.exit_code == 0, done.stderr
    record = json.loads(done.stdout)
    expected = diagnose(LABELS, TRUTH).to_dict()
    names = [f"run_{i}" for i in range(10)]
    assert [row.pop("partition") for row in record["partitions"]] == names
    assert record.pop("best_partition") == names[expected.pop("best_partition")]
    for row in expected["partitions"]:
        del row["partition"]
    assert record == without_nan(expected)


def test_tables_and_summary(partita, labels: Path, consensus: Path) -> None:
    done = partita("diagnose", str(labels), str(consensus), *RUNS)
    assert done.exit_code == 0, done.stderr
    diagnosis = diagnose(LABELS, TRUTH)
    for heading in ("cohesion", "stability", "NMI", "ARI", "bad"):
        assert heading in done.stdout
    for i, agreement in enumerate(diagnosis.agreement):
        assert f"run_{i}" in done.stdout
        assert f"{agreement:.3f}" in done.stdout
    assert "60 samples in 3 clusters, 10 partitions" in done.stdout
    assert f"mean confidence {diagnosis.mean_confidence:.3f}" in done.stdout
    assert "at least as good as the best partition with about as many clusters, run_" in done.stdout


def test_one_is_singular(partita, tmp_path: Path) -> None:
    np.save(tmp_path / "partitions.npy", [[0], [0], [1], [1]])
    np.save(tmp_path / "consensus.npy", [0, 0, 0, 0])
    done = partita("diagnose", "partitions.npy", "consensus.npy")
    assert "4 samples in 1 cluster, 1 partition\n" in done.stdout


def test_a_worse_consensus_is_reported(partita, labels: Path) -> None:
    write_csv(Path("worse.csv"), {"sample": IDS, "labels": [i % 3 for i in range(60)]})
    done = partita("diagnose", str(labels), "worse.csv", *RUNS)
    assert done.exit_code == 0, done.stderr
    assert "worse than the best partition" in done.stdout


def test_the_column_of_the_labels_can_be_named(partita, labels: Path, consensus: Path) -> None:
    done = partita("diagnose", str(labels), str(consensus), *RUNS, "--labels-column", "other",
                   "--json")  # fmt: skip
    assert json.loads(done.stdout)["n_clusters"] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["labels.csv", "nothing.csv"], "No file 'nothing.csv'"),
        (["labels.csv", "labels.csv"], "several columns"),
        (["labels.csv", "labels.csv", "--labels-column", "y"], "no column 'y'"),
    ],
)
def test_a_mistake_is_one_line(partita, labels: Path, arguments: list[str], message: str) -> None:
    done = partita("diagnose", *arguments, *RUNS)
    assert done.exit_code == 2, done.exception
    assert done.stdout == ""
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
