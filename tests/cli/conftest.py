"""A command line as a person has it: files in a folder, and a program to run on them."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from planted import IDS, LABELS, POINTS, TRUTH, write_csv
from typer.testing import CliRunner, Result

from partita.cli import app
from partita.exceptions import PartitaWarning


@pytest.fixture
def partita(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Run a command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, stdin: str | None = None) -> Result:
        with warnings.catch_warnings():
            warnings.simplefilter("default", PartitaWarning)  # the program shows them on stderr
            return CliRunner().invoke(app, arguments, input=stdin)

    return run


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """Three planted clusters, ten runs, ids and the truth."""
    columns = {"sample": IDS, **{f"run_{i}": c.tolist() for i, c in enumerate(LABELS.T)}}
    return write_csv(tmp_path / "labels.csv", {**columns, "truth": TRUTH.tolist()})


@pytest.fixture
def features(tmp_path: Path) -> Path:
    """Three clouds of points, one after the other."""
    x, y = POINTS.T.tolist()
    return write_csv(tmp_path / "features.csv", {"sample": IDS, "x": x, "y": y})
