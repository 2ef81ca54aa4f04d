"""Values of a figure: a series of points for every data set, method and measure."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.papers._records import Records
from benchmarks.papers._tables import Table
from benchmarks.papers._verdicts import cells

Key = tuple[str, str, str]  # data set, method, measure


@dataclass(frozen=True)
class Point:
    """A point of a series: its place on the axes, and one value per draw."""

    at: tuple[Any, ...]
    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        return float(np.mean(self.values))

    @property
    def error(self) -> float:
        """Return the standard error of the mean, 0 for a single draw."""
        n = len(self.values)
        return float(np.std(self.values, ddof=1) / np.sqrt(n)) if n > 1 else 0.0


def series(table: Table, records: Records) -> dict[Key, list[Point]]:
    """Return what has a record, in the order of the table."""
    if table.kind == "curves":
        return curves(table, records)
    by_key: dict[Key, list[Point]] = {}
    for values, point in table.points():
        at = tuple(map(named, (table.axis("x"), table.axis("y")), values))
        for cell in cells(point, records):
            key = cell.data, cell.method.name, cell.measure
            by_key.setdefault(key, []).append(Point(at, cell.values))
    names = dict.fromkeys(method.name for method in table.methods)
    keys = itertools.product(table.data, names, table.measures)
    return {key: by_key[key] for key in keys if key in by_key}


def named(axis: dict[str, Any], value: Any) -> Any:
    """Return the label of a value on an axis, or the value if it has none."""
    if "labels" not in axis:
        return value
    return axis["labels"][axis["values"].index(value)]


def curves(table: Table, records: Records) -> dict[Key, list[Point]]:
    """Return columns of the record of the first draw."""
    by_key = {}
    for data, method in itertools.product(table.data, table.methods):
        fits = table.fits(data, method, method.grid[0])
        record = records.get(fits[0]) if fits else None
        if record is None:
            continue
        for measure, column in table.measures.items():
            pairs = zip(record[table.axis("x")["column"]], record[column], strict=True)
            by_key[data, method.name, measure] = [Point((x,), (y,)) for x, y in pairs]
    return by_key
