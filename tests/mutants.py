"""Change one operator or constant of a source file at a time, and see whether the tests notice.

From the root of the repository: `python -m tests.mutants` tries the modules of TARGETS and prints
the mutants that no test noticed. A mutant is run in a process that is forked after the imports, and
ends at the first test that fails. This takes minutes and is run by hand.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.abc
import importlib.util
import os
import random
import resource
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TARGETS = {  # module: tests that must notice its mutants
    "partita._input.checks": ["tests/input", "tests/test_contract.py"],
    "partita._input.coding": ["tests/input", "tests/ensemble"],
    "partita._input.columns": ["tests/input", "tests/ensemble"],
    "partita._input.containers": ["tests/input", "tests/ensemble"],
    "partita._input.label_vector": ["tests/input", "tests/test_metrics.py"],
    "partita._input.table_coding": ["tests/input", "tests/ensemble"],
    "partita._numbering": ["tests/input", "tests/ensemble", "tests/test_numbering.py"],
    "partita.solvers.linkage": ["tests/solvers/test_linkage.py"],
    "partita.solvers._chain": ["tests/solvers/test_linkage.py"],
}
_SECONDS = 60  # of processor time, after which a mutant counts as noticed: it does not end
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
    elif isinstance(node, ast.Return) and node.value is not None:
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


class MutantFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Import a tree in place of one module."""

    def __init__(self, name: str, path: Path, tree: ast.Module) -> None:
        self.name, self.path, self.tree = name, path, tree

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        """Find the module that is replaced."""
        if name != self.name:
            return None
        return importlib.util.spec_from_file_location(name, self.path, loader=self)

    def exec_module(self, module: ModuleType) -> None:
        """Run the changed source."""
        exec(compile(self.tree, str(self.path), "exec"), module.__dict__)


def is_noticed(name: str, path: Path, tree: ast.Module, tests: Sequence[str]) -> bool:
    """Return whether a test fails, or does not end, in a forked process with the mutant."""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        sys.meta_path.insert(0, MutantFinder(name, path, tree))
        import pytest

        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
        os._exit(int(pytest.main([*options, *tests])))
    status = os.waitpid(child, 0)[1]
    return os.WIFSIGNALED(status) or os.WEXITSTATUS(status) != 0


def main() -> int:
    """Try the mutants of all targets, or a random part of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sample", type=int, default=0, help="mutants per module; 0: all")
    parser.add_argument("modules", nargs="*", help="by default all of TARGETS")
    options = parser.parse_args()
    os.chdir(ROOT)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    import pandas  # noqa: F401 - what takes long, before the processes fork
    import polars  # noqa: F401
    import pytest  # noqa: F401
    import scipy.sparse.linalg  # noqa: F401
    import sklearn.cluster
    import sklearn.utils.estimator_checks  # noqa: F401

    total = noticed = 0
    for name in options.modules or list(TARGETS):
        path = ROOT / "src" / Path(*name.split(".")).with_suffix(".py")
        tests = [test for test in TARGETS[name] if (ROOT / test).exists()]
        source = path.read_text(encoding="utf-8")
        if is_noticed(name, path, ast.parse(source), tests):
            raise SystemExit(f"The tests of {name} fail without any change.")
        cases = mutants(source)
        if options.sample and options.sample < len(cases):
            cases = random.Random(0).sample(cases, options.sample)
        for line, text, tree in cases:
            total += 1
            if is_noticed(name, path, tree, tests):
                noticed += 1
            else:
                sys.stdout.write(f"{path.relative_to(ROOT)}:{line}: {text}\n")
        sys.stdout.write(f"{name}: {noticed} of {total} so far\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
