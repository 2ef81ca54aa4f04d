"""Every package that the source imports is declared in pyproject.toml."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "partita"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DISTRIBUTION = {"sklearn": "scikit-learn"}
# Read where the user already has it; nothing of ours needs it.
BROUGHT_BY_THE_USER = {"polars"}


def requirements(lines: list[str]) -> dict[str, str]:
    """Return the lowest version of every required distribution."""
    pattern = r"([\w-]+)(?:\[[\w,]*\])?(?:>=([\d.]+))?(?:; .+)?"
    matches = (re.fullmatch(pattern, line) for line in lines)
    return {match[1].lower(): match[2] or "" for match in matches if match}


CORE = requirements(PROJECT["dependencies"])
EXTRAS = {
    name: requirements(lines)
    for name, lines in PROJECT["optional-dependencies"].items()
    if name not in ("test", "bench", "docs", "dist")
}


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield every third-party package that a module imports, and whether it does so on import."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    waiting: list[tuple[ast.AST, bool]] = [(tree, True)]
    while waiting:
        node, at_import = waiting.pop()
        at_import &= not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        waiting += [(child, at_import) for child in ast.iter_child_nodes(node)]
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "require_package":
            names = [a.value for a in node.args[:1] if isinstance(a, ast.Constant)]
        for name in names:
            package = str(name).split(".")[0]
            if package != "partita" and package not in sys.stdlib_module_names:
                yield DISTRIBUTION.get(package, package), at_import


@pytest.fixture(scope="module")
def imported() -> set[tuple[str, bool]]:
    """Return the packages that the source imports, and whether on import."""
    return {use for path in SOURCE.rglob("*.py") for use in imports(path)}


def test_imported_packages_are_declared(imported: set[tuple[str, bool]]) -> None:
    declared = {*CORE, *(name for extra in EXTRAS.values() for name in extra)}
    assert {package for package, _ in imported} - declared - BROUGHT_BY_THE_USER == set()


def test_packages_of_top_level_imports_are_no_extras(imported: set[tuple[str, bool]]) -> None:
    eager = {package for package, at_import in imported if at_import}
    assert eager - set(CORE) == set()


def test_declared_packages_are_imported(imported: set[tuple[str, bool]]) -> None:
    declared = {*CORE, *(name for extra in EXTRAS.values() for name in extra)}
    assert declared - {package for package, _ in imported} == set()


def test_packages_without_which_the_library_works_are_not_installed_in_a_browser() -> None:
    """WebAssembly has no compiler: the definitions of the kernels run there."""
    marked = {line.split(">")[0] for line in PROJECT["dependencies"] if "emscripten" in line}
    assert marked == {"numba", "psutil"}


def test_every_declared_package_has_a_lowest_version() -> None:
    everything = [CORE, *map(requirements, PROJECT["optional-dependencies"].values())]
    without = {name for group in everything for name, lowest in group.items() if not lowest}
    assert without <= {"partita"}


def test_guide_lists_the_extras() -> None:
    page = (ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == set(EXTRAS)
