"""Change one operator or constant of a source file at a time, and see whether the tests notice.

From the root of the repository: `python -m tests.mutants` tries the modules of TARGETS and prints
the mutants that no test noticed. `python -m tests.mutants partita._numbering:37` tries those of one
module or line. The tests of a mutant run in a process that is forked after their collection, and
end at the first that fails. All mutants take half an hour and are run by hand.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import importlib
import inspect
import os
import random
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest
from _pytest.main import pytest_runtestloop

ROOT = Path(__file__).resolve().parents[1]
_OUTPUT = os.dup(1)
_INPUT = ["tests/input"]
_LINKAGE = ["tests/solvers/test_linkage_exactness.py", "tests/solvers/test_linkage.py"]
TARGETS = {  # module: tests that must notice its mutants
    "partita._input.checks": ["tests/input/test_checks.py", "tests/input"],
    "partita._input.coding": _INPUT,
    "partita._input.columns": _INPUT,
    "partita._input.containers": _INPUT,
    "partita._input.label_vector": _INPUT,
    "partita._input.table_coding": _INPUT,
    "partita._numbering": ["tests/test_numbering.py"],
    "partita.solvers.linkage": _LINKAGE,
    "partita._kernels.chains": [*_LINKAGE, "tests/kernels/test_chains.py"],
}
_OPPOSITE: dict[type[Any], type[Any]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div, ast.And: ast.Or, ast.Or: ast.And, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}  # fmt: skip


def changes(node: ast.AST) -> Iterator[tuple[str, Any]]:
    """Yield the changes of one node: an attribute and its new value."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _OPPOSITE:
        yield "ops", [_OPPOSITE[type(node.ops[0])]()]
    elif isinstance(node, ast.BinOp | ast.BoolOp | ast.AugAssign) and type(node.op) in _OPPOSITE:
        yield "op", _OPPOSITE[type(node.op)]()
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "value", not node.value
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield "value", node.value + 1
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        yield "test", ast.UnaryOp(ast.Not(), node.test)
    elif isinstance(node, ast.Return) and ast.unparse(node) not in ("return", "return None"):
        yield "value", ast.Constant(None)


def mutants(source: str) -> list[tuple[int, str, ast.Module]]:
    """Return line, description and tree of every mutant; annotations are left alone."""
    tree = ast.parse(source)
    skipped: set[int] = set()
    for node in ast.walk(tree):
        for name in ("annotation", "returns"):
            if (annotation := getattr(node, name, None)) is not None:
                skipped |= {id(child) for child in ast.walk(annotation)}
    result = []
    nodes = [node for node in ast.walk(tree) if id(node) not in skipped]
    for node in nodes:
        for name, value in changes(node):
            old = getattr(node, name)
            before = ast.unparse(node).splitlines()[0]
            setattr(node, name, value)
            changed = ast.fix_missing_locations(copy.deepcopy(tree))
            text = f"{before}  ->  {ast.unparse(ast.fix_missing_locations(node)).splitlines()[0]}"
            result.append((getattr(node, "lineno", 0), text, changed))
            setattr(node, name, old)
    return result


def install(module: ModuleType, tree: ast.Module) -> None:
    """Give the functions and constants of a module those of a changed tree.

    The functions stay the same objects: whoever imported them before runs the changed code.
    """
    fresh = ModuleType(module.__name__)
    fresh.__dict__.update(__package__=module.__package__, __file__=module.__file__)
    exec(compile(tree, str(module.__file__), "exec"), fresh.__dict__)
    _replace(module, fresh, module.__name__)


def _replace(old: Any, new: Any, module: str) -> None:
    """Replace the functions and constants of a module or of a class."""
    for name, value in list(vars(new).items()):
        before = inspect.unwrap(getattr(old, name, None)) if callable(value) else None
        if name.startswith("__") and not isinstance(value, FunctionType):
            continue
        if isinstance(value, type):
            if value.__module__ == module:
                _replace(getattr(old, name), value, module)
        elif isinstance(before, FunctionType):
            after: Any = inspect.unwrap(value)
            if after.__module__ == module:
                before.__code__ = after.__code__
                before.__defaults__ = after.__defaults__
                before.__kwdefaults__ = after.__kwdefaults__
        elif not isinstance(value, ModuleType):
            setattr(old, name, value)


class Trial:
    """A plugin of pytest that runs the collected tests once per mutant, in forked processes."""

    def __init__(self, name: str, lines: set[int], sample: int) -> None:
        self.module = importlib.import_module(name)
        self.path = Path(str(self.module.__file__))
        self.source = self.path.read_text(encoding="utf-8")
        self.cases = [case for case in mutants(self.source) if not lines or case[0] in lines]
        if sample and sample < len(self.cases):
            self.cases = random.Random(0).sample(self.cases, sample)
        self.survivors = 0

    def pytest_runtestloop(self, session: Any) -> bool:
        """Try the module as it is, then every mutant; quick tests first."""
        session.items.sort(key=lambda item: item.get_closest_marker("hypothesis") is not None)
        passed, seconds = self._run(session, ast.parse(self.source), 600)
        if not passed:
            raise SystemExit(f"The tests of {self.module.__name__} fail without any change.")
        for line, text, tree in self.cases:
            if self._run(session, tree, 20 + round(4 * seconds))[0]:
                self.survivors += 1
                _report(f"{self.path.relative_to(ROOT)}:{line}: {text}")
        n = len(self.cases)
        _report(f"{self.module.__name__}: {n} mutants, {self.survivors} survive")
        return True

    def _run(self, session: Any, tree: ast.Module, seconds: int) -> tuple[bool, float]:
        """Return whether all tests passed in a forked process, and its processor time.

        A process that takes more than `seconds` does not end by itself: it counts as a failure.
        """
        child = os.fork()
        if child == 0:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
            failed = True
            with contextlib.suppress(BaseException):
                install(self.module, tree)
                pytest_runtestloop(session)
                failed = session.testsfailed > 0
            os._exit(int(failed))
        _, status, usage = os.wait4(child, 0)
        passed = os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0
        return passed, usage.ru_utime + usage.ru_stime


def _report(text: str) -> None:
    """Print past pytest, which keeps what tests print."""
    os.write(_OUTPUT, f"{text}\n".encode())


def main() -> int:
    """Try the mutants of all targets, or a part of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sample", type=int, default=0, help="mutants per module; 0: all")
    parser.add_argument("places", nargs="*", help="module or module:line; by default all TARGETS")
    options = parser.parse_args()
    os.chdir(ROOT)
    places: dict[str, set[int]] = {}
    for place in options.places or TARGETS:
        name, _, line = place.partition(":")
        places.setdefault(name, set()).update([int(line)] if line else [])
    survivors = total = 0
    for name, lines in places.items():
        trial = Trial(name, lines, options.sample)
        arguments = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *TARGETS[name]]
        with (
            open(os.devnull, "w", encoding="utf-8") as nowhere,
            contextlib.redirect_stdout(nowhere),
        ):
            pytest.main(arguments, plugins=[trial])
        survivors, total = survivors + trial.survivors, total + len(trial.cases)
    _report(f"{total} mutants, {total - survivors} noticed, {survivors} survive")
    return 0


if __name__ == "__main__":
    sys.exit(main())
