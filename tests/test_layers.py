"""The layers of the design, read from the imports of every module. There are no exceptions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import partita

ROOT = Path(partita.__file__).parent

LAYERS: tuple[frozenset[str], ...] = (
    frozenset(
        {
            "_json",
            "_linalg",
            "_seeding",
            "_sklearn_compat",
            "config",
            "exceptions",
        }
    ),
    frozenset({"_atomic", "_damage", "_memory", "_packages", "_threads", "_warn"}),
    frozenset({"_data_frames", "_kernels", "_pictures"}),
    frozenset({"_contingency", "_input", "_numbering"}),
    frozenset({"ensemble"}),
    frozenset({"io"}),
    frozenset({"scale"}),
    frozenset({"alignment", "generators", "matrices", "metrics", "solvers"}),
    frozenset({"consensus"}),
    frozenset({"registry"}),
    frozenset({"structure"}),
    frozenset({"diagnostics", "select_k"}),
    frozenset({"clustering", "comparison", "multiview"}),
    frozenset({"datasets", "fusion", "plotting"}),
    frozenset({"planning", "reporting", "tl"}),
    frozenset({"cli", "pl", "testing"}),
    frozenset({"__main__"}),
)
LAYER_OF = {part: number for number, parts in enumerate(LAYERS) for part in parts}


@dataclass(frozen=True)
class Import:
    """`from module import name`, or `import module` where the name is empty."""

    module: str
    name: str
    line: int

    @property
    def dotted(self) -> str:
        return f"{self.module}.{self.name}" if self.name else self.module


def module_name(path: Path, root: Path = ROOT) -> str:
    parts = ("partita", *path.relative_to(root).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(source: str, module: str, is_package: bool) -> Iterator[Import]:
    """All imports in the text, those inside functions and under TYPE_CHECKING too."""
    package = module if is_package else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, "", node.lineno)
        elif isinstance(node, ast.ImportFrom):
            target = node.module or ""
            if node.level:
                base = package.split(".")[: len(package.split(".")) - node.level + 1]
                target = ".".join([*base, target]).rstrip(".")
            for alias in node.names:
                yield Import(target, alias.name, node.lineno)


def part_of(dotted: str) -> str:
    """The part of the library that holds a name: `partita.matrices.pairs` -> `matrices`."""
    pieces = dotted.split(".")
    return pieces[1] if len(pieces) > 1 else ""


NUMBA_MODULES = ("partita._kernels._compiled._jit",)


def violations(source: str, module: str, is_package: bool = False) -> list[str]:
    found = []
    own = part_of(module)
    for item in imports_of(source, module, is_package):
        where = f"{module}:{item.line} imports {item.dotted}"
        top = item.module.split(".")[0]
        if top in ("numba", "llvmlite") and module not in NUMBA_MODULES:
            found.append(f"{where}: only these import numba: {' and '.join(NUMBA_MODULES)}")
        private = any(piece.startswith("_") for piece in item.dotted.split("."))
        if top == "sklearn" and private and module != "partita._sklearn_compat":
            found.append(f"{where}: private names of scikit-learn belong to _sklearn_compat")
        if top != "partita" or not own:
            continue
        other = part_of(item.dotted)
        if other == own:
            found.extend(_inside(module, own, item, where))
        elif other not in LAYER_OF:
            found.append(f"{where}: name the module a thing comes from, not the package")
        elif LAYER_OF[other] >= LAYER_OF[own]:
            found.append(f"{where}: layer {LAYER_OF[own]} may not know layer {LAYER_OF[other]}")
    return found


def _inside(module: str, own: str, item: Import, where: str) -> list[str]:
    """Inside consensus/ and multiview/ a method imports what methods share and no other method."""
    if own not in ("consensus", "multiview") or module == f"partita.{own}":
        return []
    pieces = item.dotted.split(".")
    if len(pieces) > 2 and (pieces[2].startswith("_") or pieces[2] in ("base", "constraints")):
        return []
    return [f"{where}: methods do not import each other"]


MODULES = sorted(ROOT.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_module_keeps_to_its_layer(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert violations(source, module_name(path), path.name == "__init__.py") == []


def test_every_module_has_a_layer() -> None:
    parts = {part_of(module_name(path)) for path in MODULES} - {""}
    assert parts <= set(LAYER_OF), "say in LAYERS where the new module belongs"


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("partita.ensemble", "from partita.matrices import coassociation"),
        ("partita.ensemble", "from partita import metrics"),
        ("partita.ensemble", "import partita.metrics"),
        ("partita.matrices.cluster_counts", "from ..consensus import EAC"),
        ("partita.matrices.cluster_counts", "from partita.solvers import agglomerate"),
        ("partita.matrices.cluster_counts", "from partita import EAC"),
        ("partita.cli", "from partita.testing import check_consensus"),
        ("partita.consensus.lwea", "from partita.consensus.eac import EAC"),
        ("partita.consensus.lwea", "from .eac import EAC"),
        ("partita.consensus.lwea", "from partita.consensus import EAC"),
        ("partita.consensus.lwea", "def f():\n    import numba"),
        ("partita._kernels.rows", "from numba import njit"),
        ("partita.metrics", "from sklearn.utils._param_validation import Interval"),
        ("partita.metrics", "from sklearn.base import _fit_context"),
    ],
)
def test_the_reader_sees_a_breach(module: str, source: str) -> None:
    assert len(violations(source, module)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("partita.ensemble", "from partita import _kernels"),
        ("partita.consensus.lwea", "from partita.consensus.base import BaseConsensus"),
        ("partita.consensus.lwea", "from partita.consensus._linkage import linkage_solution"),
        ("partita.consensus.lwea", "from partita.matrices import coassociation"),
        ("partita._kernels._compiled._jit", "import numba"),
        ("partita._kernels.rows", "from partita._kernels._compiled._jit import jit"),
        ("partita._sklearn_compat", "from sklearn.base import _fit_context"),
        ("partita.metrics", "from sklearn.metrics import adjusted_rand_score"),
        ("partita", "from partita.consensus import *"),
    ],
)
def test_the_reader_lets_the_rest_pass(module: str, source: str) -> None:
    assert violations(source, module) == []
