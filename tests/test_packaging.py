"""Metadata, recipe, citation and workflows say the same; a release needs all its parts."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from release import obstacles, write_urls

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = ROOT / ".github" / "workflows"
CONDA_NAMES = {"matplotlib": "matplotlib-base"}  # the package without a graphical toolkit


def load(path: Path) -> Any:
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_recipe_requires_what_the_project_requires() -> None:
    recipe = load(ROOT / "recipe" / "recipe.yaml")
    assert recipe["context"]["version"] == PROJECT["version"]
    expected = [f"python {PROJECT['requires-python']}"]
    for line in PROJECT["dependencies"]:
        name, version = re.match(r"([\w-]+)(>=[\d.]+)", line).groups()  # type: ignore[union-attr]
        expected.append(f"{CONDA_NAMES.get(name, name)} {version}")
    assert recipe["requirements"]["run"] == expected
    (script,) = recipe["build"]["python"]["entry_points"]
    assert script == f"partita = {PROJECT['scripts']['partita']}"
    assert recipe["about"]["license"] == PROJECT["license"]


def test_citation_has_version_and_license_of_the_project() -> None:
    citation = load(ROOT / "CITATION.cff")
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]
    assert [author["name"] for author in citation["authors"]] == [
        author["name"] for author in PROJECT["authors"]
    ]


def test_every_python_of_the_metadata_is_tested() -> None:
    prefix = "Programming Language :: Python :: 3."
    versions = [c.rpartition(" ")[2] for c in PROJECT["classifiers"] if c.startswith(prefix)]
    matrix = load(WORKFLOWS / "ci.yml")["jobs"]["test"]["strategy"]["matrix"]
    assert matrix["python"] == versions == ["3.11", "3.12", "3.13", "3.14"]
    assert PROJECT["requires-python"] == f">={versions[0]}"


def test_release_publishes_the_files_that_were_installed() -> None:
    jobs = load(WORKFLOWS / "release.yml")["jobs"]
    commands = [step.get("run", "") for step in jobs["build"]["steps"]]
    assert commands.index("make dist-check") > 0
    assert jobs["publish"]["needs"] == "build"
    assert jobs["publish"]["permissions"] == {"id-token": "write", "attestations": "write"}
    uses = [step["uses"].partition("@")[0] for step in jobs["publish"]["steps"]]
    assert uses == [
        "actions/download-artifact",
        "actions/attest-build-provenance",
        "pypa/gh-action-pypi-publish",
    ]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = makefile.partition("\ndist-check: $(")[2].partition("\n\n")[0]
    steps = ["-m build", "-m twine check --strict dist/*", "tests/test_distribution.py"]
    places = [recipe.find(step) for step in steps]
    assert places == sorted(places)
    assert places[0] >= 0


def test_release_is_refused_until_everything_is_in_place(tmp_path: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "changelog.d").mkdir()
    (tmp_path / "changelog.d" / "README.md").write_text("How.", encoding="utf-8")
    changelog = tmp_path / "CHANGELOG.md"
    changelog.write_text(f"## {PROJECT['version']} (unreleased)\n", encoding="utf-8")
    fragment = tmp_path / "changelog.d" / "a.added.md"
    fragment.write_text("A.", encoding="utf-8")
    reasons = obstacles("v99.0.0", tmp_path)
    assert [reason.split()[0] for reason in reasons][:3] == ["The", "CHANGELOG.md", "changelog.d"]

    fragment.unlink()
    changelog.write_text(f"## {PROJECT['version']} (2030-01-31)\n", encoding="utf-8")
    if "urls" not in PROJECT:
        (reason,) = obstacles(f"v{PROJECT['version']}", tmp_path)
        assert "[project.urls]" in reason
    address = "https://example.org/a/partita"
    for _ in range(2):  # the second time nothing is to do
        write_urls(address, tmp_path)
    text = (tmp_path / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    assert {**project, "urls": None} == {**PROJECT, "urls": None}
    assert all(page.startswith(address) for page in project["urls"].values()) or "urls" in PROJECT
    assert obstacles(f"v{PROJECT['version']}", tmp_path) == []
