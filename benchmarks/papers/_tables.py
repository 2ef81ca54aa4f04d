"""Tables and figures of the papers, read from the TOML and CSV files of this folder."""

from __future__ import annotations

import itertools
import json
import tomllib
from dataclasses import dataclass, field
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchmarks.papers._printed import Printed, read_printed

HERE = Path(__file__).parent
TABLES = HERE / "tables"
EACH_MEASURE = "each measure"


@dataclass(frozen=True)
class Method:
    """A line of a table: a method with fixed parameters, or with a grid of them.

    `tuned` is empty for fixed parameters, "set" if the best of the grid is chosen on the truth per
    data set, and "draw" if it is chosen per data set and draw. `data` names the data sets of the
    line; empty for all of the table. A line without `has_rank` is compared with the print, but
    another line takes its place in the order of methods. `draws` and `ensembles` are those of the
    line if they are not those of the table. A `constant` line of a figure is the same at every
    point.
    """

    name: str
    key: str
    grid: tuple[dict[str, Any], ...] = ({},)
    tuned: str = ""
    seed: int = 0
    absent: str = ""
    printed_as: str = ""
    data: tuple[str, ...] = ()
    has_rank: bool = True
    draws: int = 0
    printed_draws: int = 0
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
    def tuned_prints(self) -> set[str]:
        """Return the printed lines whose parameters the paper chose on the truth, as ours do."""
        tuned = {method.printed_as for method in self.methods if method.tuned}
        return tuned | set(self.content.get("tuned_prints", ()))

    def deciding_measure(self, measure: str) -> str:
        """Return the measure that chooses the tuned parameters of a measure.

        It is the first one of the table, or each measure its own if `chosen_by` says so.
        """
        each = self.content.get("chosen_by") == EACH_MEASURE
        return measure if each else next(iter(self.measures))

    @cached_property
    def printed(self) -> dict[tuple[str, str, str], Printed]:
        """Return the printed values by data set, method and measure."""
        return read_printed(self.content.get("printed", self.key))

    def recipe(self, data: str, change: dict[str, Any] | None = None) -> str:
        """Return the recipe of the ensembles of a data set, as JSON.

        An override or a change that has a kind is a whole recipe.
        """
        recipe = {k: v for k, v in self.content["ensembles"].items() if k != "override"}
        override = self.content["ensembles"].get("override", {}).get(data, {})
        for part in (override, change or {}):
            recipe = part if "kind" in part else recipe | part
        return canonical(recipe)

    def draws_of(self, method: Method, data: str) -> int:
        """Return how many draws a line has here: fewer where `fewer_draws` names the data set."""
        draws = method.draws or self.draws
        return min(draws, self.content.get("fewer_draws", {}).get(data, draws))

    def printed_draws_of(self, method: Method) -> int:
        """Return how many draws the printed values of a line have."""
        return method.printed_draws or self.content["printed_draws"]

    def limited(self, *, quick: bool, data: list[str] | None, draws: int | None) -> Table:
        """Return the table with fewer data sets or draws; a quick one has no tuned lines."""
        content = dict(self.content)
        if quick:
            content |= content["quick"] | {"tuned_prints": sorted(self.tuned_prints)}
            content["methods"] = [
                entry
                for entry in content["methods"]
                if "tuned" not in entry and entry["name"] not in content.get("skip", [])
            ]
        if data:
            content["data"] = [name for name in content["data"] if name in data]
        if draws is not None:
            content["draws"] = min(draws, content["draws"])
            content["methods"] = [
                {"printed_draws": entry["draws"]} | entry | {"draws": min(draws, entry["draws"])}
                if "draws" in entry
                else entry
                for entry in content["methods"]
            ]
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
            for draw in range(self.draws_of(method, data))
        ]


def read_tables() -> dict[str, Table]:
    """Return all tables and figures by their keys: by paper, what it prints as tables first."""
    tables = [
        Table(path.stem, tomllib.loads(path.read_text(encoding="utf-8")))
        for path in TABLES.glob("*.toml")
    ]
    return {table.key: table for table in sorted(tables, key=place)}


def place(table: Table) -> tuple[str, int, str]:
    """Return the place of a table: the printed ones, those that no paper has, figures."""
    is_figure = table.kind != "table"
    return table.paper, 2 if is_figure else int("not in the paper" in table.title), table.key


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
        entry.get("has_rank", True),
        entry.get("draws", 0),
        entry.get("printed_draws", entry.get("draws", 0)),
        entry.get("constant", False),
        entry.get("ensembles", {}),
    )


def canonical(content: dict[str, Any]) -> str:
    """Return JSON that is equal for equal contents."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


@cache  # asked for every fit of a table, and tables have few recipes
def recipe_id(recipe: str) -> str:
    """Return the short name of a recipe in the records."""
    return sha256(recipe.encode()).hexdigest()[:8]
