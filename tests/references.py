"""Load the reference files of the methods. `reference/README.md` documents their format."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import Ensemble, matrices

FOLDER = Path(__file__).parent / "reference"
SOURCES = ("authors' program", "paper", "independent calculation")
MISSING = "."

# What is compared of a vector or a matrix.
REDUCTIONS = {
    "none": lambda values: values,
    "sorted": lambda values: np.sort(values, axis=None),
    "row_sums": lambda matrix: matrix.sum(axis=1),
    "column_sums": lambda matrix: matrix.sum(axis=0),
    "diagonal": lambda matrix: matrix.diagonal(),
    "first_column": lambda matrix: matrix[:, 0],
    "sum_of_squares": lambda matrix: np.square(matrix).sum(),
    "gram_row_sums": lambda vectors: vectors @ vectors.sum(axis=0),
}


@dataclass(frozen=True)
class Case:
    """One fit: the input, the parameters, and what must come out."""

    partitions: NDArray[np.int64]
    y: NDArray[np.int64]
    parameters: Mapping[str, Any]
    expected: tuple[Mapping[str, Any], ...]
    intermediate: Mapping[str, Any]
    name: str


def decode(columns: list[str]) -> NDArray[np.int64]:
    """Return labels of shape (n_samples, n_partitions) from one string per partition."""
    return np.array([[-1 if c == MISSING else int(c, 36) for c in column] for column in columns]).T


def encode(labels: NDArray[np.int64]) -> str:
    """Return one character per label, numbered from 0."""
    return "".join(MISSING if k < 0 else np.base_repr(k, 36).lower() for k in labels)


def load_partitions(name: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return a stored ensemble and its true classes."""
    stored = json.loads((FOLDER / "partitions" / f"{name}.json").read_text(encoding="utf-8"))
    return decode(stored["partitions"]), decode([stored["y"]])[:, 0]


def load_file(key: str) -> dict[str, Any]:
    """Return the reference file of a method as it is stored."""
    stored: dict[str, Any] = json.loads((FOLDER / f"{key}.json").read_text(encoding="utf-8"))
    return stored


def load_cases(key: str) -> list[Case]:
    """Return the cases of a method."""
    cases = []
    for stored in load_file(key)["cases"]:
        partitions, y = load_partitions(stored["partitions"])
        parameters = stored["parameters"]
        shown = ", ".join(f"{k}={v}" for k, v in parameters.items() if k != "n_clusters")
        name = f"{key}-{stored['partitions']}" + (f"-{shown}" if shown else "")
        expected, intermediate = tuple(stored["expected"]), stored.get("intermediate", {})
        cases.append(Case(partitions, y, parameters, expected, intermediate, name))
    return cases


def compute(method: Any, case: Case, entry: Mapping[str, Any]) -> Any:
    """Return the quantity that an entry of `expected` names, from a fitted method."""
    quantity = entry["quantity"]
    if quantity == "labels":
        return method.labels_
    if quantity == "cluster_sizes":
        return np.sort(np.bincount(method.labels_))
    if quantity == "consensus_matrix":
        values = method.consensus_matrix()
    elif quantity.endswith("_"):
        values = getattr(method, quantity)
    else:
        function = getattr(matrices, quantity)
        values = function(Ensemble.from_partitions(case.partitions), **entry.get("options", {}))
    return select(values, entry)


def select(values: Any, entry: Mapping[str, Any]) -> Any:
    """Apply the reduction of an entry and take every n-th value, or those at some indices."""
    values = REDUCTIONS[entry.get("reduction", "none")](values)
    if "index" in entry:
        values = np.asarray(values)[entry["index"]]
    return values[:: entry["every"]] if "every" in entry else values
