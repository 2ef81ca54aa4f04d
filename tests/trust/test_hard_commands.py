"""Every command on hard files: a result, or one sentence and exit code 1 or 2; no traceback."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from hard_tables import HARD_TABLES
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from partita.cli import app
from tried_cases import count_case, examples

pytestmark = [
    pytest.mark.properties,
    pytest.mark.filterwarnings("ignore::partita.exceptions.PartitaWarning"),
]


def run(*arguments: object) -> int:
    """Run a command and return its exit code; anything but a plain message is a failure."""
    count_case()
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    note = f"partita {' '.join(map(str, arguments))}\n{result.output}\n{result.exception!r}"
    assert result.exception is None or isinstance(result.exception, SystemExit), note
    assert result.exit_code in (0, 1, 2), note
    assert "Traceback" not in result.output, note
    if result.exit_code:
        assert len(result.stderr.split()) >= 4, note
    return result.exit_code


def write(path, table):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([f"p{i}" for i in range(table.shape[1])])
        writer.writerows([["" if v < 0 else v for v in row] for row in table])
    return path


@pytest.mark.parametrize("name", HARD_TABLES)
def test_commands_on_hard_tables(name, tmp_path):
    table = HARD_TABLES[name]
    source = write(tmp_path / "partitions.csv", table)
    target = tmp_path / "consensus.csv"
    assert run("fuse", source, "-k", 1, "-o", target, "-q") == 0
    run("fuse", source, "-k", len(table), "-o", tmp_path / "all.csv", "-q")
    run("fuse", source, "-k", len(table) + 1, "-q")
    assert run("diagnose", source, target, "--json") == 0
    assert run("compare", source, "-k", 1, "-m", "eac", "-m", "voting", "--json") == 0
    assert run("convert", source, tmp_path / "partitions.npz", "-q") == 0
    run("scan-k", source, "-k", "2-3", "--resamples", 1, "--null", 1, "--json")
    run("evaluate", target, source, "--truth-column", "p0", "--json")
    run("generate", source, "-o", tmp_path / "generated.csv", "-n", 2, "-q")


CELLS = st.text(st.characters(codec="utf-8"), max_size=4) | st.integers(-2, 9).map(str)
FILES = st.lists(st.lists(CELLS, min_size=1, max_size=3), min_size=0, max_size=5)


@examples(60, soak=0.3)
@given(rows=FILES, is_regular=st.booleans())
def test_fuse_reads_any_text(rows, is_regular, tmp_path_factory):
    folder = tmp_path_factory.mktemp("any")
    if is_regular and rows:
        width = min(map(len, rows))
        rows = [row[:width] for row in rows]
    with (folder / "any.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    run("fuse", folder / "any.csv", "-k", 1, "-q")


@examples(60, soak=0.3)
@given(content=st.binary(max_size=40), suffix=st.sampled_from([".csv", ".tsv", ".npy", ".npz"]))
def test_fuse_reads_any_bytes(content, suffix, tmp_path_factory):
    path = tmp_path_factory.mktemp("any") / f"any{suffix}"
    path.write_bytes(content)
    run("fuse", path, "-k", 1, "-q")


WRONG = [
    ("fuse", "absent.csv", "-k", 2),
    ("fuse", ".", "-k", 2),
    ("fuse", "labels.csv", "-k", 0),
    ("fuse", "labels.csv", "-k", "two"),
    ("fuse", "labels.csv", "-k", 2, "-m", "magic"),
    ("fuse", "labels.csv", "-k", 2, "-c", "absent"),
    ("fuse", "labels.csv", "-k", 2, "-o", "absent/out.csv"),
    ("fuse", "labels.csv", "-k", 2, "-o", "out.unknown"),
    ("compare", "labels.csv", "-k", 10**9),
    ("scan-k", "labels.csv", "-k", "9-2"),
    ("convert", "labels.csv", "labels.csv"),
    ("generate", "labels.csv", "-o", "out.csv", "-n", 0),
    ("report", "labels.csv", "absent.csv", "-o", "out.html"),
    ("segment", "labels.csv", "-o", "out", "-k", 2),
    ("plan", "--samples", -5, "--partitions", 2, "-k", 2),
    ("diagnose", "labels.csv", "labels.csv", "--labels-column", "absent"),
]


@pytest.mark.parametrize("arguments", WRONG, ids=lambda a: " ".join(map(str, a)))
def test_wrong_arguments(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "labels.csv", np.array([[0, 1], [0, 0], [1, 1]]))
    assert run(*arguments) in (1, 2)
