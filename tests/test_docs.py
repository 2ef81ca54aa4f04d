"""Examples and commands of the documentation run, its tables are fresh, its links resolve."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import partita
from partita.registry import all_methods
from warm_process import Programs

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
MODULES = [
    "partita",
    *sorted(m.name for m in pkgutil.walk_packages(partita.__path__, "partita.")),
]


def blocks(path: Path, language: str = "python") -> list[str]:
    text = path.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("path", [p for p in PAGES if blocks(p)], ids=lambda p: p.name)
def test_examples_of_a_page_run(path: Path, tmp_path: Path, python: Programs) -> None:
    """All blocks of a page run in order, in a process of their own."""
    program = "\n".join(blocks(path))
    if "import scanpy" in program:
        pytest.importorskip("scanpy")
    script = tmp_path / "page.py"
    script.write_text(program, encoding="utf-8")
    done = subprocess.run(
        python.command("-W", "error::UserWarning", str(script)),
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(shutil.which("sh") is None, reason="needs a POSIX shell")
@pytest.mark.parametrize("path", [p for p in PAGES if blocks(p, "sh")], ids=lambda p: p.name)
def test_commands_of_a_page_run(path: Path, tmp_path: Path, python: Programs) -> None:
    """All commands of a page run in order, in a folder that has the files of examples/."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    program = shlex.join(python.command("-c", "from partita.cli import main; main()"))
    script = "\n".join([f'partita() {{ {program} "$@"; }}', *blocks(path, "sh")])
    done = subprocess.run(["sh", "-e", "-c", script], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings_run(name: str) -> None:
    results = doctest.testmod(
        importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert results.failed == 0


def test_every_public_method_has_an_example() -> None:
    assert [c.__name__ for c in all_methods() if ">>>" not in (c.__doc__ or "")] == []


def test_generated_tables_are_fresh() -> None:
    script = ROOT / "docs" / "write_pages.py"
    done = subprocess.run(
        [sys.executable, str(script), "--check"], capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", [*PAGES, ROOT / "CHANGELOG.md"], ids=lambda p: p.name)
def test_links_inside_the_project_lead_somewhere(path: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8"))
    assert [t for t in targets if not (path.parent / t).exists()] == []


def test_index_links_to_every_page() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"index.md"}
    assert pages - set(re.findall(r"\]\(([^)#:]+)\)", index)) == set()


def test_the_readme_is_short_and_its_use_eight_lines() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) < 100
    methods = readme.partition("<!-- methods:start -->\n")[2].partition("<!-- methods:end -->")[0]
    assert all(f"`{method.__name__}`" in methods for method in partita.all_methods())
    (use,) = blocks(ROOT / "README.md")
    code = [line for line in use.splitlines() if line.strip() and not line.startswith("#")]
    assert len(code) <= 8
    speed = readme.partition("<!-- speed:start -->\n")[2].partition("<!-- speed:end -->")[0]
    assert 2 < len(speed.splitlines()) <= 2 + 10  # a header and ten measurements
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
