"""Expected seconds of fits and ensembles, from records of the same method or generator."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from importlib import resources

import numpy as np

from benchmarks.papers._baselines import BASELINES
from benchmarks.papers._generation import ensemble_seconds
from benchmarks.papers._records import Records
from benchmarks.papers._rules import RULES
from benchmarks.papers._tables import Task

SECONDS_PER_PAIR = 1e-6  # of a method without records
SECONDS_PER_LABEL = 1.5e-6  # of the scores of a partition
SMALL = 3000  # samples: every method is run on data sets up to this size before larger ones
EXPONENT = 2.0  # of n, where the records have fewer than three sizes
EXPONENTS = (1.0, 3.0)  # smallest and largest exponent that is believed


class Expectation:
    """Seconds of a fit by method and number of samples.

    The seconds of a method are c nᵖ; p is fitted to the medians of three sizes or more.
    """

    def __init__(self, records: Iterable[Records]) -> None:
        self.sizes = sizes()
        seconds: dict[str, dict[str, list[float]]] = {}
        for some in records:
            for record in some.by_cell.values():
                some_rows = "rows" in some.about[record["recipe"]]["recipe"]
                if "seconds" in record and record["data"] in self.sizes and not some_rows:
                    by_data = seconds.setdefault(method_of(record["method"]), {})
                    spent = record.get("cpu_seconds", record["seconds"])
                    by_data.setdefault(record["data"], []).append(spent)
        self.medians = {
            method: {data: float(np.median(values)) for data, values in by_data.items()}
            for method, by_data in seconds.items()
        }
        self._expected: dict[tuple[str, str, str], float] = {}

    def seconds(self, task: Task) -> float:
        """Return the expected seconds of one fit, which draws and parameters do not change."""
        asked = task.key, task.data, task.recipe
        if asked not in self._expected:
            self._expected[asked] = self._seconds(*asked)
        return self._expected[asked]

    def ensemble_seconds(self, task: Task) -> float:
        """Return the expected seconds to make the base partitions of a task."""
        return ensemble_seconds(task, self.sizes.get(task.data, 1000))

    def _seconds(self, key: str, data: str, recipe: str) -> float:
        medians = self.medians.get(method_of(key), {})
        settings = json.loads(recipe)
        rows = settings.get("rows")
        if data in medians and rows is None:
            return medians[data]
        n = self.sizes.get(data, 1000) if rows is None else rows
        if key in ("base mean", "base best"):  # scores of partitions, no fit
            return SECONDS_PER_LABEL * n * settings.get("n_partitions", 1)
        if not medians:
            return SECONDS_PER_PAIR * n**2
        logs = np.log([self.sizes[known] for known in medians])
        times = np.log(np.maximum(list(medians.values()), 1e-4))
        exponent = EXPONENT
        if len(set(logs)) >= 3:
            exponent = float(np.clip(np.polyfit(logs, times, 1)[0], *EXPONENTS))
        return float(np.exp(np.mean(times - exponent * logs) + exponent * np.log(n)))


def method_of(key: str) -> str:
    """Return the method of a key such as "matrix.sec".

    What reads features keeps its prefix, and so do rules, which fit more than once, and baselines.
    """
    whole = key in RULES or key in BASELINES or key.startswith("views.")
    return key if whole else key.rpartition(".")[2]


def hours(tasks: Iterable[Task], expectation: Expectation) -> float:
    """Return the expected hours of tasks and of the base partitions that they need."""
    tasks = list(tasks)
    ensembles = {ensemble_of(task): task for task in tasks}.values()
    seconds = sum(expectation.seconds(task) for task in tasks)
    return (seconds + sum(expectation.ensemble_seconds(task) for task in ensembles)) / 3600


def ensemble_of(task: Task) -> tuple[str, str, int, bool]:
    """Return what tells the ensemble of a task; methods that read features need none."""
    return task.data, task.recipe, task.draw, task.key.startswith("features.")


def by_size(tasks: Iterable[Task], expectation: Expectation) -> dict[str, list[Task]]:
    """Return tasks on data sets of at most `SMALL` samples and those on larger ones, by a title."""
    tasks = list(tasks)
    small = {task for task in tasks if expectation.sizes.get(task.data, 0) <= SMALL}
    return {
        f"up to {SMALL} samples": [task for task in tasks if task in small],
        "more samples": [task for task in tasks if task not in small],
    }


@cache
def sizes() -> dict[str, int]:
    """Return the number of samples by the names that tables use."""
    text = resources.files("partita.datasets").joinpath("sets.json").read_text(encoding="utf-8")
    numbers = {name: facts["n_samples"] for name, facts in json.loads(text).items()}
    numbers |= {n.removeprefix("pool_"): k for n, k in numbers.items() if n.startswith("pool_")}
    return numbers | {n.removesuffix("_mv"): k for n, k in numbers.items() if n.endswith("_mv")}
