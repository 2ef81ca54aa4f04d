"""Docstrings of public names are complete: every parameter has a text and names its default."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from typing import Any

import pytest

import partita
from numpydoc_sections import Item, items, sections
from partita.registry import all_methods
from public_names import documented, exported, signature

# Inherited methods are documented once.
UNIQUE = {id(inspect.unwrap(content)): (name, content) for name, content in documented()}
DOCUMENTED = sorted(UNIQUE.values(), key=lambda pair: pair[0])
METHOD_SECTIONS = ("Parameters", "Attributes", "Notes", "References", "Examples")


def parameters(content: Any) -> Iterator[tuple[Item, inspect.Parameter]]:
    """Yield every documented parameter with its place in the signature."""
    known = signature(content)
    for item in items(content, "Parameters"):
        if known is not None and item.name in known.parameters:
            yield item, known.parameters[item.name]


def names_default(item: Item, parameter: inspect.Parameter) -> bool:
    """Return whether `kind` ends in `default=value`, or is `optional` where that is None."""
    default = parameter.default
    if default is inspect.Parameter.empty or parameter.kind is parameter.VAR_KEYWORD:
        return True
    if item.text.startswith("As in `") or item.kind == "ignored":
        return True
    if default is None and "optional" in item.kind:
        return True
    stated = item.kind.partition("default=")[2]
    try:
        return bool(ast.literal_eval(stated) == default)
    except (ValueError, SyntaxError):  # nan, or an object without a literal
        return stated == str(default)


@pytest.mark.parametrize(("name", "content"), DOCUMENTED, ids=[name for name, _ in DOCUMENTED])
def test_parameters_and_attributes_have_a_text(name: str, content: Any) -> None:
    entries = [*items(content, "Parameters"), *items(content, "Attributes")]
    assert [entry.name for entry in entries if not entry.text] == []


@pytest.mark.parametrize(("name", "content"), DOCUMENTED, ids=[name for name, _ in DOCUMENTED])
def test_parameters_name_their_default(name: str, content: Any) -> None:
    wrong = {
        item.name: f"{item.kind!r} should end in ', default={parameter.default!r}'"
        for item, parameter in parameters(content)
        if not names_default(item, parameter)
    }
    assert wrong == {}


@pytest.mark.parametrize(("name", "content"), DOCUMENTED, ids=[name for name, _ in DOCUMENTED])
def test_documented_parameters_exist(name: str, content: Any) -> None:
    found = signature(content)
    if found is None or any(p.kind is p.VAR_KEYWORD for p in found.parameters.values()):
        return
    entries = items(content, "Parameters")
    assert [entry.name for entry in entries if entry.name not in found.parameters] == []


@pytest.mark.parametrize("name", sorted(partita.__all__))
def test_every_parameter_is_documented(name: str) -> None:
    """Of a result, the attributes are documented instead: users read it and do not build it."""
    content = getattr(partita, name)
    entries = [*items(content, "Parameters"), *items(content, "Attributes")]
    names = {entry.name for entry in entries}
    found = signature(content)
    assert found is not None
    missing = [p for p in found.parameters if p not in names and not p.startswith("_")]
    assert missing == []


@pytest.mark.parametrize("method", all_methods(), ids=lambda m: m.__name__)
def test_method_has_all_sections(method: type) -> None:
    present = sections(method)
    assert [name for name in METHOD_SECTIONS if name not in present] == []
    assert "Cost" in present["Notes"], "say what a fit costs in time and memory"
    assert "issing" in present["Notes"], "say what happens to missing labels"


def test_first_lines_are_sentences() -> None:
    """The first line of every docstring ends with a period and stands alone."""
    bad = []
    for name, content in exported():
        if not (inspect.isclass(content) or inspect.isroutine(content)):
            continue
        lines = (inspect.getdoc(content) or "").splitlines()
        if not lines or not lines[0].endswith(".") or (len(lines) > 1 and lines[1].strip()):
            bad.append(name)
    assert bad == []
