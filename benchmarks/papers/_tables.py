"""Tables and figures of the papers, read from the TOML and CSV files of this folder."""

from __future__ import annotations

import csv
import itertools
import json
import tomllib
from dataclasses import dataclass, field
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TABLES = HERE / "tables"
PRINTED = HERE / "printed"


@dataclass(frozen=True)
class Printed:
    """A printed value. `digits` counts its decimals; `text` is set where no number is printed."""

    mean: float | None
    deviation: float | None
    digits: int
    text: str = ""

    def __str__(self) -> str:
        if self.mean is None:
            return self.text
        spread = "" if self.deviation is None else f" ± {self.deviation:.{self.digits}f}"
        return f"{self.mean:.{self.digits}f}{spread}"


@dataclass(frozen=True)
class Method:
    """A line of a table: a method with fixed parameters, or with a grid of them.

    `tuned` is empty for fixed parameters, "set" if the best of the grid is chosen on the truth per
    data set, and "draw" if it is chosen per data set and draw. `data` names the data sets of the
    line; empty for all of the table. A `constant` line of a figure is the same at every point, and
    `ensembles` is what its recipe has in place of that of the figure.
    """

    name: str
    key: str
    grid: tuple[dict[str, Any], ...] = ({},)
    tuned: str = ""
    seed: int = 0
    absent: str = ""
    printed_as: str = ""
    data: tuple[str, ...] = ()
    constant: bool = False
    ensembles: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Task:
    """One fit: what is fused or clustered, how, and which repetition."""

    paper: str
    data: str
    recipe: str  # JSON, so that tasks compare equal
    draw: int
    key: str
    parameters: str  # JSON
    seed: int

    @property
    def cell(self) -> tuple[Any, ...]:
        return self.data, recipe_id(self.recipe), self.draw, self.key, self.parameters, self.seed


@dataclass(frozen=True)
class Table:
    """One table or figure: data sets by methods, with the printed values."""

    key: str
    content: dict[str, Any]

    @property
    def paper(self) -> str:
        return self.content["paper"]

    @property
    def title(self) -> str:
        return self.content["title"]

    @property
    def data(self) -> list[str]:
        return self.content["data"]

    @property
    def missing(self) -> dict[str, str]:
        """Return the rows of the printed table that cannot be run, with the reason."""
        return self.content.get("missing", {})

    @property
    def draws(self) -> int:
        return self.content["draws"]

    @property
    def measures(self) -> dict[str, str]:
        """Return the name of each measure in the records, by the name in the table."""
        return self.content["measures"]

    @property
    def kind(self) -> str:
        """Return "table", or the kind of figure.

        "lines", "curves" (columns of one record), "heat map", "bars" (a group per data set) or
        "matrices".
        """
        return self.content.get("kind", "lines" if "x" in self.content else "table")

    @cached_property
    def methods(self) -> list[Method]:
        return [read_method(entry) for entry in self.content["methods"]]

    @cached_property
    def printed(self) -> dict[tuple[str, str, str], Printed]:
        """Return the printed values by data set, method and measure."""
        path = PRINTED / f"{self.content.get('printed', self.key)}.csv"
        if not path.exists():
            return {}
        with path.open(encoding="utf-8", newline="") as file:
            lines = csv.DictReader(line for line in file if not line.startswith("#"))
            return {
                (line["data"], line["method"], line["measure"]): read_printed(line)
                for line in lines
            }

    def recipe(self, data: str, change: dict[str, Any] | None = None) -> str:
        """Return the recipe of the ensembles of a data set, as JSON.

        An override of another kind stands alone: the settings of the table do not apply to it.
        """
        recipe = {k: v for k, v in self.content["ensembles"].items() if k != "override"}
        override = self.content["ensembles"].get("override", {}).get(data, {})
        own = override if "kind" in override else recipe | override
        return canonical(own | (change or {}))

    def limited(self, *, quick: bool, data: list[str] | None, draws: int | None) -> Table:
        """Return the table with fewer data sets or draws; a quick one has no tuned lines."""
        content = dict(self.content)
        if quick:
            content |= content["quick"]
            content["methods"] = [
                entry
                for entry in content["methods"]
                if "tuned" not in entry and entry["name"] not in content.get("skip", [])
            ]
        if data:
            content["data"] = [name for name in content["data"] if name in data]
        if draws is not None:
            content["draws"] = min(draws, content["draws"])
        return Table(self.key, content)

    def points(self) -> list[tuple[tuple[Any, ...], Table]]:
        """Return the points of a figure: the values on its axes, and the table of its fits there.

        A point has one value per axis that stands for a parameter. What has no such axis, a table
        for example, has a single point without values.
        """
        axes = [self.content[name] for name in ("x", "y") if "parameter" in self.axis(name)]
        points = []
        for values in itertools.product(*(axis["values"] for axis in axes)):
            changes: dict[str, dict[str, Any]] = {"ensembles": {}, "method": {}}
            for axis, value in zip(axes, values, strict=True):
                where, name = axis["parameter"].split(".")
                changes[where][name] = value
            points.append((values, Table(self.key, self.content | {"point": changes})))
        return points

    def axis(self, name: str) -> dict[str, Any]:
        """Return the description of the axis "x" or "y", empty if there is none."""
        return self.content.get(name, {})

    def tasks(self) -> list[Task]:
        """Return every fit of the table; equal fits of two tables are equal tasks."""
        return [
            task
            for data, method in itertools.product(self.data, self.methods)
            for _, point in self.points()
            for parameters in method.grid
            for task in point.fits(data, method, parameters)
        ]

    def fits(self, data: str, method: Method, parameters: dict[str, Any]) -> list[Task]:
        """Return the fits of one cell, one per draw. In a point of a figure, those of the point."""
        if method.absent or (method.data and data not in method.data):
            return []
        point = {} if method.constant else self.content.get("point", {})
        recipe = self.recipe(data, point.get("ensembles", {}) | method.ensembles)
        settings = canonical(parameters | point.get("method", {}))
        return [
            Task(self.paper, data, recipe, draw, method.key, settings, method.seed)
            for draw in range(self.draws)
        ]


def read_tables() -> dict[str, Table]:
    """Return all tables and figures by their keys."""
    return {
        path.stem: Table(path.stem, tomllib.loads(path.read_text(encoding="utf-8")))
        for path in sorted(TABLES.glob("*.toml"))
    }


def read_method(entry: dict[str, Any]) -> Method:
    """Return a method; a grid has every combination of its values."""
    fixed, grid = entry.get("parameters", {}), entry.get("grid", {})
    combinations = tuple(
        fixed | dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())
    )
    return Method(
        entry["name"],
        entry.get("method", ""),
        combinations,
        entry.get("tuned", ""),
        entry.get("seed", 0),
        entry.get("absent", ""),
        entry.get("printed_as", entry["name"]),
        tuple(entry.get("data", ())),
        entry.get("constant", False),
        entry.get("ensembles", {}),
    )


def read_printed(line: dict[str, str]) -> Printed:
    """Return a printed value; what is no number, such as N/A, is kept as text."""
    mean, deviation = line["mean"], line["deviation"]
    try:
        value = float(mean)
    except ValueError:
        return Printed(None, None, 0, mean)
    digits = len(mean.partition(".")[2])
    return Printed(value, float(deviation) if deviation else None, digits)


def canonical(content: dict[str, Any]) -> str:
    """Return JSON that is equal for equal contents."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


@cache  # asked for every fit of a table, and tables have few recipes
def recipe_id(recipe: str) -> str:
    """Return the short name of a recipe in the records."""
    return sha256(recipe.encode()).hexdigest()[:8]
