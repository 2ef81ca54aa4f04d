"""The conventions of kernels (see `partita._kernels`), read from their source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import partita

FOLDER = Path(partita.__file__).parent / "_kernels"
MAX_ARGUMENTS = 9
FIRST_WORDS = {"Add", "Fill", "Return", "Update"}


def functions(pattern: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for path in sorted(FOLDER.rglob(pattern)):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                yield f"{path.stem}.{node.name}", node


def decorated(decorator: str) -> dict[str, ast.FunctionDef]:
    return {
        name: node
        for name, node in functions("[a-z]*.py")
        if any(decorator in ast.dump(expression) for expression in node.decorator_list)
    }


DEFINITIONS = decorated("kernel")
# A kernel may be a plain function that makes scratch arrays for a compiled one.
KERNELS = decorated("jit") | {
    name: node for name, node in functions("_compiled/[a-z]*.py") if "._" not in name
}


def arguments(node: ast.FunctionDef) -> list[str]:
    return [argument.arg for argument in node.args.args]


def written(name: str) -> set[str]:
    """Arguments that a kernel writes: directly, in a record, or in a kernel that it calls."""
    node, module = KERNELS[name], name.partition(".")[0]
    source = {name: name for name in arguments(node)}
    targets: list[ast.expr] = []
    for statement in ast.walk(node):
        if isinstance(statement, ast.Assign):
            value = statement.value
            for target in statement.targets:
                names = target.elts if isinstance(target, ast.Tuple) else [target]
                targets += names
                if isinstance(value, ast.Name) and value.id in source:
                    source |= {n.id: source[value.id] for n in names if isinstance(n, ast.Name)}
        elif isinstance(statement, ast.AugAssign):
            targets.append(statement.target)
    arrays = {
        target.value.id
        for target in targets
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name)
    }
    for call in (node for node in ast.walk(node) if isinstance(node, ast.Call)):
        function = call.func.id if isinstance(call.func, ast.Name) else ""
        for called in {f"{module}.{function}"} & KERNELS.keys():
            targets_of_call = written(called)
            arrays |= {
                value.id
                for argument, value in zip(arguments(KERNELS[called]), call.args, strict=True)
                if argument in targets_of_call and isinstance(value, ast.Name)
            }
    return {source[name] for name in arrays if name in source}


@pytest.mark.parametrize("name", KERNELS)
def test_written_arguments_come_last_and_are_documented(name: str) -> None:
    node = KERNELS[name]
    names, targets = arguments(node), written(name)
    assert set(names[len(names) - len(targets) :]) == targets
    docstring = ast.get_docstring(DEFINITIONS.get(name, node)) or ""
    assert all(target in docstring for target in targets)


@pytest.mark.parametrize("name", DEFINITIONS)
def test_both_forms_have_the_same_arguments(name: str) -> None:
    assert arguments(KERNELS[name]) == arguments(DEFINITIONS[name])


def test_every_kernel_has_a_definition() -> None:
    assert {name for name in KERNELS if "._" not in name} == set(DEFINITIONS)


@pytest.mark.parametrize("name", DEFINITIONS)
def test_kernels_take_few_arguments_and_say_what_they_do(name: str) -> None:
    node = DEFINITIONS[name]
    assert len(arguments(node)) <= MAX_ARGUMENTS
    assert (ast.get_docstring(node) or "").split()[0] in FIRST_WORDS
    assert "missing" not in arguments(node)
