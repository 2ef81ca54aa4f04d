"""Every method has all its files, and CONTRIBUTING's recipe adds one that passes the battery."""

from __future__ import annotations

import ast
import doctest
import importlib
import json
import re
import runpy
import sys
from pathlib import Path
from types import ModuleType

import pytest

import references
from numpydoc_sections import sections
from partita import consensus, fuse
from partita.registry import all_methods, get_method
from partita.testing import consensus_checks
from references import FOLDER
from test_docstrings import METHOD_SECTIONS, names_default, parameters
from test_references import check_case, check_format

ROOT = Path(__file__).resolve().parents[1]
KEYS = [method.info.key for method in all_methods()]
BIBLIOGRAPHY = runpy.run_path(str(ROOT / "docs" / "methods_table.py"))["bibliography"]()


@pytest.mark.parametrize("key", KEYS)
def test_method_has_its_files(key: str) -> None:
    files = [
        ROOT / "src" / "partita" / "consensus" / f"{key}.py",
        ROOT / "tests" / "consensus" / f"test_{key}.py",
        FOLDER / f"{key}.json",
    ]
    missing = [str(path.relative_to(ROOT)) for path in files if not path.exists()]
    assert missing == [], "see CONTRIBUTING.md"


@pytest.mark.parametrize("method", all_methods(), ids=lambda m: m.__name__)
def test_method_cites_an_entry_of_the_bibliography(method) -> None:
    assert method.info.cite in BIBLIOGRAPHY, "add it to docs/references.bib"
    entry = BIBLIOGRAPHY[method.info.cite]
    assert {"author", "title", "year"} <= set(entry)
    words = re.findall(r"\w{4,}", entry["title"].lower())
    text = " ".join((method.__doc__ or "").lower().split())
    assert all(word in text for word in words), "the docstring cites the same title"


def test_every_entry_of_the_bibliography_is_complete() -> None:
    incomplete = [
        key for key, entry in BIBLIOGRAPHY.items() if not {"author", "title", "year"} <= set(entry)
    ]
    assert incomplete == []


# -- CONTRIBUTING's recipe, followed literally -------------------------------------------------


def recipe(language: str) -> str:
    """Return the first code block of CONTRIBUTING in a language."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    blocks = re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return str(blocks[0])


@pytest.fixture
def recipe_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Import the code block as a file and export its method, as step 3 says."""
    path = tmp_path / "incidencekmeans.py"
    path.write_text(recipe("python"), encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, path.stem, raising=False)
    module = importlib.import_module(path.stem)
    monkeypatch.setattr(consensus, "IncidenceKMeans", module.IncidenceKMeans, raising=False)
    monkeypatch.setattr(consensus, "__all__", [*consensus.__all__, "IncidenceKMeans"])
    return module


def test_recipe_imports_public_names_only() -> None:
    names = []
    for node in ast.walk(ast.parse(recipe("python"))):
        if isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    assert any(name.startswith("partita.") for name in names)
    assert [n for n in names if any(piece.startswith("_") for piece in n.split("."))] == []


def test_recipe_adds_a_method_that_the_library_uses(recipe_module: ModuleType) -> None:
    method = get_method("incidencekmeans")
    assert method is recipe_module.IncidenceKMeans
    assert method.info.cite in BIBLIOGRAPHY
    partitions = [[0, 0, 1, 1], [5, 5, 7, 7], ["a", "b", "b", "b"]]
    assert fuse(partitions, 2, method="incidencekmeans", random_state=0).labels.tolist() == [
        0,
        0,
        1,
        1,
    ]


@pytest.mark.parametrize("check", list(consensus_checks()), ids=lambda c: c.__name__)
def test_recipe_passes_the_battery(recipe_module: ModuleType, check) -> None:
    check(recipe_module.IncidenceKMeans())


def test_recipe_has_a_complete_docstring(recipe_module: ModuleType) -> None:
    method = recipe_module.IncidenceKMeans
    assert set(METHOD_SECTIONS) <= set(sections(method))
    assert all(names_default(item, parameter) for item, parameter in parameters(method))
    assert all(item.text for item, _ in parameters(method))
    assert doctest.testmod(recipe_module).failed == 0


def test_recipe_has_reference_values(
    recipe_module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "incidencekmeans.json").write_text(recipe("json"), encoding="utf-8")
    (tmp_path / "partitions").symlink_to(FOLDER / "partitions")
    monkeypatch.setattr(references, "FOLDER", tmp_path)
    check_format(json.loads(recipe("json")), "incidencekmeans")
    for case in references.load_cases("incidencekmeans"):
        check_case("incidencekmeans", case)
