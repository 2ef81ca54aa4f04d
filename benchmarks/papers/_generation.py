"""Seconds of base partitions, which records of fits do not contain.

A few base partitions of every recipe that has fits left are timed once. The file has no name of a
machine; the seconds are those of a processor, so that other work of the machine does not count.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import numpy as np

from benchmarks.papers._ensembles import generated, read_clipped, some_rows
from benchmarks.papers._records import FOLDER
from benchmarks.papers._tables import Task, recipe_id
from partita.config import config_context
from partita.exceptions import InvalidFileError

PATH = FOLDER / "partitions.json"
SAMPLE = 3  # base partitions that are timed
SLOW = "spectral_bandwidths"  # n^3: timed up to LARGEST samples, all bandwidths at once
LARGEST = 3000
EXPONENTS = {SLOW: 3.0}  # of n, to extrapolate; 1 for the others


@cache
def timed() -> list[dict[str, Any]]:
    """Return the timed recipes, each with the seconds of one base partition."""
    return json.loads(PATH.read_text(encoding="utf-8")) if PATH.exists() else []


def ensemble_seconds(task: Task, n_samples: int) -> float:
    """Return the expected seconds to make the ensemble of a task; 0 if it reads a file."""
    settings = json.loads(task.recipe)
    if settings["kind"] != "generator" or task.key.startswith("features."):
        return 0.0
    alike = [entry for entry in timed() if entry["generator"] == settings["generator"]]
    for entry in alike:
        if (entry["data"], entry["recipe"]) == (task.data, recipe_id(task.recipe)):
            return entry["seconds"] * entry["n_partitions"]
    if not alike:
        return 0.0
    exponent = EXPONENTS.get(settings["generator"], 1.0)
    n_samples = settings.get("rows", n_samples)
    rates = [entry["seconds"] / entry["n_samples"] ** exponent for entry in alike]
    n_partitions = settings.get("n_partitions", alike[0]["n_partitions"])
    return float(np.exp(np.mean(np.log(rates)))) * n_samples**exponent * n_partitions


def time_partitions(tasks: Iterable[Task]) -> Iterator[str]:
    """Time a few base partitions of every recipe without seconds; yield a line for each."""
    known = {(entry["data"], entry["recipe"]) for entry in timed()}
    asked = dict.fromkeys((t.data, t.recipe) for t in tasks if not t.key.startswith("features."))
    for data, recipe in asked:
        settings = json.loads(recipe)
        if settings["kind"] != "generator" or (data, recipe_id(recipe)) in known:
            continue
        try:
            entry = time_recipe(data, settings)
        except (FileNotFoundError, InvalidFileError) as error:
            yield f"{data} is left out. {error}"
            continue
        if entry is None:
            yield f"{data}, {settings['generator']}: too large, extrapolated."
            continue
        entries = [*timed(), {**entry, "recipe": recipe_id(recipe)}]
        entries.sort(key=lambda one: (one["generator"], one["n_samples"], one["recipe"]))
        lines = ",\n".join(json.dumps(one) for one in entries)
        PATH.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
        timed.cache_clear()
        yield f"{data}, {entry['generator']}: {entry['seconds']:.3g} s for one base partition"


def time_recipe(data: str, settings: dict[str, Any]) -> dict[str, Any] | None:
    """Return the processor seconds of one base partition, or None if that takes too long."""
    part = some_rows(read_clipped(data, settings), settings, 0)
    if settings["generator"] == SLOW and part.n_samples > LARGEST:
        return None
    sample = settings | {"n_partitions": SAMPLE} if "n_partitions" in settings else settings
    with config_context(n_threads=1):
        clock = time.process_time()
        n_timed = generated(part, sample, 0).shape[1]
        seconds = (time.process_time() - clock) / n_timed
    return {
        "generator": settings["generator"],
        "data": data,
        "n_samples": part.n_samples,
        "n_partitions": settings.get("n_partitions", n_timed),
        "seconds": float(f"{seconds:.3g}"),
    }
