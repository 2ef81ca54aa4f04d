"""Metadata, recipe, citation and workflows say the same; a release needs all its parts."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from release import obstacles, write_links, write_urls

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


def test_every_commit_builds_and_installs_the_files_of_a_release() -> None:
    commands = [step.get("run") for step in load(WORKFLOWS / "ci.yml")["jobs"]["dist"]["steps"]]
    assert "make dist-check" in commands


def test_lowest_versions_of_every_extra_are_tested() -> None:
    jobs = load(WORKFLOWS / "ci.yml")["jobs"]
    steps = [
        step.get("run", "") for name in ("lowest", "lowest-tools") for step in jobs[name]["steps"]
    ]
    extras = set()
    for command in steps:
        if "--resolution lowest-direct" in command:
            extras.update(*(names.split(",") for names in re.findall(r"\.\[([\w,]+)\]", command)))
    optional = PROJECT["optional-dependencies"]
    for name in sorted(extras):  # an extra may consist of others
        for line in optional[name]:
            if nested := re.fullmatch(r"partita\[([\w,]+)\]", line):
                extras.update(nested[1].split(","))
    assert extras == set(optional)


def test_release_is_refused_until_everything_is_in_place(tmp_path: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    readme = tmp_path / "README.md"
    readme.write_text("A [page](docs/a.md), not on PyPI yet.", encoding="utf-8")
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
    tag = f"v{PROJECT['version']}"
    reasons = obstacles(tag, tmp_path)
    assert len(reasons) == ("urls" not in PROJECT) + 2
    assert reasons[-2:] == [
        "README.md: change what says that partita is not on PyPI yet.",
        "README.md has 1 links that PyPI cannot follow: pass ADDRESS.",
    ]
    readme.write_text("A [page](docs/a.md).", encoding="utf-8")
    address = "https://example.org/a/partita"
    for _ in range(2):  # the second time nothing is to do
        write_urls(address, tmp_path)
        write_links(address, tag, tmp_path)
    text = (tmp_path / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    assert {**project, "urls": None} == {**PROJECT, "urls": None}
    assert all(page.startswith(address) for page in project["urls"].values()) or "urls" in PROJECT
    assert obstacles(tag, tmp_path) == []


def test_links_of_the_readme_lead_to_the_files_of_the_release(tmp_path: Path) -> None:
    shutil.copy(ROOT / "README.md", tmp_path)
    (tmp_path / "examples").mkdir()
    address = "https://example.org/a/partita"
    write_links(address, "v1.2.3", tmp_path)
    before = (ROOT / "README.md").read_text(encoding="utf-8")
    after = (tmp_path / "README.md").read_text(encoding="utf-8")
    picture, page, folder = (f"{address}/{form}/v1.2.3" for form in ("raw", "blob", "tree"))
    assert f"of handwritten digits]({picture}/docs/images/digits.png)" in after
    assert f"[solved once]({page}/docs/reduction.md)" in after
    assert f"({page}/docs/reduction.md#order)" in after
    assert f"[examples]({folder}/examples)" in after
    assert all(url.startswith("https://") for url in re.findall(r"\]\(([^)]+)\)", after))
    assert re.sub(rf"{address}/\w+/v1.2.3/", "", after) == before
