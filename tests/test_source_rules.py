"""Rules of docs/style.md that can be read from the source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from test_layers import MODULES, imports_of, module_name, part_of
from us_spelling import british_words

ROOT = Path(__file__).resolve().parents[1]
# Past participles and reports of speech: a variable is a noun that says what it holds.
NOT_NOUNS = frozenset({"found", "known", "given", "wanted", "told", "said", "asked"})
PROSE = sorted(
    path
    for pattern in ("*.md", "docs/*.md", "docs/*.py", "examples/*.py", "benchmarks/**/*.py")
    for path in ROOT.glob(pattern)
)

every_module = pytest.mark.parametrize("path", MODULES, ids=module_name)


def identifiers(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield every name that the source binds or reads, with its line."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, lineno=line) | ast.arg(arg=name, lineno=line):
                yield name, line
            case ast.Attribute(attr=name, lineno=line):
                yield name, line
            case ast.FunctionDef(name=name, lineno=line) | ast.ClassDef(name=name, lineno=line):
                yield name, line


def private_imports(source: str, module: str, is_package: bool = False) -> list[str]:
    """Return the imports of a private name that belongs to another package.

    The private modules and packages at the top (`partita._threads`, `partita._kernels`) belong to
    the whole library; what is private inside them does not.
    """
    own = part_of(module)
    return [
        f"line {item.line}: {item.dotted}"
        for item in imports_of(source, module, is_package)
        if item.module.split(".")[0] == "partita"
        and part_of(item.dotted) != own
        and any(piece.startswith("_") for piece in item.dotted.split(".")[2:])
    ]


@every_module
def test_no_private_name_of_another_package_is_imported(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert private_imports(source, module_name(path), path.name == "__init__.py") == []


@every_module
def test_a_module_has_not_the_name_of_what_it_defines(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assert path.stem not in names


@every_module
def test_identifiers_have_us_spelling(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert [f"{n}, line {k}" for n, k in identifiers(tree) if british_words(n)] == []


@every_module
def test_variables_are_nouns(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert [f"{n}, line {k}" for n, k in identifiers(tree) if n in NOT_NOUNS] == []


@every_module
def test_warnings_go_through_warn_user(path: Path) -> None:
    """Only `partita._warn` chooses a stack level: that of the first frame outside the package."""
    if module_name(path) == "partita._warn":
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    lines = [
        n.value.lineno
        for n in ast.walk(tree)
        if isinstance(n, ast.keyword) and n.arg == "stacklevel"
    ]
    assert lines == [], "use partita._warn.warn_user"


@every_module
def test_prose_of_the_source_has_us_spelling(path: Path) -> None:
    assert british_words(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", PROSE, ids=lambda p: str(p.relative_to(ROOT)))
def test_prose_around_the_source_has_us_spelling(path: Path) -> None:
    assert british_words(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("source", "module"),
    [
        ("from partita.io._targets import check_target", "partita.cli.fuse"),
        ("from partita.io import _targets", "partita.cli.fuse"),
        ("from partita.registry import _all", "partita.cli.fuse"),
        ("import partita.io._targets", "partita.cli.fuse"),
        ("from partita._kernels._compiled._jit import jit", "partita.solvers.linkage"),
    ],
)
def test_reader_of_private_imports_sees_them(source: str, module: str) -> None:
    assert len(private_imports(source, module)) == 1


@pytest.mark.parametrize(
    ("source", "module"),
    [
        ("from partita._threads import n_threads", "partita.cli.fuse"),
        ("from partita._kernels import rows", "partita.solvers.linkage"),
        ("from partita._input.checks import check_n_clusters", "partita.cli.fuse"),
        ("from partita.io._targets import check_target", "partita.io.conversion"),
        ("from numpy import _core", "partita.io.conversion"),
    ],
)
def test_reader_of_private_imports_lets_the_rest_pass(source: str, module: str) -> None:
    assert private_imports(source, module) == []


def test_files_of_tests_have_different_names() -> None:
    """pytest imports them by name: two of the same name cannot run in one process."""
    names = sorted(path.name for path in Path(__file__).parent.rglob("test_*.py"))
    assert names == sorted(set(names))
