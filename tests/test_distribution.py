"""The wheel and the sdist: their content, and what works after their installation alone.

`make dist-check` builds both files into dist/ and runs this. Without PARTITA_DIST the test builds
them in a temporary folder. Both install all required packages into a new environment.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
USE = """
import partita
from partita.plotting import ConsensusDisplay
from sklearn.datasets import load_iris
labels = partita.EnsembleClustering(n_clusters=3, random_state=0).fit_predict(load_iris().data)
assert len(set(labels)) == 3
partitions = [[0, 0, 1, 1], [5, 5, 7, None], ["a", "b", "b", "b"]]
ConsensusDisplay.from_labels(partitions, [0, 0, 1, 1]).save("consensus.png")
fusion = partita.fuse(partitions, n_clusters=2, random_state=0)
partita.report(partitions, fusion.labels, "report.html")
print(partita.__version__, partita.__file__)
"""


def run(*command: str | Path, folder: Path) -> str:
    """Return what a command prints; without the variables that could lead to this checkout."""
    variables = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if "PARTITA_DIST" in os.environ:
        return ROOT / os.environ["PARTITA_DIST"]
    pytest.importorskip("build", reason="needs the extra dist")
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT, folder=folder)
    return folder


def test_there_are_two_files_of_the_version(dist: Path) -> None:
    names = sorted(path.name for path in dist.iterdir())
    assert names == [f"partita-{VERSION}-py3-none-any.whl", f"partita-{VERSION}.tar.gz"]


def test_wheel_has_the_whole_package_and_nothing_else(dist: Path) -> None:
    (wheel,) = dist.glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        names = {n for n in file.namelist() if ".dist-info/" not in n}
    source = ROOT / "src"
    expected = {
        path.relative_to(source).as_posix()
        for path in (source / "partita").rglob("*")
        if path.is_file()
        and "__pycache__" not in path.parts
        and path.suffix not in (".nbi", ".nbc")
    }
    assert names == expected
    assert "partita/py.typed" in names


def test_sdist_has_source_tests_and_license(dist: Path) -> None:
    (sdist,) = dist.glob("*.tar.gz")
    with tarfile.open(sdist) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    assert {"pyproject.toml", "LICENSE", "CITATION.cff", "src/partita/py.typed"} <= names
    assert {"tests/test_distribution.py", "CODE_OF_CONDUCT.md", "SECURITY.md"} <= names
    assert not [n for n in names if n.startswith((".venv", "dist/", "build/"))]


@pytest.mark.parametrize("pattern", ["*.whl", "*.tar.gz"])
def test_clean_environment_runs_the_installed_library(
    pattern: str, dist: Path, tmp_path: Path
) -> None:
    (archive,) = dist.glob(pattern)
    run(sys.executable, "-m", "venv", tmp_path / "venv", folder=tmp_path)
    scripts = tmp_path / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
    python = scripts / "python"
    run(python, "-m", "pip", "install", "--quiet", archive, folder=tmp_path)
    run(python, "-m", "pip", "check", folder=tmp_path)
    version, place = run(python, "-W", "error::UserWarning", "-c", USE, folder=tmp_path).split()
    assert version == VERSION
    assert Path(place).is_relative_to(tmp_path / "venv")
    assert run(scripts / "partita", "--version", folder=tmp_path).strip() == f"partita {VERSION}"
    assert "ccgp" in run(scripts / "partita", "methods", folder=tmp_path)
