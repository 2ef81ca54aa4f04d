"""The public interface: its snapshot, its size, and one word per idea in all of it."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import partita
from partita import generators
from partita.registry import all_methods
from public_api import difference, members, snapshot
from public_names import documented, exported, signature
from us_spelling import british_words

# Whole names of parameters, and the name to use (docs/style.md).
NAMES = {
    "assign": "assign_labels",
    "base_clusters": "n_base_clusters",
    "clusterer": "method",
    "consensus": "method or labels",
    "ensemble": "partitions",
    "final": "assign_labels",
    "iterations": "max_iter or n_iter",
    "key_column": "id_column",
    "keys": "columns",
    "labels_true": "y",
    "n_iterations": "n_iter or max_iter",
    "na_values": "missing_values",
    "seed": "random_state",
    "truth": "y",
    "y_pred": "labels",
    "y_true": "y",
}
# Words inside names, and the word to use.
WORDS = {
    "clusterings": "partitions",
    "member": "partition",
    "members": "partitions",
    "run": "partition or restart",
    "runs": "partitions or restarts",
    "truth": "y",
    "found": "a noun",
    "given": "a noun",
    "known": "a noun",
    "wanted": "n_requested, or a noun",
    "told": "a noun",
}
# Options that no function has as a parameter. `docs/style.md` lists the first two.
ONLY_OPTIONS = {
    "seed",
    "truth_column",
    "compare",
    "drop_missing",
    "feature_columns",
    "features",
    "impute",
    "json",
    "labels_column",
    "no_header",
    "output",
    "quiet",
    "report",
}
# Modules for people who write methods and solvers; their names follow the papers.
FOR_AUTHORS = ("partita.scale.", "partita.solvers.")


def parameters() -> Iterator[tuple[str, str]]:
    """Yield (`partita.fuse.partitions`, `partitions`) for every parameter of a public name."""
    for name, content in documented():
        found = signature(content)
        for parameter in found.parameters if found else ():
            if not parameter.startswith("_"):
                yield f"{name}.{parameter}", parameter


def attributes() -> Iterator[tuple[str, str]]:
    """Yield every public method, property and field of a public class."""
    for name, content in exported():
        if inspect.isclass(content):
            for line in members(content):
                member = re.match(r"\s*\.(\w+)", line)
                assert member is not None
                yield f"{name}.{member[1]}", member[1]


def options() -> Iterator[tuple[str, str]]:
    """Yield the names of the options of the command line, written as in Python."""
    command = ""
    for line in snapshot().splitlines():
        if line.startswith("$"):
            command = line
        elif command:
            for option in re.findall(r"--([\w-]+)", line):
                yield f"{command} --{option}", option.replace("-", "_")


EVERYTHING = [
    (where, name)
    for where, name in (
        *((name, name.rpartition(".")[2]) for name, _ in exported()),
        *parameters(),
        *attributes(),
    )
    if not where.startswith(FOR_AUTHORS)
]


def test_snapshot_is_fresh() -> None:
    changed = difference()
    assert not changed, (
        "The public interface changed. If that is intended, run `python tests/public_api.py`.\n"
        + changed
    )


def test_public_surface_is_one_page() -> None:
    methods = {method.__name__ for method in all_methods()}
    makers = {name for name in generators.__all__ if inspect.isclass(getattr(generators, name))}
    assert methods <= set(partita.__all__)
    others = set(partita.__all__) - methods - makers
    assert len(others) <= 40, sorted(others)


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(Path(partita.__file__).read_text(encoding="utf-8"))
    imported = {
        alias.name: (node.module or "").removeprefix("partita.")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("partita.")
        for alias in node.names
    }
    assert imported == partita._PUBLIC


def test_verb_is_never_a_module() -> None:
    assert {name for name in partita.__all__ if name in partita._MODULES} == set()


def test_parameters_are_the_words_of_the_glossary() -> None:
    wrong = {
        where: NAMES[name]
        for where, name in parameters()
        if name in NAMES and not where.startswith(FOR_AUTHORS)
    }
    assert wrong == {}


def test_options_are_the_parameters_of_the_functions() -> None:
    """An option has the name of a parameter, without `n_`."""
    names = {name.removeprefix("n_") for _, name in parameters()} | ONLY_OPTIONS
    assert [where for where, name in options() if name not in names] == []


def test_words_inside_names_are_those_of_the_glossary() -> None:
    wrong = {
        where: WORDS[word]
        for where, name in EVERYTHING
        for word in name.lower().split("_")
        if word in WORDS and not name.startswith("run_")  # a verb there
    }
    assert wrong == {}


def test_names_have_us_spelling() -> None:
    assert [where for where, name in [*EVERYTHING, *options()] if british_words(name)] == []


def test_partitions_are_the_first_argument() -> None:
    """Of functions; a result lists its fields in the order in which it is read."""
    functions = {name: content for name, content in documented() if inspect.isroutine(content)}
    late = {name for name, content in functions.items() if positions(content).get("partitions", 0)}
    # `subset` selects samples, then partitions; `from_estimator` is scikit-learn's (estimator, X).
    allowed = {"partita.Ensemble.subset"} | {n for n in late if n.endswith(".from_estimator")}
    assert late - allowed == set()


def positions(content: Any) -> dict[str, int]:
    found = signature(content)
    names = [p for p in (found.parameters if found else ()) if p not in ("self", "cls")]
    return {name: index for index, name in enumerate(names)}


@pytest.mark.parametrize(
    "content", [pytest.param(content, id=name) for name, content in sorted(documented())]
)
def test_partitions_come_before_labels(content: Any) -> None:
    """The order is (partitions, labels, ..., y), and metrics take (y, labels)."""
    place = positions(content)
    if "partitions" in place and "labels" in place:
        assert place["partitions"] < place["labels"]
    if "y" in place and "labels" in place and "partitions" not in place:
        assert place["y"] < place["labels"]
