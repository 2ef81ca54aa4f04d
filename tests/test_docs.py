"""What the project says of itself is true: examples run, tables are fresh, places exist."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import partita
from partita.registry import all_methods

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
MODULES = [
    "partita",
    *sorted(m.name for m in pkgutil.walk_packages(partita.__path__, "partita.")),
]


def blocks(path: Path, language: str = "python") -> list[str]:
    text = path.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def methods_table() -> dict[str, object]:
    return runpy.run_path(str(ROOT / "docs" / "methods_table.py"))


@pytest.mark.parametrize("path", [p for p in PAGES if blocks(p)], ids=lambda p: p.name)
def test_examples_of_a_page_run(path: Path, tmp_path: Path) -> None:
    """All blocks of a page after one another, in an interpreter of their own."""
    script = tmp_path / "page.py"
    script.write_text("\n".join(blocks(path)), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", str(script)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings_run(name: str) -> None:
    results = doctest.testmod(
        importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert results.failed == 0


def test_every_public_method_has_an_example() -> None:
    assert [c.__name__ for c in all_methods() if ">>>" not in (c.__doc__ or "")] == []


def test_tables_are_those_of_the_registry(methods_table) -> None:
    stale = [
        path.name
        for path, text in methods_table["pages"]().items()
        if path.read_text(encoding="utf-8") != text
    ]
    assert stale == [], "run python docs/methods_table.py"


def test_table_of_layers_is_that_of_the_test() -> None:
    layers_table = runpy.run_path(str(ROOT / "docs" / "layers_table.py"))
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert layers_table["updated"](text) == text, "run python docs/layers_table.py"


@pytest.mark.parametrize("path", [*PAGES, ROOT / "CHANGELOG.md"], ids=lambda p: p.name)
def test_links_inside_the_project_lead_somewhere(path: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8"))
    assert [t for t in targets if not (path.parent / t).exists()] == []


def test_the_readme_is_short_and_its_use_eight_lines() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) < 120
    (use,) = blocks(ROOT / "README.md")
    code = [line for line in use.splitlines() if line.strip() and not line.startswith("#")]
    assert len(code) <= 8
    assert "<!-- speed:start -->" in readme
    assert (ROOT / "docs" / "images" / "digits.png").stat().st_size < 150_000


def test_contributing_begins_with_adding_a_method() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)", text, re.MULTILINE)[0] == "Add a method in one sitting"


def test_one_version() -> None:
    with open(ROOT / "pyproject.toml", "rb") as file:
        version = tomllib.load(file)["project"]["version"]
    assert partita.__version__ == version
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_changelog_fragments_are_named_by_kind() -> None:
    names = [p.name for p in (ROOT / "changelog.d").iterdir() if p.name != "README.md"]
    pattern = re.compile(r"[a-z0-9-]+\.(added|changed|fixed|removed)\.md")
    assert [name for name in names if not pattern.fullmatch(name)] == []


def test_continuous_integration_runs_what_make_test_runs() -> None:
    """Every command of `make lint` and `make test`, called through `python -m`."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")

    def commands(target: str) -> list[str]:
        (recipe,) = re.findall(rf"^{target}:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
        plain = recipe.replace("$(PYTEST)", "pytest").replace("$(BIN)/python -m ", "")
        return [line.strip().removeprefix("$(BIN)/") for line in plain.splitlines()]

    lint, test = commands("lint"), commands("test")
    assert lint
    assert test
    assert [c for c in lint + test if f"python -m {c}" not in workflow] == []
    assert [c for c in lint if f"python -m {c}" not in hooks] == []
