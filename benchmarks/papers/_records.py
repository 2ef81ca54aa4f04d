"""Records of fits, one JSON line each, in `records/<paper>.jsonl`.

A record has the scores of one fit, the seed, and a reference to the versions and the kind of
machine it was made with. It has no name of a machine and no path. A line is written when the fit
ends, so a run that is stopped continues where it was.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.json_lines import Record, append, read, write
from benchmarks.papers._tables import HERE, Task, canonical, recipe_id

FOLDER = HERE / "records"
Cell = tuple[Any, ...]
Draw = tuple[str, str, int]  # data, id of the recipe, number of the draw


class OtherPartitionsError(ValueError):
    """A fit had other partitions than the records of the same draw."""


class Records:
    """The records of one paper, by cell."""

    def __init__(self, paper: str, folder: Path = FOLDER) -> None:
        self.path = folder / f"{paper}.jsonl"
        self.by_cell: dict[Cell, Record] = {}
        self.about: dict[str, Record] = {}  # recipes and versions, by their ids
        self._ensembles: dict[Draw, str] = {}  # contents, which all methods of a draw must share
        for record in read(self.path):
            if "id" in record:
                self.about[record["id"]] = record
            else:
                self.by_cell[cell_of(record)] = record
                self._note_ensemble(record)

    def get(self, task: Task) -> Record | None:
        return self.by_cell.get(task.cell)

    def add(self, task: Task, result: dict[str, Any]) -> None:
        """Append the record of a fit, and what it refers to if that is new.

        Partitions can depend on the machine, by the last bits of a decomposition. A record with
        others than those of the draw is refused: its method could not be compared.
        """
        made_with = versions()
        recipe = {"id": recipe_id(task.recipe), "recipe": json.loads(task.recipe)}
        record = {
            "data": task.data,
            "recipe": recipe["id"],
            "draw": task.draw,
            "method": task.key,
            "parameters": json.loads(task.parameters),
            "seed": task.seed,
            **result,
            "versions": made_with["id"],
        }
        self._note_ensemble(record)
        new = [about for about in (recipe, made_with) if about["id"] not in self.about]
        self.about |= {about["id"]: about for about in new}
        self.by_cell[task.cell] = record
        self.path.parent.mkdir(exist_ok=True)
        append(self.path, [*new, record])

    def prune(self, tasks: Iterable[Task]) -> int:
        """Delete the records of other fits, and what only they refer to; return how many."""
        asked = {task.cell for task in tasks}
        kept = {cell: record for cell, record in self.by_cell.items() if cell in asked}
        used = {record[name] for record in kept.values() for name in ("recipe", "versions")}
        n_deleted = len(self.by_cell) - len(kept)
        if n_deleted:
            write(
                self.path,
                [
                    record
                    for record in read(self.path)
                    if (record["id"] in used if "id" in record else cell_of(record) in kept)
                ],
            )
            self.by_cell, self.about = kept, {i: a for i, a in self.about.items() if i in used}
        return n_deleted

    def _note_ensemble(self, record: Record) -> None:
        draw, content = draw_of(record), record["ensemble"]
        if content in ("features", "not recorded"):
            return
        if self._ensembles.setdefault(draw, content) != content:
            raise OtherPartitionsError(
                f"Draw {draw[2]} of {draw[0]} has other partitions here than in the records."
            )


def draw_of(record: Record) -> Draw:
    return record["data"], record["recipe"], record["draw"]


def cell_of(record: Record) -> Cell:
    names = ("data", "recipe", "draw", "method")
    return (*(record[n] for n in names), canonical(record["parameters"]), record["seed"])


def versions() -> Record:
    """Return the versions and the kind of machine that results depend on, with an id."""
    packages = ("partita", "numpy", "scipy", "scikit-learn", "numba")
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    content = {"python": platform.python_version(), "machine": machine}
    content |= {name: version(name) for name in packages}
    return {"id": sha256(canonical(content).encode()).hexdigest()[:8], "versions": content}


def missing(tasks: Iterable[Task], records: dict[str, Records]) -> list[Task]:
    """Return the tasks without a record, each once."""
    return [task for task in dict.fromkeys(tasks) if records[task.paper].get(task) is None]
