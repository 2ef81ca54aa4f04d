"""Every example runs in a process of its own and prints something."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from warm_process import Programs

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def run(python: Programs, path: Path, folder: Path) -> str:
    done = subprocess.run(
        python.command("-W", "error::UserWarning", str(path)),
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "path", [p for p in EXAMPLES if p.name != "choosing_k.py"], ids=lambda p: p.name
)
def test_example_runs_and_prints(path: Path, tmp_path: Path, python: Programs) -> None:
    assert run(python, path, tmp_path).strip()
    assert list(tmp_path.iterdir()) == []  # no file is left


def test_page_on_choosing_k_shows_the_output_of_the_example(
    tmp_path: Path, python: Programs
) -> None:
    """Digits may differ between machines; the suggestions and the shape of the curves may not."""
    output = run(python, ROOT / "examples" / "choosing_k.py", tmp_path)
    page = (ROOT / "docs" / "choosing-k.md").read_text(encoding="utf-8")
    answers = re.findall(r"^(?:no structure found|suggested: K = \d)$", output, re.MULTILINE)
    assert answers == ["no structure found", "suggested: K = 3"]
    assert [answer for answer in answers if answer not in page] == []
    rows = re.compile(r"^\| \d \|.*\|$", re.MULTILINE)
    shown, computed = (
        np.asarray([line.strip("|").split("|") for line in rows.findall(text)], float)
        for text in (page, output)
    )
    assert shown.shape == (8, 8)
    np.testing.assert_allclose(shown, computed, rtol=0, atol=0.1)
